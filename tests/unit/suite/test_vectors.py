"""The reference search, and what it says of what a store found."""

from __future__ import annotations

from typing import Any, cast

import pytest

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Record, StoreEnv
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.vectors import embedded, expect_nearest, expect_recall, recall
from support.tables import table

QUERY = (1.0, 0.0)
NEAR, SAME, FAR = (
    embedded("near", (1.0, 0.5)),
    embedded("same", (2.0, 0.0)),
    embedded("far", (-1.0, 0.0)),
)
RECORDS = (NEAR, SAME, FAR)


class _Store:
    """What the reference asks of a store."""

    def __init__(self, metric: Any = "cosine") -> None:
        self.env = StoreEnv(metric=metric, dimensions=2)
        self.policy = Policy(recall=0.9)


def store(metric: str = "cosine") -> Memory:
    return cast("Memory", _Store(metric))


def found(*names: str) -> list[tuple[str, float]]:
    return [(name, 0.0) for name in names]


@pytest.mark.parametrize(
    ("metric", "order"),
    [
        ("cosine", ["same", "near", "far"]),
        ("l2", ["near", "same", "far"]),
        ("ip", ["same", "near", "far"]),
    ],
)
def test_each_metric_has_its_order(metric: str, order: list[str]) -> None:
    expect_nearest(store(metric), "a search", found(*order), RECORDS, QUERY, 3)


@table(
    ("names", "sentence"),
    [
        (["near", "same"], "expected \\['same', 'near'\\]"),
        (["same"], "expected \\['same', 'near'\\]"),
        (["same", "same"], "more than once"),
        (["same", "stray"], "do not match"),
        (["same", "near", "far"], "lengths"),
    ],
)
def test_another_answer_is_told(names: list[str], sentence: str) -> None:
    with pytest.raises(CaseFailed, match=sentence):
        expect_nearest(store(), "a search", found(*names), RECORDS, QUERY, 2)


def test_equal_ones_may_come_in_any_order() -> None:
    twins = [Record(name, vector=(1.0, 1.0)) for name in ("one", "two")]

    for names in (["one", "two"], ["two", "one"]):
        expect_nearest(store(), "a search", found(*names), twins, QUERY, 2)


def test_recall_is_the_share_of_the_nearest_that_were_found() -> None:
    assert recall(store(), "a search", found("same", "far"), RECORDS, QUERY, 2) == 0.5


def test_recall_of_fewer_than_there_are_fails() -> None:
    with pytest.raises(CaseFailed, match="expected 2, got 1"):
        recall(store(), "a search", found("same"), RECORDS, QUERY, 2)


def test_less_recall_than_declared_fails() -> None:
    expect_recall(store(), "the index", [0.9, 1.0])

    with pytest.raises(CaseFailed, match=r"expected 0\.9 or more as declared, got 0\.850"):
        expect_recall(store(), "the index", [0.8, 0.9])
