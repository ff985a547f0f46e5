"""Filters become SQL in which values are only ever parameters."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.postgres.filters import Condition
from memory_matrix.stores.protocol import Combine, Compare, Filter
from support.tables import table

HOSTILE = "'); DROP TABLE memory_records; -- %s %(a)s {0}"


def nested(depth: int) -> Filter:
    found: Filter = Compare("eq", "a", 1)
    for _ in range(depth):
        found = Combine("not", (found,))
    return found


@table(
    "filter_",
    [
        Compare("eq", HOSTILE, HOSTILE),
        Compare("ne", HOSTILE, HOSTILE),
        Compare("lt", HOSTILE, HOSTILE),
        Compare("in", HOSTILE, [HOSTILE]),
        Compare("exists", HOSTILE, True),
        Compare("contains-all", HOSTILE, [HOSTILE]),
        Compare("eq", "id", HOSTILE, own=True),
        Compare("nin", "text", [HOSTILE], own=True),
    ],
)
def test_values_and_keys_are_parameters(filter_: Filter) -> None:
    condition = Condition(filter_)
    assert "DROP" not in condition.sql
    assert set(re.findall(r"%\((\w+)\)s", condition.sql)) == set(condition.parameters)


@table(
    "filter_",
    [
        Compare("like", "a", "b"),  # type: ignore[arg-type]
        Compare("in", "a", "text"),
        Compare("in", "a", None),
        Compare("contains-any", "a", 1),
        Compare("lt", "a", True),
        Compare("lt", "a", None),
        Compare("gte", "a", [1]),
        Compare("exists", "a", "yes"),
        Compare("eq", "a", float("nan")),
        Compare("eq", "a", (1, 2)),
        Compare("eq", "a\0", 1),
        Compare("eq", 7, 1),  # type: ignore[arg-type]
        Compare("eq", "session_id", "a", own=True),
        Compare("contains-any", "text", ["a"], own=True),
        Compare("gte", "created_at", dt.datetime(2026, 1, 1), own=True),  # noqa: DTZ001
        Compare("gte", "created_at", "2026-01-01", own=True),
        Combine("not", ()),
        Combine("not", (Compare("eq", "a", 1), Compare("eq", "b", 1))),
        Combine("xor", (Compare("eq", "a", 1),)),  # type: ignore[arg-type]
        {"a": 1},
        nested(1000),
    ],
)
def test_what_no_filter_means_is_refused(filter_: Any) -> None:
    with pytest.raises(RefusedError):
        Condition(filter_)


def test_no_filter_lets_everything_through() -> None:
    assert Condition(None).sql == "true"
    assert Condition(Combine("and", ())).sql == "(true)"
    assert Condition(Combine("or", ())).sql == "(false)"
