"""The judge phase: outcomes become breaks, directions and hints. Pure functions on data."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from memory_matrix.compat.hints import Hints
from memory_matrix.compat.model import (
    Meaning,
    ReadKey,
    ReadResult,
    Reads,
    Variant,
    Writes,
    Written,
)
from memory_matrix.matrix.model import Direction, EnvironmentSpec, Known
from memory_matrix.matrix.patterns import matches
from memory_matrix.matrix.select import Selection
from memory_matrix.report.model import Cell, Difference, Error, Outcome
from memory_matrix.worker.compare import MOST_DIFFERENCES, NOTHING_THERE

SHOWN_DIFFERENCES = 10
"""Differences that a cell keeps; the rest of them say nothing new."""

_VARIES = re.compile(r"https?://\S+|\d+")
"""Parts of a message that differ between releases that mean the same."""

_BREAKING = frozenset({"changed", "unreadable", "crashed"})

_NO_OWN_CELL = (
    "it is not as it was written, but the shard in which its writer reads is missing: whether it is a"
    " break cannot be told"
)

Drift = Callable[[str, str], Sequence[Difference]]
"""Compares two descriptions, named by their digests, across environments."""


@dataclass(frozen=True)
class Evidence:
    """All that the other phases found out."""

    environments: Mapping[str, EnvironmentSpec]
    serializers: Sequence[str]
    writes: Mapping[str, Writes]
    variants: Mapping[str, Sequence[Variant]]
    reads: Mapping[str, Reads]
    drift: Drift
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True, slots=True)
class Place:
    """Which cell is judged, and what its writer means by the payload."""

    writer: str
    reader: str
    serializer: str
    payload: str
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one blob in one reader, before it is compared with the writer's own cell."""

    outcome: Outcome
    error: Error | None = None
    diff: tuple[Difference, ...] = ()
    varies: frozenset[str] = frozenset()
    """Paths at which a second load of the same bytes gave something else again."""


def judge(evidence: Evidence, known: Sequence[Known], hints: Hints) -> Iterator[Cell]:
    """Yield the cells in the order writer, reader, serializer, payload."""
    return _Judge(evidence, known, hints).cells()


def direction(writer: EnvironmentSpec, reader: EnvironmentSpec) -> Direction:
    """Return how `reader` lies to `writer`: later, earlier, or neither, on the axes they share."""
    mine, theirs = dict(writer.coordinates), dict(reader.coordinates)
    if mine.keys() != theirs.keys():
        return "sideways"
    steps = {theirs[axis] - mine[axis] for axis in mine} - {0}
    if steps and all(step > 0 for step in steps):
        return "backward"
    if steps and all(step < 0 for step in steps):
        return "forward"
    return "sideways"


def same_way(cell: Finding, own: Finding, cause: Callable[[Finding], str | None]) -> bool:
    """Say whether `cell` fails just as the writer's own cell does, so that no version did it.

    Errors are the same where they are of one type and say the same, or, since releases word their
    errors anew, have the same `cause`.
    """
    if cell.outcome != own.outcome:
        return False
    if cell.outcome == "changed":
        return _differs_as(cell, own)
    if cell.error is None or own.error is None:
        return cell.error is own.error
    return (cell.error.stage, _type(cell.error)) == (own.error.stage, _type(own.error)) and (
        _wording(cell.error) == _wording(own.error) or cause(cell) == cause(own)
    )


def in_force(known: Sequence[Known], today: dt.date) -> tuple[Known, ...]:
    """Return the entries that still excuse breaks; the day in `until` is the last one."""
    return tuple(entry for entry in known if entry.until is None or today <= entry.until)


def stale(
    known: Sequence[Known], cells: Sequence[Cell], today: dt.date, *, whole: bool = True
) -> tuple[str, ...]:
    """Return a sentence for each entry of `known` that ran out, or that no cell breaks any more.

    Of a part of the matrix, which is not `whole`, nobody can say that an entry matches nothing.
    """
    valid = in_force(known, today)
    ran_out = [
        f"{entry.key} ({entry.reason}) held until {entry.until}: what it excused fails the run again."
        for entry in known
        if entry not in valid
    ]
    unmatched = [
        f"{entry.key} ({entry.reason}) matches no break any more: take it out."
        for entry in valid
        if whole and not any(cell.is_break and _matches(entry, cell) for cell in cells)
    ]
    return tuple(ran_out + unmatched)


class _Judge:
    """What judging one cell needs to know of all of them."""

    def __init__(self, evidence: Evidence, known: Sequence[Known], hints: Hints) -> None:
        self._evidence = evidence
        self._known = known
        self._explain = cache(hints.explain)
        self._found = cache(partial(_finding, evidence))
        self._same_way = cache(partial(same_way, cause=self._cause))

    def cells(self) -> Iterator[Cell]:
        evidence = self._evidence
        for writer in evidence.environments:
            for reader in evidence.environments:
                if reader not in evidence.reads:  # its shard is missing
                    continue
                if not evidence.selection.allows_pair(writer, reader):
                    continue
                way = direction(evidence.environments[writer], evidence.environments[reader])
                for serializer in evidence.serializers:
                    for payload, meaning in evidence.writes[writer].meanings.items():
                        place = Place(writer, reader, serializer, payload, meaning)
                        yield from self._cells(place, None if writer == reader else way)

    def _cells(self, place: Place, way: Direction | None) -> Iterator[Cell]:
        writes = self._evidence.writes[place.writer]
        written = writes.written.get((place.payload, place.serializer))
        refused = _not_written(writes, place, written)
        if refused is not None:
            if way is None:  # said once, not once per reader
                yield self._cell(place, (), refused)
            return
        assert written is not None
        assert written.blob is not None
        for variant in self._evidence.variants[written.blob]:
            if variant.blob is not None:
                key = ReadKey(place.serializer, place.payload, variant.blob, written.text)
                yield self._read_cell(place, variant.via, key, way)
            elif way is None:
                yield self._cell(place, variant.via, Finding("unstorable", variant.error))

    def _read_cell(
        self, place: Place, via: tuple[str, ...], key: ReadKey, way: Direction | None
    ) -> Cell:
        found = self._found(place.reader, place.meaning, key)
        if way is None or found.outcome not in _BREAKING:
            return self._cell(place, via, found, way=way)
        if place.writer not in self._evidence.reads:
            return self._cell(place, via, _skipped("load", _NO_OWN_CELL), way=way)
        own = self._found(place.writer, place.meaning, key)
        return self._cell(place, via, found, breaks=not self._same_way(found, own), way=way)

    def _cell(
        self,
        place: Place,
        via: tuple[str, ...],
        found: Finding,
        *,
        breaks: bool = False,
        way: Direction | None = None,
    ) -> Cell:
        hint = self._explain(found.outcome, found.error, found.diff)
        return Cell(
            place.writer,
            place.reader,
            place.serializer,
            place.payload,
            via,
            found.outcome,
            breaks,
            self._excuse(place) if breaks else None,
            way,
            found.error,
            found.diff[:SHOWN_DIFFERENCES],
            None if hint is None else hint.code,
            None if hint is None else hint.text,
        )

    def _excuse(self, place: Place) -> str | None:
        return next((entry.reason for entry in self._known if _matches(entry, place)), None)

    def _cause(self, found: Finding) -> str | None:
        hint = self._explain(found.outcome, found.error, found.diff)
        return None if hint is None else hint.code


def _not_written(writes: Writes, place: Place, written: Written | None) -> Finding | None:
    """Return why there is nothing to read, or None."""
    meaning = place.meaning
    if meaning.outcome != "built":
        return _skipped("build", meaning.reason or meaning.outcome)
    if meaning.unstable:
        return _skipped("build", "the payload is another value each time it is built")
    if place.serializer in writes.lacking:
        return _skipped("dump", writes.lacking[place.serializer])
    if written is None:
        return _skipped("dump", "its worker ended before it came to this payload")
    return None if written.outcome == "written" else _refused(written)


def _refused(written: Written) -> Finding:
    if written.outcome == "skipped":
        return _skipped("dump", written.error.message if written.error else written.outcome)
    return Finding("crashed" if written.outcome == "crashed" else "unwritable", written.error)


def _finding(evidence: Evidence, reader: str, writers: Meaning, key: ReadKey) -> Finding:
    own = evidence.writes[reader].meanings.get(key.payload)
    if key.serializer in evidence.writes[reader].lacking:
        return _skipped("load", evidence.writes[reader].lacking[key.serializer])
    if own is not None and own.unstable:
        return _skipped("build", "the payload is another value each time the reader builds it")
    result = evidence.reads[reader].results.get(key)
    if result is None:
        return _skipped("load", "its worker ended before it came to these bytes")
    if result.outcome != "loaded":
        return Finding("crashed" if result.outcome == "crashed" else "unreadable", result.error)
    return _loaded(evidence, writers, own, result)


def _loaded(
    evidence: Evidence, writers: Meaning, own: Meaning | None, result: ReadResult
) -> Finding:
    if own is not None and own.outcome == "built":
        diff = next(iter(result.differences.values()), ())
    else:
        diff = result.differences.get(writers.probe or "") or result.differences.get(
            writers.expected or "", ()
        )
    varies = frozenset(each.path for each in result.again)
    if diff:
        return Finding("changed", diff=diff, varies=varies)
    if result.again:
        return Finding("changed", diff=tuple(map(_on_second_load, result.again)), varies=varies)
    if own is None or own.outcome != "built":
        return Finding("ok")
    return _drifted(evidence.drift, writers, own)


def _drifted(drift: Drift, writers: Meaning, own: Meaning) -> Finding:
    """Compare what the two environments mean, when what was loaded is what the reader means.

    What the writer had and the reader has no place for is lost, not merely meant otherwise.
    """
    diff = tuple(filter(_is_there, drift(*_comparable(writers, own))))
    if not diff:
        return Finding("ok")
    lost = [
        each
        for each in drift(writers.expected or "", own.expected or "")
        if each.got == NOTHING_THERE and _is_there(each)
    ]
    outcome: Outcome = "changed" if lost else "drifted"
    return Finding(outcome, diff=tuple(lost) or diff)


def _is_there(difference: Difference) -> bool:
    """Say whether either has it: a class may declare what its own environment never sets."""
    return not difference.expected == difference.got == NOTHING_THERE


def _comparable(writers: Meaning, readers: Meaning) -> tuple[str, str]:
    """Return the descriptions by which two environments' own values can be compared."""
    if writers.probe is not None and readers.probe is not None:
        return writers.probe, readers.probe
    return writers.expected or "", readers.expected or ""


def _on_second_load(difference: Difference) -> Difference:
    return dataclasses.replace(difference, got=f"{difference.got} on a second load")


def _skipped(stage: str, reason: str) -> Finding:
    return Finding("skipped", Error(stage, "Skipped", reason))  # type: ignore[arg-type]


def _matches(entry: Known, cell: Place | Cell) -> bool:
    return all(
        matches(value, pattern)
        for value, pattern in (
            (cell.writer, entry.writer),
            (cell.reader, entry.reader),
            (cell.serializer, entry.serializer),
            (cell.payload, entry.payload),
        )
    )


def _differs_as(cell: Finding, own: Finding) -> bool:
    """Say whether all that differs does so in `own` too; where that was cut off, whether its like does.

    What is made up anew by each load is the same way wherever both make it up.
    """
    varies = cell.varies & own.varies
    seen = {(each.path, each.got) for each in own.diff}
    come = {each.got for each in own.diff} if len(own.diff) >= MOST_DIFFERENCES else set()
    return all(
        (each.path, each.got) in seen or each.got in come or each.path in varies
        for each in cell.diff
    )


def _type(error: Error) -> tuple[str, str]:
    """Return package and name: the modules between them move from release to release."""
    return error.type.partition(".")[0], error.type.rpartition(".")[2]


def _wording(error: Error) -> str:
    return _VARIES.sub("", error.message)
