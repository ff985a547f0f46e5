"""What a run was to test, and could not: never passed, although nothing of it broke."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memory_matrix.report.model import Cell, PayloadRecord, Report, Untested


def find(report: Report) -> tuple[Untested, ...]:
    """Return what all cells were skipped of, other than for what an environment just does not have.

    It walks all cells: ask for `Report.untested`, which does so once.

    A payload of the built-in corpus may lack its library everywhere: nobody asked for that one. Where
    nothing was run at all, that is said instead of this.
    """
    if all(cell.outcome == "skipped" for cell in report.cells):
        return ()
    return (*_payloads(report), *_environments(report))


def _payloads(report: Report) -> Iterator[Untested]:
    failed = {each.payload: each for each in report.payloads if each.status != "skipped"}
    for name in _skipped(report, lambda cell: cell.payload):
        if name in failed:
            yield Untested("payload", name, failed[name].reason)


def _environments(report: Report) -> Iterator[Untested]:
    lacks = {(each.environment, each.payload) for each in report.payloads if _is_lacking(each)}
    for name, cells in _skipped(report, lambda cell: cell.reader).items():
        tried = [cell for cell in cells if (name, cell.payload) not in lacks]
        if tried:
            error = tried[0].error
            yield Untested("environment", name, "" if error is None else error.message)


def _is_lacking(record: PayloadRecord) -> bool:
    return record.status == "skipped"


def _skipped(report: Report, key: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    """Return the cells by `key`, of those keys of which every cell was skipped."""
    ran = {key(cell) for cell in report.cells if cell.outcome != "skipped"}
    found: dict[str, list[Cell]] = {}
    for cell in report.cells:
        if cell.outcome == "skipped" and key(cell) not in ran:
            found.setdefault(key(cell), []).append(cell)
    return found
