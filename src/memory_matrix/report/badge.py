"""The report as a badge: JSON for an endpoint of shields.io."""

from __future__ import annotations

import json
from collections.abc import Iterator

from memory_matrix.report import suite
from memory_matrix.report.baseline import Changes, cell_changes, suite_changes
from memory_matrix.report.grouping import unavailable
from memory_matrix.report.model import Report, failing
from memory_matrix.report.visible import counted, visible

LABEL = "memory compatibility"

GOOD, UNSURE, NOTHING, OLD, BAD = "brightgreen", "yellow", "lightgrey", "orange", "red"


def render(report: Report, label: str = LABEL) -> str:
    """Return the badge as JSON. It is green only where everything was run and nothing is wrong."""
    message, colour = _said(report)
    badge = {"schemaVersion": 1, "label": visible(label), "message": message, "color": colour}
    return f"{json.dumps(badge)}\n"


def _said(report: Report) -> tuple[str, str]:
    gaps = list(_gaps(report))
    if findings := list(_findings(report)):
        return ", ".join([*findings, *gaps]), OLD if _all_old(report) else BAD
    excuses = list(_excuses(report))
    if good := list(_good(report)):
        return ", ".join([*good, *excuses, *gaps]), UNSURE if excuses or gaps else GOOD
    return ", ".join(["nothing was run", *excuses, *gaps]), NOTHING


def _findings(report: Report) -> Iterator[str]:
    """Yield what is wrong: breaks that are not known, other cells that fail the run, failed cases."""
    breaks = sum(cell.is_break and cell.known is None for cell in report.cells)
    others = sum(not cell.is_break for cell in failing(report))
    failed = report.suite_summary()["failed"]
    if breaks:
        yield counted(breaks, "break") + _new(cell_changes(report))
    if others:
        yield counted(others, "failing cell")
    if failed:
        yield counted(failed, "failed case") + _new(suite_changes(report))


def _new(changes: Changes | None) -> str:
    return f" ({changes.new or 'none'} new)" if changes else ""


def _all_old(report: Report) -> bool:
    """Return whether the baseline had all of it."""
    if any(not cell.is_break for cell in failing(report)):
        return False
    return all(
        changes and not changes.new for changes in (cell_changes(report), suite_changes(report))
    )


def _good(report: Report) -> Iterator[str]:
    """Yield what was run: cells of more than one environment, cases."""
    if any(not cell.own and cell.outcome != "skipped" for cell in report.cells):
        yield "no breaks" if not report.summary()["breaks"] else "no other breaks"
    if passed := report.suite_summary()["passed"]:
        yield f"{counted(passed, 'case')} passed"


def _excuses(report: Report) -> Iterator[str]:
    """Yield what is wrong, and excused."""
    numbers = {
        "known break": report.summary()["known"],
        "waived case": report.suite_summary()["waived"],
    }
    yield from (counted(number, noun) for noun, number in numbers.items() if number)


def _gaps(report: Report) -> Iterator[str]:
    """Yield what nobody knows anything of, since it was not run."""
    cases = report.suite_summary()
    numbers = {
        "missing": len(report.missing),
        "unavailable": sum(map(len, unavailable(report).values())),
        "skipped": report.summary()["skipped"] + cases["skipped"],
        "not run": cases["error"],
    }
    yield from (f"{number:,} {what}" for what, number in numbers.items() if number)
    if report.cells and all(cell.own for cell in report.cells):
        yield "one environment alone"
    if suite.asked_for(report) and not cases["passed"] + cases["failed"]:
        yield "no case passed"
    if report.shard is not None:
        yield f"shard {report.shard} alone"
