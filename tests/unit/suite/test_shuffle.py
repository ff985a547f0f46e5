"""In which order the cases of a run come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from memory_matrix.suite import reporting
from memory_matrix.suite.case_names import case_names
from memory_matrix.suite.reporting import LONG, shuffle
from memory_matrix.suite.results import Case

NAMES = [each.name for each in case_names()]


@pytest.fixture(autouse=True)
def _plain_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "case_of", lambda item: Case(item.name, "A", "store", ()))


def shuffled(seed: int) -> list[str]:
    items: list[Any] = [SimpleNamespace(name=name) for name in NAMES]
    shuffle(items, seed)
    return [item.name for item in items]


def test_a_seed_is_an_order() -> None:
    assert shuffled(1) == shuffled(1)
    assert shuffled(1) != shuffled(2)
    assert sorted(shuffled(1)) == sorted(NAMES)


def test_long_cases_come_first_in_an_order_of_the_seeds_too() -> None:
    first = shuffled(1)[: len(LONG)]

    assert set(first) == LONG
    assert first != shuffled(2)[: len(LONG)]


def test_long_cases_are_cases() -> None:
    assert set(NAMES) >= LONG
