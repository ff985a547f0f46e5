"""The judge phase: outcomes become breaks, directions and hints. Pure functions on data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

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
from memory_matrix.report.model import Cell, Difference, Error, Outcome

MOST_DIFFERENCES = 10
"""Differences that a cell keeps; the rest of them say nothing new."""

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


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one blob in one reader, before it is compared with the writer's own cell."""

    outcome: Outcome
    error: Error | None = None
    diff: tuple[Difference, ...] = ()


def judge(evidence: Evidence, known: Sequence[Known], hints: Hints) -> Iterator[Cell]:
    """Yield the cells in the order writer, reader, serializer, payload."""
    for writer in evidence.environments:
        for reader in evidence.environments:
            for serializer in evidence.serializers:
                for payload in evidence.writes[writer].meanings:
                    for cell in _cells(evidence, writer, reader, serializer, payload):
                        yield _explained(_excused(cell, known), hints)


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


def same_way(cell: Finding, own: Finding) -> bool:
    """Say whether `cell` fails just as the writer's own cell does, so that no version did it."""
    if cell.outcome != own.outcome:
        return False
    if cell.outcome == "changed":
        seen = {(difference.path, difference.got) for difference in own.diff}
        return all((each.path, each.got) in seen for each in cell.diff)
    if cell.error is None or own.error is None:
        return cell.error is own.error
    return (cell.error.stage, _base_name(cell.error.type)) == (
        own.error.stage,
        _base_name(own.error.type),
    )


def stale(known: Sequence[Known], cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return a sentence for each entry of `known` that no cell breaks any more."""
    return tuple(
        f"{entry.key} ({entry.reason}) matches no break any more: take it out."
        for entry in known
        if not any(cell.is_break and _matches(entry, cell) for cell in cells)
    )


def _cells(
    evidence: Evidence, writer: str, reader: str, serializer: str, payload: str
) -> Iterator[Cell]:
    blank = Cell(writer, reader, serializer, payload, (), "skipped")
    meaning = evidence.writes[writer].meanings[payload]
    written = evidence.writes[writer].written.get((payload, serializer))
    refused = _not_written(evidence, writer, serializer, meaning, written)
    if refused is not None:
        if writer == reader:  # said once, not once per reader
            yield _with_finding(blank, refused)
        return
    assert written is not None
    assert written.blob is not None
    way = direction(evidence.environments[writer], evidence.environments[reader])
    blank = dataclasses.replace(blank, direction=None if writer == reader else way)
    for variant in evidence.variants[written.blob]:
        cell = dataclasses.replace(blank, via=variant.via)
        if variant.blob is None:
            if writer == reader:
                yield _with_finding(cell, Finding("unstorable", variant.error))
            continue
        key = ReadKey(serializer, payload, variant.blob, written.text)
        finding = _finding(evidence, writer, reader, key)
        own = finding if writer == reader else _finding(evidence, writer, writer, key)
        yield _with_finding(cell, finding, is_break=_is_break(cell, finding, own))


def _not_written(
    evidence: Evidence, writer: str, serializer: str, meaning: Meaning, written: Written | None
) -> Finding | None:
    """Return why there is nothing to read, or None."""
    if meaning.outcome != "built":
        return _skipped("build", meaning.reason or meaning.outcome)
    if meaning.unstable:
        return _skipped("build", "the payload is another value each time it is built")
    if serializer in evidence.writes[writer].lacking:
        return _skipped("dump", evidence.writes[writer].lacking[serializer])
    if written is None:
        return _skipped("dump", "its worker ended before it came to this payload")
    if written.outcome == "written":
        return None
    return Finding("crashed" if written.outcome == "crashed" else "unwritable", written.error)


def _finding(evidence: Evidence, writer: str, reader: str, key: ReadKey) -> Finding:
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
    return _loaded(evidence, evidence.writes[writer].meanings[key.payload], own, result)


def _loaded(
    evidence: Evidence, writers: Meaning, own: Meaning | None, result: ReadResult
) -> Finding:
    if own is not None and own.outcome == "built":
        diff = next(iter(result.differences.values()), ())
    else:
        diff = result.differences.get(writers.probe or "") or result.differences.get(
            writers.expected or "", ()
        )
    if diff:
        return Finding("changed", diff=diff)
    if result.again:
        return Finding("changed", diff=tuple(map(_on_second_load, result.again)))
    if own is None or own.outcome != "built":
        return Finding("ok")
    drifted = tuple(evidence.drift(*_comparable(writers, own)))
    return Finding("drifted", diff=drifted) if drifted else Finding("ok")


def _comparable(writers: Meaning, readers: Meaning) -> tuple[str, str]:
    """Return the descriptions by which two environments' own values can be compared."""
    if writers.probe is not None and readers.probe is not None:
        return writers.probe, readers.probe
    return writers.expected or "", readers.expected or ""


def _on_second_load(difference: Difference) -> Difference:
    return dataclasses.replace(difference, got=f"{difference.got} on a second load")


def _is_break(cell: Cell, finding: Finding, own: Finding) -> bool:
    return (
        not cell.own
        and finding.outcome in {"changed", "unreadable", "crashed"}
        and not same_way(finding, own)
    )


def _with_finding(cell: Cell, finding: Finding, *, is_break: bool = False) -> Cell:
    return dataclasses.replace(
        cell,
        outcome=finding.outcome,
        error=finding.error,
        diff=finding.diff[:MOST_DIFFERENCES],
        is_break=is_break,
    )


def _skipped(stage: str, reason: str) -> Finding:
    return Finding("skipped", Error(stage, "Skipped", reason))  # type: ignore[arg-type]


def _excused(cell: Cell, known: Sequence[Known]) -> Cell:
    if not cell.is_break:
        return cell
    reason = next((entry.reason for entry in known if _matches(entry, cell)), None)
    return dataclasses.replace(cell, known=reason)


def _matches(entry: Known, cell: Cell) -> bool:
    return all(
        value == pattern or fnmatchcase(value, pattern)
        for value, pattern in (
            (cell.writer, entry.writer),
            (cell.reader, entry.reader),
            (cell.serializer, entry.serializer),
            (cell.payload, entry.payload),
        )
    )


def _explained(cell: Cell, hints: Hints) -> Cell:
    hint = hints.find(cell)
    return cell if hint is None else dataclasses.replace(cell, cause=hint.code, hint=hint.text)


def _base_name(name: str) -> str:
    return name.rpartition(".")[2]
