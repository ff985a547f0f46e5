"""What the page's template lays out: the parts that stand in the page without its script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from memory_matrix.report import grouping, sentences, suite
from memory_matrix.report.grouping import Group, Limit, Mark
from memory_matrix.report.html.hints import hints
from memory_matrix.report.html.lists import CellList
from memory_matrix.report.model import (
    OUTCOMES,
    SUITE_OUTCOMES,
    EnvironmentRecord,
    Outcome,
    Report,
    ServerRecord,
    SuiteOutcome,
    broken_suite,
    failing,
    failing_suite,
)
from memory_matrix.report.visible import SENTENCE, counted, visible

MOST_WORST = 3
"""Causes of breaks that are told right below the verdict."""
MOST_ENVIRONMENTS = 40
"""Environments in the grid that is shown where scripts are off."""

_STYLES: dict[Outcome, Mark] = {
    "changed": "lossy",
    "unreadable": "own failure",
    "crashed": "own failure",
}
"""What the count of an outcome looks like, of which not all need be breaks."""
_CASE_STYLES: dict[SuiteOutcome, Mark] = {
    "passed": "ok",
    "failed": "unreadable",
    "error": "own failure",
    "not-offered": "unwritable",
    "waived": "known",
    "skipped": "skipped",
}


@dataclass(frozen=True)
class Verdict:
    """How the run ended, in a word or two, and the sentence on what was found."""

    kind: str
    """What it is styled by: `fails`, `unsure` or `passes`."""
    symbol: str
    word: str
    text: str
    second: str = ""
    """The sentence on the memory test suite where `text` is on cells."""


@dataclass(frozen=True)
class Count:
    """How many cells or cases there are of one kind, and the link that shows just these."""

    mark: Mark
    symbol: str
    number: int
    word: str
    meaning: str
    link: str


@dataclass(frozen=True)
class Worst:
    """A cause of breaks, for who reads no further than the first screen."""

    heading: str
    example: str
    hint: str
    link: str


@dataclass(frozen=True)
class Alarm:
    """Why the report tells less than it seems to."""

    title: str
    items: Sequence[tuple[str, str]] = ()
    """Each thing with what is said of it."""


@dataclass(frozen=True)
class LimitList:
    """What serializers or servers cannot do, under one heading."""

    title: str
    limits: tuple[Limit, ...]


def view(report: Report, lists: Sequence[CellList]) -> dict[str, Any]:
    """Return what the template knows, by the names that it uses."""
    groups = next(filter(None, map(grouping.groups, sentences.break_lists(report).values())), ())
    return {
        "report": report,
        "lists": lists,
        "verdict": verdict(report),
        "alarms": tuple(_alarms(report)),
        "made": sentences.made(report),
        "worst": tuple(map(_worst, groups[:MOST_WORST])),
        "causes": len(groups),
        "breaks": tuple(_break_counts(report)),
        "counts": tuple(_counts(report)),
        "case_counts": tuple(_case_counts(report)),
        "environments": grouping.ready(report),
        "grid": grouping.grid(report, MOST_ENVIRONMENTS),
        "hints": tuple(hints(report).values()),
        "limits": tuple(_limits(report)),
        "unavailable": tuple(_unavailable(report)),
    }


def verdict(report: Report) -> Verdict:
    """Return how the run ended."""
    if report.cells and suite.asked_for(report):
        cells = replace(report, suite=(), stores=(), strategy=None)
        return Verdict(*_end(report), sentences.verdict(cells), suite.verdict(report))
    return Verdict(*_end(report), sentences.verdict(report))


def _end(report: Report) -> tuple[str, str, str]:
    if failing(report) or failing_suite(report) or report.missing:
        return "fails", "✗", "Fails"
    if broken_suite(report) or sentences.missing(report) or report.untested:
        return "unsure", "!", "Incomplete"
    outcomes: set[Outcome | SuiteOutcome] = {each.outcome for each in report.cells}
    if outcomes | {each.outcome for each in report.suite} <= {"skipped", "not-offered"}:
        return "unsure", "!", "Nothing was run"
    return "passes", "✓", "Passes"


def _worst(group: Group) -> Worst:
    cell = group.cells[0]
    where = f"{cell.writer} → {cell.reader}, {cell.serializer}, {cell.payload}"
    shows = {
        "only": "breaks",
        "outcome": group.outcome,
        **({"cause": group.cause} if group.cause else {}),
    }
    return Worst(
        sentences.heading(group),
        f"e.g. {visible(where, SENTENCE)}: {sentences.evidence(cell)}",
        group.hint or "",
        urlencode(shows, errors="replace"),  # any text may stand for a cause
    )


def _alarms(report: Report) -> Iterator[Alarm]:
    if report.missing:
        number = counted(len(report.missing), "part")
        yield Alarm(
            f"{number} of the matrix missing: no shard reported what was planned. The run fails.",
            [(each.name, sentences.missing_part(each)) for each in report.missing],
        )
    if unavailable := sentences.missing(report):
        yield Alarm(unavailable, tuple(_unavailable(report)))
    if left := report.untested:
        yield Alarm(
            f"{sentences.not_tested(report)} All of their cells were skipped.",
            [(each.name, sentences.not_tested_part(each)) for each in left],
        )
    if broken := broken_suite(report):
        number = counted(len(broken), "case")
        yield Alarm(f"{number} of the memory test suite could not be run: no word on the store.")
    if report.shard is not None:
        yield Alarm(f"This is shard {report.shard} of the matrix alone.")


def _unavailable(report: Report) -> Iterator[tuple[str, str]]:
    records: list[EnvironmentRecord | ServerRecord] = [*report.environments, *report.servers]
    for each in records:
        if each.status == "unavailable":
            yield each.name, each.reason or suite.NO_REASON
    for absence in suite.absences(report):
        for environment in absence.environments:
            yield f"{absence.store} in {environment}", absence.reason


def _break_counts(report: Report) -> Iterator[Count]:
    breaks = grouping.breaks(report)
    new = sum(cell.new is True for cell in breaks)
    if breaks:
        about = "version skew did it"
        yield Count("unreadable", "✗", len(breaks), "breaks", about, "only=breaks")
    if new:
        about = "breaks that the baseline's run had not"
        yield Count("unreadable", "✗", new, "new", about, "only=new")
    if known := report.summary()["known"]:
        meaning = grouping.MEANINGS["known"]
        yield Count("known", grouping.SYMBOLS["known"], known, "known", meaning, "only=known")


def _counts(report: Report) -> Iterator[Count]:
    summary = report.summary()
    for outcome in OUTCOMES:
        if summary[outcome]:
            mark = _STYLES.get(outcome, outcome)
            symbol = grouping.SYMBOLS[mark]
            meaning = grouping.MEANINGS[outcome]
            link = f"outcome={outcome}"
            yield Count(mark, symbol, summary[outcome], outcome, meaning, link)


def _case_counts(report: Report) -> Iterator[Count]:
    summary = report.suite_summary()
    for outcome in SUITE_OUTCOMES:
        if summary[outcome]:
            symbol, meaning = suite.SYMBOLS[outcome], suite.MEANINGS[outcome]
            link = f"case-outcome={outcome}"
            yield Count(_CASE_STYLES[outcome], symbol, summary[outcome], outcome, meaning, link)


def _limits(report: Report) -> Iterator[LimitList]:
    for title, outcomes in grouping.LIMITS.items():
        if found := grouping.limits(report, outcomes, by_cause=True):
            yield LimitList(title, found)
