"""A run compared with an earlier one, its baseline: what is new, what is fixed, what is still so.

A break is the same one where writer, reader, serializer and payload have the same names, whatever
its outcome and cause are now; a failed case, where environment, servers, store, case and serializer
have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory_matrix.report.grouping import by, unavailable
from memory_matrix.report.model import Baseline, Cell, Outcome, Report, SuiteOutcome, SuiteResult
from memory_matrix.report.visible import counted

Fate = Literal["still", "fixed", "gone"]
"""What became of something in the baseline: `gone` where this run does not tell."""

_LOADED: frozenset[Outcome] = frozenset({"ok", "changed", "drifted"})
"""Outcomes of a cell that is no break in which the reader had the value."""

_STILL: frozenset[SuiteOutcome] = frozenset({"failed", "waived"})
"""Outcomes of a case that failed, excused or not."""

_What = tuple[str, str, str, str]


@dataclass(frozen=True)
class Changes:
    """How many findings that nothing excuses are new and still there, and how many are fixed."""

    new: int
    fixed: int
    still: int


def compare(report: Report, earlier: Report, source: str) -> Report:
    """Return `report` with what is new in it and what is fixed since `earlier`, found at `source`.

    What `earlier` excused and `report` does not is new.
    """
    then, now = by(earlier.cells, _what), by(report.cells, _what)
    fates = _cell_fates(then, now)
    suite_then = {identity(each): each.outcome for each in earlier.suite}
    suite_now = {identity(each): each.outcome for each in report.suite}
    suite_fates = _suite_fates(earlier.suite, suite_now)
    return replace(
        report,
        cells=tuple(_told(cell, now[_what(cell)], then) for cell in report.cells),
        suite=tuple(_told_result(each, suite_then) for each in report.suite),
        baseline=Baseline(
            source,
            tuple(replace(cell, new=None) for cell, fate in fates if fate == "fixed"),
            tuple(replace(each, new=None) for each, fate in suite_fates if fate == "fixed"),
            sum(fate == "gone" for _, fate in (*fates, *suite_fates)),
            tuple(_notes(report, earlier)),
        ),
    )


def cell_changes(report: Report) -> Changes | None:
    """Count the breaks that no `[[known]]` entry expects; None without a baseline."""
    if report.baseline is None:
        return None
    found = [cell.new for cell in report.cells if cell.is_break and cell.known is None]
    return _changes(found, len(report.baseline.fixed))


def suite_changes(report: Report) -> Changes | None:
    """Count the failed cases; None without a baseline."""
    if report.baseline is None:
        return None
    found = [each.new for each in report.suite if each.outcome == "failed"]
    return _changes(found, len(report.baseline.fixed_suite))


def _changes(found: Sequence[bool | None], fixed: int) -> Changes:
    still = found.count(False)
    return Changes(len(found) - still, fixed, still)


def _what(cell: Cell) -> _What:
    return cell.writer, cell.reader, cell.serializer, cell.payload


def _told(cell: Cell, own: Sequence[Cell], then: Mapping[_What, Sequence[Cell]]) -> Cell:
    """Return `cell` with whether it is new; `own` are the cells of its writer, reader and so on."""
    if not cell.is_break:
        return cell if cell.new is None else replace(cell, new=None)
    before = _alike(cell, own, then.get(_what(cell), ()))
    had = any(each.is_break and (each.known is None or cell.known is not None) for each in before)
    return replace(cell, new=not had)


def _alike(cell: Cell, own: Sequence[Cell], others: Sequence[Cell]) -> Sequence[Cell]:
    """Return those of `others`, of the other run, that are what `cell` is in its own.

    Only where slots gave back several kinds of bytes do the slots tell which is which.
    """
    if len(own) == len(others) == 1:
        return others
    slots = frozenset(cell.via)
    return [each for each in others if not slots or not each.via or not slots.isdisjoint(each.via)]


def _cell_fates(
    then: Mapping[_What, Sequence[Cell]], now: Mapping[_What, Sequence[Cell]]
) -> list[tuple[Cell, Fate]]:
    return [
        (cell, _fate(_alike(cell, cells, now.get(what, ()))))
        for what, cells in then.items()
        for cell in cells
        if cell.is_break
    ]


def _fate(came: Sequence[Cell]) -> Fate:
    if any(each.is_break for each in came):
        return "still"
    return "fixed" if came and all(each.outcome in _LOADED for each in came) else "gone"


def identity(result: SuiteResult) -> tuple[object, ...]:
    """Return what `result` is a result of, whatever came of it."""
    servers = frozenset(result.servers)
    return result.environment, servers, result.store, result.case, result.serializer


def _told_result(
    result: SuiteResult, then: Mapping[tuple[object, ...], SuiteOutcome]
) -> SuiteResult:
    if result.outcome == "failed":
        return replace(result, new=then.get(identity(result)) != "failed")
    return result if result.new is None else replace(result, new=None)


def _suite_fates(
    then: Iterable[SuiteResult], now: Mapping[tuple[object, ...], SuiteOutcome]
) -> list[tuple[SuiteResult, Fate]]:
    failed = (each for each in then if each.outcome == "failed")
    return [(each, _suite_fate(now.get(identity(each)))) for each in failed]


def _suite_fate(came: SuiteOutcome | None) -> Fate:
    if came in _STILL:
        return "still"
    return "fixed" if came == "passed" else "gone"


def _subjects(report: Report) -> frozenset[tuple[object, ...]]:
    """Return what was compared and tested, whatever came of it."""
    return frozenset({*map(_what, report.cells), *map(identity, report.suite)})


def _notes(report: Report, earlier: Report) -> Iterator[str]:
    """Yield why `earlier` tells less than it seems to."""
    is_other = report.digest and earlier.digest and report.digest != earlier.digest
    if is_other and _subjects(report) != _subjects(earlier):  # else of other releases, say
        yield (
            "The baseline is of another matrix: what it did not have counts as new, and what this"
            " one does not have is neither fixed nor still there."
        )
    now = unavailable(report)
    parts = {noun: names - now[noun] for noun, names in unavailable(earlier).items()}
    parts["part"] = frozenset({each.name for each in earlier.missing})
    lacking = [counted(len(names), noun) for noun, names in parts.items() if names]
    if lacking:
        yield f"The baseline lacks {', '.join(lacking)}: what broke there counts as new."
    if earlier.shard is not None:
        yield f"The baseline is shard {earlier.shard} alone: what broke elsewhere counts as new."
