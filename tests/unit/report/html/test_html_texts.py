"""Texts are visible, cut and there once; names stay apart; headings are over neighbours alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory_matrix.report.html import texts
from memory_matrix.report.html.axes import labels
from memory_matrix.report.html.texts import ELSEWHERE, ROOMS, Numbers, Texts, room, shown
from memory_matrix.report.model import Cell, Difference, Error, Report, SuiteResult
from support.tables import table


def test_a_text_is_kept_once_as_it_is_shown() -> None:
    table = Texts()
    assert [table.number(each, 10) for each in ("a", "b\x00", "a", None)] == [0, 1, 0, texts.NONE]
    assert table.every == ["a", "b\\x00"]


def test_a_long_text_is_cut_with_a_count_of_what_is_missing() -> None:
    table = Texts()
    table.number("y" * 1_000_000, 100)
    assert table.every == ["y" * 100 + "… (999,900 more)"]


def test_texts_beyond_the_budget_are_said_to_be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BUDGET", 10)
    table = Texts()
    numbers = [table.number(each, 100) for each in ("x" * 8, "y" * 8, "z" * 8, "x" * 8, "ab")]
    assert table.every == ["x" * 8, ELSEWHERE, "ab"]
    assert numbers == [0, 1, 1, 0, 2]


def _cell(number: int, text: str) -> Cell:
    diff = (Difference(f"$[{number}]", text, text),)
    return Cell("a", "b", "pickle", "p", error=Error("load", "E", f"{number}{text}"), diff=diff)


@pytest.mark.parametrize(("size", "level"), [(10, 0), (600, 1), (5_000, 2), (50_000, 3)])
def test_texts_have_less_room_each_the_more_there_are(
    size: int, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "BUDGET", (30_000, 20_000, 9_000, 5_000)[level])
    report = Report(
        cells=tuple(_cell(number, "y" * size) for number in range(15)),
        suite=(SuiteResult("a", (), "s", "c", "failed", "why"),),
    )
    assert room(report) == ROOMS[level]


@pytest.mark.large
def test_equal_texts_take_room_once() -> None:
    cells = tuple(_cell(0, "y" * 1_000) for _ in range(20_000))
    assert room(Report(cells=cells)) == ROOMS[0]


def test_names_that_look_alike_stay_apart() -> None:
    long = "n" * 100
    names = ["a", "a\x00", "a\\x00", f"{long}1", f"{long}2", "", " "]
    found = shown(names)
    assert len(set(found)) == len(names)
    assert found[:2] == ["a", "a\\x00"]


def test_keys_are_numbered_as_they_are_asked_for() -> None:
    numbers = Numbers(["b", "a", "b"])
    assert [numbers[key] for key in ("a", "c", "b", "c")] == [1, 2, 0, 2]
    assert list(numbers) == ["b", "a", "c"]


@table(
    ("names", "found"),
    [
        (["py310-a", "py310-b", "py311-a"], [("py310", "a"), ("py310", "b"), ("py311", "a")]),
        (
            ["py310-a-1", "py310-b-1", "py311-a-1"],
            [("py310", "a-1"), ("py310", "b-1"), ("py311", "a-1")],
        ),
        (["py310-a", "py310-b"], []),
        (["py310-a", "py311-a"], []),
        (["py310-a", "py311-a", "py310-b"], []),
        (["py310-a", "py310-b", "old"], []),
        (["py310-a", "py310-", "py311-a"], []),
        (["-a", "-b", "py311-a"], []),
        ([], []),
    ],
)
def test_headings_are_over_neighbours_whose_names_begin_alike(
    names: Sequence[str], found: Sequence[tuple[str, str]]
) -> None:
    assert list(labels(names)) == found
