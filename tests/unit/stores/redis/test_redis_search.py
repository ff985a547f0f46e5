"""Filters and scores, on plain records."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

from memory_matrix.stores import Combine, Compare, Record
from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.policy import FILTER_OPERATORS
from memory_matrix.stores.redis.filters import compiled
from memory_matrix.stores.redis.scoring import scorer
from support.tables import table

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone.utc)
RECORD = Record(
    "r",
    "text",
    metadata={"n": 2, "f": 2.0, "s": "b", "t": True, "z": None, "l": [1, "x", None], "d": {"k": 1}},
    created_at=NOON,
)
YES = [
    *[
        ("eq", "n", 2),
        ("eq", "n", 2.0),
        ("eq", "t", True),
        ("eq", "z", None),
        ("eq", "d", {"k": 1}),
    ],
    *[("ne", "n", 3), ("ne", "n", "2"), ("ne", "gone", 1), ("ne", "t", 1), ("ne", "n", True)],
    *[("lt", "n", 2.5), ("lte", "n", 2), ("gt", "s", "a"), ("gte", "f", 2)],
    *[("in", "n", [1, 2]), ("in", "z", [None]), ("nin", "n", []), ("nin", "gone", [1])],
    *[("exists", "z", True), ("exists", "gone", False)],
    *[
        ("contains-any", "l", ["x", "y"]),
        ("contains-all", "l", ["x", 1]),
        ("contains-all", "l", []),
    ],
]
NO = [
    *[("eq", "n", "2"), ("eq", "t", 1), ("eq", "gone", None), ("eq", "l", (1, "x", None))],
    *[("ne", "n", 2.0), ("ne", "z", None), ("lt", "n", "3"), ("lt", "s", 3), ("lt", "z", 3)],
    *[("gt", "t", 0), ("gte", "gone", 0), ("lt", "l", [2])],
    *[("in", "n", []), ("in", "t", [1]), ("in", "gone", [None]), ("nin", "n", [2])],
    *[("exists", "gone", True), ("exists", "z", False)],
    *[("contains-any", "l", []), ("contains-any", "l", [True]), ("contains-any", "s", ["b"])],
    *[("contains-all", "gone", []), ("contains-all", "l", [1, 2])],
]


@table("case", YES)
def test_a_record_that_matches(case: Any) -> None:
    assert compiled(Compare(*case))(RECORD)


@table("case", NO)
def test_a_record_that_does_not_match(case: Any) -> None:
    assert not compiled(Compare(*case))(RECORD)


def test_conditions_are_combined() -> None:
    yes, no = Compare("eq", "n", 2), Compare("eq", "n", 3)
    assert compiled(Combine("and", (yes, Combine("not", (no,)))))(RECORD)
    assert compiled(Combine("or", (no, yes)))(RECORD)
    assert not compiled(Combine("and", (yes, no)))(RECORD)
    assert compiled(Combine("and", ()))(RECORD)
    assert not compiled(Combine("or", ()))(RECORD)
    assert compiled(None)(RECORD)


def test_a_time_is_compared_in_any_zone_with_its_bound() -> None:
    noon = NOON.astimezone(dt.timezone(dt.timedelta(hours=-7)))
    second = dt.timedelta(microseconds=1)
    assert compiled(Compare("lte", "created_at", noon, own=True))(RECORD)
    assert not compiled(Compare("lt", "created_at", noon, own=True))(RECORD)
    assert compiled(Compare("gt", "created_at", noon - second, own=True))(RECORD)
    assert compiled(Compare("eq", "text", "text", own=True))(RECORD)
    assert not compiled(Compare("eq", "text", "text"))(RECORD)


@table(
    "condition",
    [
        Compare("like", "n", 1),  # type: ignore[arg-type]
        Compare("in", "n", "text"),
        Compare("contains-any", "l", 1),
        Compare("eq", "color", 1, own=True),
        Compare("lt", "created_at", dt.datetime(2026, 1, 1), own=True),  # noqa: DTZ001
        Combine("xor", ()),  # type: ignore[arg-type]
        Combine("not", ()),
        Combine("and", ("n",)),  # type: ignore[arg-type]
        "n == 1",
    ],
)
def test_a_filter_that_means_nothing_is_refused(condition: Any) -> None:
    with pytest.raises(RefusedError):
        compiled(condition)


def test_every_operator_of_the_protocol_is_known() -> None:
    for op in set(FILTER_OPERATORS) - {"and", "or", "not"}:
        compiled(Compare(op, "n", [1]))  # type: ignore[arg-type]


def test_the_cosine_does_not_depend_on_lengths() -> None:
    for factor in (1, 1e-300, 1e38, 3):
        score = scorer("cosine", (3.0 * factor, 4.0 * factor))
        assert score((3.0, 4.0)) == pytest.approx(1.0, abs=1e-15)
        assert score((-6e-200, -8e-200)) == pytest.approx(-1.0, abs=1e-15)
        assert -1 <= score((1.0, 1.0)) <= 1
        assert score((0.0, 0.0)) == 0.0


@pytest.mark.parametrize("vector", [(0.1, 0.2, 0.3), (1e-160, 3e-160, 0.0), (3e38, -3e38, 1.0)])
def test_a_vector_is_most_like_itself(vector: Any) -> None:
    assert scorer("cosine", vector)(vector) == pytest.approx(1.0, abs=1e-15)
    assert scorer("l2", vector)(vector) == 1.0
    assert scorer("ip", vector)(vector) == pytest.approx(math.fsum(each * each for each in vector))


def test_a_greater_distance_scores_less() -> None:
    score = scorer("l2", (0.0, 0.0))
    assert [score((3.0, 4.0)), score((3e38, 0.0))] == [1 / 6, pytest.approx(0.0)]
