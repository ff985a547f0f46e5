"""The reference evaluator of filters, under each answer that a store can declare."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Combine, Compare, Filter, Record
from memory_matrix.suite.filters import matches, operators
from support.tables import table

DEFAULT = Policy()
AS_SQL = Policy(ne_matches_missing=False)
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.timezone.utc)


def record(**metadata: Any) -> Record:
    return Record("r", metadata=metadata, created_at=NOON)


def no(inner: Filter) -> Combine:
    return Combine("not", (inner,))


@table(
    ("found", "op", "value", "expected"),
    [
        (1, "eq", 1.0, True),
        (1, "eq", True, False),
        (1, "eq", "1", False),
        (None, "eq", None, True),
        ("x", "ne", "y", True),
        (5, "gt", 4.5, True),
        ("5", "gt", 4, False),
        (True, "gt", 0, False),
        ("b", "lt", "c", True),
        ("a", "in", [], False),
        ("a", "nin", [], True),
        (1, "in", [1.0], True),
        (["a", "b"], "contains-any", ["z", "b"], True),
        (["a", "b"], "contains-all", ["a", "z"], False),
        ("ab", "contains-any", ["a"], False),
        (["ab"], "contains-any", ["a"], False),
    ],
)
def test_values_are_compared_by_kind(found: Any, op: Any, value: Any, expected: bool) -> None:
    assert matches(Compare(op, "key", value), record(key=found), DEFAULT) is expected


@table(
    ("wanted", "by_default", "as_sql"),
    [
        (Compare("eq", "key", "x"), False, False),
        (Compare("ne", "key", "x"), True, False),
        (Compare("nin", "key", ["x"]), True, False),
        (no(Compare("eq", "key", "x")), True, False),
        (no(Compare("ne", "key", "x")), False, False),
        (Combine("or", (Compare("eq", "key", "x"), Compare("eq", "there", 1))), True, True),
        (no(Combine("and", (Compare("eq", "key", "x"), Compare("eq", "there", 2)))), True, True),
        (Compare("exists", "key", False), True, True),
        (Compare("exists", "key", True), False, False),
    ],
)
def test_a_missing_key_is_as_declared(wanted: Filter, by_default: bool, as_sql: bool) -> None:
    found = [matches(wanted, record(there=1), policy) for policy in (DEFAULT, AS_SQL)]

    assert found == [by_default, as_sql]


def test_a_key_of_none_is_missing_where_that_is_declared() -> None:
    exists = Compare("exists", "key", True)
    policies = (DEFAULT, Policy(null_exists=False))

    assert [matches(exists, record(key=None), each) for each in policies] == [True, False]


@table("op", ["gte", "lte"])
@table(("declared", "expected"), [("inclusive", True), ("exclusive", False)])
def test_a_border_is_as_declared(op: Any, declared: Any, expected: bool) -> None:
    there = NOON.astimezone(dt.timezone(dt.timedelta(hours=5, minutes=30)))

    found = matches(
        Compare(op, "created_at", there, own=True), record(), Policy(time_filter=declared)
    )

    assert found is expected


def test_operators_are_found_at_every_depth() -> None:
    wanted = no(Combine("or", (Compare("eq", "a", 1), Compare("nin", "b", []))))

    assert operators(wanted) == {"not", "or", "eq", "nin"}
