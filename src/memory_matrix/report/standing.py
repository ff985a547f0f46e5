"""What single cells and cases count for, in formats that tell each of them by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memory_matrix.report import grouping, sentences
from memory_matrix.report.model import Cell, Report, SuiteResult, failing
from memory_matrix.report.suite import NO_REASON
from memory_matrix.report.visible import NAME, counted, visible

Standing = Literal["passed", "failed", "error", "excused"]
"""`error`: it could not be run. `excused`: neither passed nor held against the run."""

MOST_DIFFERENCES = 10
"""Differences of one cell that are told."""
_HINT = 1000


@dataclass(frozen=True)
class Requirement:
    """An environment, a server, a store or a part of the run that the matrix asks for."""

    kind: Literal["environments", "servers", "stores", "parts"]
    name: str
    reason: str | None
    """Why it could not be had; None where it could."""


class Standings:
    """Says of each cell and case of a report what it counts for.

    Breaks that `fail-on` or `directions` let pass are excused; with `fail-on = never` none is let
    pass, since it is then for the reader of the report to judge.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._failing = frozenset(map(id, failing(report)))

    def of_cell(self, cell: Cell) -> Standing:
        """Return what a cell of the report counts for."""
        if cell.outcome == "ok":
            return "passed"
        if id(cell) in self._failing:
            return "failed"
        never = self._report.fail_on == "never" and cell.is_break and cell.known is None
        return "failed" if never and self._counts(cell) else "excused"

    def _counts(self, cell: Cell) -> bool:
        return cell.direction is None or cell.direction in self._report.directions

    def of_result(self, result: SuiteResult) -> Standing:
        """Return what a case of the suite counts for."""
        if result.outcome == "failed":
            old = self._report.fail_on == "new-breaks" and result.new is False
            return "excused" if old else "failed"
        if result.outcome == "passed":
            return "passed"
        return "error" if result.outcome == "error" else "excused"

    def excuse(self, cell: Cell) -> str:
        """Return why a cell that is not `ok` is not held against the run."""
        if cell.known is not None:
            return f"known: {visible(cell.known)}"
        if cell.outcome == "skipped":
            return f"not run: {visible(cell.error.message) if cell.error else NO_REASON}"
        evidence = sentences.evidence(cell)
        if not cell.is_break:
            mark = grouping.mark(cell)
            return f"{mark}, no break: {evidence}"
        if not self._counts(cell):
            return f"{cell.outcome}, but {cell.direction} is not among directions: {evidence}"
        return f"{cell.outcome}, as in the baseline: {evidence}"

    def excuse_result(self, result: SuiteResult) -> str:
        """Return why a case that did not pass is not held against the store."""
        word = "failed, as in the baseline" if result.outcome == "failed" else result.outcome
        return f"{word}: {visible(result.reason or NO_REASON)}"


def requirements(report: Report) -> Iterator[Requirement]:
    """Yield what the matrix asks for, and what of it could not be had or was lost."""
    for environment in report.environments:
        yield Requirement("environments", environment.name, _why(environment))
    for server in report.servers:
        yield Requirement("servers", server.name, _why(server))
    for store in report.stores:
        yield Requirement("stores", f"{store.name} in {store.environment}", _why(store))
    for part in report.missing:
        lost = f"it was planned, and no report tells of it (shard {part.shard})"
        yield Requirement("parts", f"{part.part}: {part.name}", lost)


def _why(record: object) -> str | None:
    reason: str | None = getattr(record, "reason", None)
    return (reason or NO_REASON) if getattr(record, "status", "") == "unavailable" else None


def cell_lines(cell: Cell, report: Report) -> Iterator[str]:
    """Yield what is known of a cell that is not `ok`, for people, in lines."""
    direction = f", {cell.direction}" if cell.direction else ""
    cause = f", {visible(cell.cause, NAME)}" if cell.cause else ""
    yield f"{cell.outcome}{direction}{cause}: {sentences.evidence(cell)}"
    if cell.error is None:
        for each in cell.diff[1:MOST_DIFFERENCES]:
            yield f"also {sentences.difference(each)}"
        if (rest := len(cell.diff) - MOST_DIFFERENCES) > 0:
            yield f"… and {counted(rest, 'other place')}: see report.json"
    if cell.via:
        yield f"through {', '.join(visible(slot, NAME) for slot in cell.via)}"
    if cell.hint:
        yield f"Hint: {visible(cell.hint, _HINT)}"
    yield f"Run it alone: {sentences.command(cell, report)}"


def result_lines(result: SuiteResult, report: Report) -> Iterator[str]:
    """Yield what is known of a case that did not pass, for people, in lines."""
    yield f"{result.outcome}: {visible(result.reason or NO_REASON, _HINT)}"
    yield f"Run it alone: {_command(result, report)}"


def _command(result: SuiteResult, report: Report) -> str:
    terms: Mapping[str, str | None] = {
        "store": result.store,
        "case": result.case,
        "environment": result.environment,
        "serializer": result.serializer,
    }
    named = [(key, value) for key, value in terms.items() if value is not None]
    servers = [("server", name) for name in result.servers]
    return sentences.case_command((*named, *servers), report)


def location(name: str, report: Report) -> tuple[str | None, int]:
    """Return the file and the line where a payload or a store is defined.

    What is built in has none of its own: that is asked for in the first line of the matrix file.
    """
    place = report.locations.get(name)
    if place is None:
        return report.matrix, 1
    file, colon, line = place.rpartition(":")
    if colon and line.isascii() and line.isdecimal() and 0 < len(line) < 8 and int(line):
        return file, int(line)
    return place, 1
