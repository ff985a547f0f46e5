"""A report as annotations: what is equal merged, worst first, as many as GitHub shows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_matrix.github.commands import LEVELS, Annotation, Level
from memory_matrix.report import grouping, sentences, suite
from memory_matrix.report.grouping import Finding, by
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Report,
    ServerRecord,
    StoreRecord,
    broken_suite,
    failing,
    failing_suite,
)
from memory_matrix.report.suite import Message, Trouble
from memory_matrix.report.visible import NAME, counted, listed, visible

MOST = 10
"""Annotations of one level that GitHub shows of a step; it drops the others without a word."""
LONGEST = 1000
"""Characters of a file's path."""
MOST_NAMES = 4
MOST_MESSAGES = 3

_RANKS: Mapping[str, int] = {
    "crashed": 0,
    "unreadable": 1,
    "failed": 2,
    "changed": 3,
    "drifted": 4,
    "error": 5,
}
"""Outcomes of cells and cases, worst first."""
_OTHERS = len(_RANKS)
_NEW = "new: "


@dataclass(frozen=True)
class Places:
    """Where files of a report are, as GitHub names them."""

    root: Path
    """The repository's, absolute."""
    folder: Path
    """What the paths of a report are relative to, absolute."""

    @classmethod
    def here(cls) -> Places:
        """Return the places of a report that is made in the current folder, in this step."""
        root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
        return cls(root, Path.cwd())  # as the root, the current folder is without symbolic links

    def find(self, location: str) -> tuple[str | None, int | None]:
        """Return the file of `payloads.py:12` below the root, and the line; None for what is not so."""
        path, colon, line = location.rpartition(":")
        if not (colon and line.isascii() and line.isdigit()):
            path, line = location, ""
        file = Path(os.path.normpath(self.folder / path))
        if not file.is_relative_to(self.root):
            return None, None
        name = file.relative_to(self.root).as_posix()
        if not name.isprintable() or len(name) > LONGEST or len(line) > 9:
            return None, None  # no file that GitHub could show
        return name, int(line) if line else None


def of_report(
    report: Report, places: Places, *, rest: str, reserved: int = 0
) -> tuple[Annotation, ...]:
    """Return at most `MOST` annotations of each level, worst first; the last one counts the others.

    `rest` is where the others are found. So many errors as are `reserved` may still follow these.
    """
    found = by(_all(report, places), lambda each: each.level)
    rooms = dict.fromkeys(LEVELS, MOST) | {"error": MOST - reserved}
    return tuple(
        each for level in LEVELS for each in _capped(found.get(level, ()), rooms[level], rest)
    )


def _capped(found: Sequence[Annotation], most: int, rest: str) -> Iterator[Annotation]:
    if len(found) <= most:
        yield from found
        return
    yield from found[: most - 1]
    others = f"{len(found) - most + 1:,} more: see {rest}."
    yield replace(found[-1], message=others, title="memory-matrix", file=None, line=None)


def _all(report: Report, places: Places) -> Iterator[Annotation]:
    """Yield every annotation; those of one level worst first, new ones before others."""
    yield from _missing(report)
    yield from _untested(report, _Place(report, places))
    ranked = [*_cells(report, places), *_cases(report, places)]
    ranked.sort(key=lambda each: each[0])
    yield from (each for _, each in ranked)
    matrix = _Place(report, places).matrix
    for sentence in (*report.stale_known, *report.stale_waivers):
        yield replace(matrix, level=_staleness(sentence), message=visible(sentence))
    yield from _unavailable(report, matrix)


_Ranked = tuple[tuple[bool, int], Annotation]
"""How late an annotation comes among others of its level: old ones last, then by outcome."""


def _staleness(sentence: str) -> Level:
    """Return the level of a stale entry: one that ran out lets a break fail the run again."""
    return "warning" if " held until " in sentence else "notice"


@dataclass(frozen=True)
class _Place:
    """Where a report's findings are annotated."""

    report: Report
    places: Places

    @property
    def matrix(self) -> Annotation:
        """A notice at the matrix file; at none where there is none in the repository."""
        file, _ = self.places.find(self.report.matrix) if self.report.matrix else (None, None)
        return Annotation("notice", "", "memory-matrix", file)

    def at(self, names: Iterable[str]) -> Annotation:
        """Return a notice where the first of `names` with a place has it, else at the matrix file."""
        locations = self.report.locations
        found = (self.places.find(locations[name]) for name in names if name in locations)
        for file, line in found:
            if file is not None:
                return Annotation("notice", "", None, file, line)
        return self.matrix


def _missing(report: Report) -> Iterator[Annotation]:
    """Yield what no shard reported, by shard."""
    for shard, parts in by(report.missing, lambda each: (each.part, each.shard)).items():
        names = listed((each.name for each in parts), MOST_NAMES, _name)
        yield Annotation(
            "error",
            f"No report came from shard {_name(shard[1])} of {shard[0]}: {names} did not run, or"
            " what came of it was lost.",
            f"{shard[0]}, shard {_name(shard[1])}: missing",
        )


def _untested(report: Report, place: _Place) -> Iterator[Annotation]:
    """Yield what was to be tested and could not, where it is defined."""
    for each in report.untested:
        yield replace(
            place.at([each.name] if each.what == "payload" else ()),
            level="error",
            message=sentences.not_tested_part(each),
            title=f"{each.what} {_name(each.name)}: not tested",
        )


def _cells(report: Report, places: Places) -> Iterator[_Ranked]:
    bad = failing(report)
    ids = frozenset(map(id, bad))
    others = [each for each in grouping.breaks(report) if id(each) not in ids]
    levels: dict[Level, Sequence[Cell]] = {"error": bad, "warning": others}
    place = _Place(report, places)
    for level, cells in levels.items():
        for age, own in by(cells, lambda cell: cell.new).items():
            for group in grouping.groups(own):
                rank = (age is False, _RANKS.get(group.outcome, _OTHERS))
                for finding in grouping.findings(group.cells):
                    yield rank, replace(_finding(finding, place), level=level)


def _finding(finding: Finding, place: _Place) -> Annotation:
    cell = finding.cells[0]
    what = f"{_payloads(finding)}, {counted(len(finding.cells), 'cell')}"
    message = [
        f"{what}: {sentences.evidence(cell)}{_other_places(cell)}",
        visible(cell.hint or ""),
        f"Run one alone: {sentences.command(cell, place.report)}",
    ]
    return replace(
        place.at(finding.payloads),
        message="\n".join(filter(None, message)),
        title=f"{_NEW * bool(cell.new)}{_who(finding)}: {cell.outcome}",
    )


def _who(finding: Finding) -> str:
    """Return in a few words who reads what of whom, for one pair; the others are counted."""
    cell = finding.cells[0]
    others = len({(each.writer, each.reader) for each in finding.cells}) - 1
    more = f" (and {counted(others, 'more pair')})" if others else ""
    serializers = listed(finding.serializers, 1, _name)
    return f"{_name(cell.reader)} reads {serializers} of {_name(cell.writer)}{more}"


def _payloads(finding: Finding) -> str:
    number = len(finding.payloads)
    names = listed(finding.payloads, MOST_NAMES, _name)
    return f"Payload{'' if number == 1 else 's'} {names}"


def _other_places(cell: Cell) -> str:
    others = sentences.other_places(cell)
    return f" ({counted(others, 'other place')})" if others else ""


def _cases(report: Report, places: Places) -> Iterator[_Ranked]:
    bad = frozenset(map(id, (*failing_suite(report), *broken_suite(report))))
    place = _Place(report, places)
    for outcome in suite.TROUBLES:
        for trouble in suite.troubles(report, outcome):
            results = [each for message in trouble.messages for each in message.results]
            level: Level = "warning" if bad.isdisjoint(map(id, results)) else "error"
            old = all(each.new is False for each in results)
            new = any(each.new for each in results)
            yield (old, _RANKS[outcome]), replace(_trouble(trouble, place, new=new), level=level)


def _trouble(trouble: Trouble, place: _Place, *, new: bool) -> Annotation:
    others = len(trouble.messages) - MOST_MESSAGES
    message = [
        f"{trouble.cells:,} of {counted(trouble.ran, 'cell')}.",
        *map(_message, trouble.messages[:MOST_MESSAGES]),
        f"{counted(others, 'other message')}: see the report." if others > 0 else "",
        f"Run one alone: {sentences.suite_command(trouble, place.report)}",
    ]
    what = "failed" if trouble.outcome == "failed" else "could not be run"
    return replace(
        place.at([trouble.store]),
        message="\n".join(filter(None, message)),
        title=f"{_NEW * new}{_name(trouble.store)}: {_name(trouble.case)} {what}",
    )


def _message(message: Message) -> str:
    where = suite.in_words(message.where, lambda names: listed(names, MOST_NAMES, _name), 2)
    return f"{where}: {visible(message.text)}"


def _unavailable(report: Report, matrix: Annotation) -> Iterator[Annotation]:
    """Yield what could not be had, by reason."""
    records: list[EnvironmentRecord | ServerRecord | StoreRecord] = [
        *report.environments,
        *report.servers,
        *report.stores,
    ]
    missing = [each for each in records if each.status == "unavailable"]
    for reason, own in by(missing, lambda each: each.reason or "no reason was given").items():
        names = listed(grouping.unique(each.name for each in own), MOST_NAMES, _name)
        yield replace(matrix, message=visible(reason), title=f"could not be had: {names}")


def _name(name: str) -> str:
    return visible(name, NAME)
