"""Cells by what they have in common, as the page lists them: breaks by cause, known ones, drifted ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memory_matrix.report import grouping, sentences
from memory_matrix.report.grouping import Group
from memory_matrix.report.model import Cell, Report


@dataclass(frozen=True)
class Gathered:
    """Cells with one outcome and one cause, or that one `[[known]]` entry expects."""

    cells: tuple[Cell, ...]
    cause: str | None = None
    hint: str | None = None
    reason: str | None = None
    """What the `[[known]]` entry says."""


@dataclass(frozen=True)
class CellList:
    """What stands under one heading."""

    title: str
    about: str
    groups: tuple[Gathered, ...]
    here: bool = True
    """Whether the cells are this run's, not its baseline's."""


def cell_lists(report: Report) -> tuple[CellList, ...]:
    """Return all lists of `report` that are not empty, those that matter most first."""
    return tuple(each for each in _lists(report) if each.groups)


def _lists(report: Report) -> Iterator[CellList]:
    for title, cells in sentences.break_lists(report).items():
        yield CellList(title, "Version skew did these, by cause: worst first.", _groups(cells))
    fixed = () if report.baseline is None else report.baseline.fixed
    about = "They broke in the baseline's run, and break no more."
    yield CellList(f"{grouping.FIXED} ({len(fixed):,})", about, _groups(fixed), here=False)
    known = grouping.known_breaks(report)
    about = "They break as [[known]] entries of the matrix file expect, and fail nothing."
    groups = tuple(Gathered(each.cells, reason=each.reason) for each in known)
    yield CellList(f"Known breaks ({report.summary()['known']:,})", about, groups)
    drifted = tuple(cell for cell in report.cells if cell.outcome == "drifted")
    about = (
        "Reader and writer mean different things by these payloads, such as a default that changed."
    )
    yield CellList(f"Drifted ({len(drifted):,})", about, _groups(drifted))


def _groups(cells: tuple[Cell, ...]) -> tuple[Gathered, ...]:
    return tuple(map(_gathered, grouping.groups(cells)))


def _gathered(group: Group) -> Gathered:
    return Gathered(group.cells, group.cause, group.hint)
