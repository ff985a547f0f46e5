"""What every report shows, found once: the grid of pairs, breaks by cause, limits of serializers.

Pure functions from a report to small frozen values; renderers only lay these out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    PayloadRecord,
    Report,
    ServerRecord,
    StoreRecord,
)
from memory_matrix.report.visible import counted

Mark = Literal[
    "crashed",
    "unreadable",
    "changed",
    "known",
    "drifted",
    "own failure",
    "lossy",
    "unwritable",
    "unstorable",
    "ok",
    "skipped",
]
"""What a cell means to the reader of a report: its outcome, unless that is no break or a known one."""

MEANINGS: Mapping[Mark, str] = {
    "crashed": "the reader died or ran out of time",
    "unreadable": "loading or using it raised",
    "changed": "loaded, but not equal to what the reader builds itself",
    "known": "breaks as a [[known]] entry expects",
    "drifted": "equal to what the reader builds, not to what the writer had",
    "own failure": "fails even in the environment that wrote it",
    "lossy": "changed even in the environment that wrote it: a limit of the serializer",
    "unwritable": "the serializer refused a payload",
    "unstorable": "a server refused the bytes",
    "ok": "equal, or failing only as it does where it was written",
    "skipped": "nothing was run",
}
"""The marks, worst first."""

SYMBOLS: Mapping[Mark, str] = {
    "crashed": "✗",
    "unreadable": "✗",
    "changed": "✗",
    "known": "○",
    "drifted": "≠",
    "own failure": "!",
    "lossy": "~",
    "unwritable": "-",
    "unstorable": "-",
    "ok": "✓",
    "skipped": "·",
}

LIMITS: Mapping[str, frozenset[str]] = {
    "Fails in the environment that wrote it": frozenset({"crashed", "unreadable"}),
    "Lossy: changed in the environment that wrote it": frozenset({"changed"}),
    "Refused by the serializer or by a server": frozenset({"unwritable", "unstorable"}),
}
"""Titles and outcomes of own cells: what no version did."""

FIXED = "Fixed since the baseline"
"""The title of the breaks that the baseline had and this run has not."""

STALE = "Known entries that excuse nothing"
"""The title of `stale_known`: entries that ran out, or match no break any more."""

_SEVERITY = {mark: number for number, mark in enumerate(MEANINGS)}

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Entry:
    """The worst that happened between one writer and one reader, and how often."""

    mark: Mark
    count: int


@dataclass(frozen=True)
class Grid:
    """The environments that are shown, and what happened between each two of them."""

    names: tuple[str, ...]
    entries: Mapping[tuple[str, str], Entry]
    """By writer and reader; a pair without cells is not there."""
    left_out: int
    """Environments that are not shown because others are worse."""
    hidden_breaks: int
    """Breaks of which the writer or the reader is not shown."""


@dataclass(frozen=True)
class Group:
    """Cells with one outcome and one cause."""

    outcome: str
    cause: str | None
    hint: str | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Flow:
    """Every one of `writers` to every one of `readers`, but not to itself."""

    writers: tuple[str, ...]
    readers: tuple[str, ...]
    directions: tuple[str, ...]
    pairs: int


@dataclass(frozen=True)
class Finding:
    """The same thing for all these serializers and payloads, between all pairs in `flows`."""

    serializers: tuple[str, ...]
    payloads: tuple[str, ...]
    flows: tuple[Flow, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Limit:
    """What one serializer (or a server, with its bytes) cannot do, whatever the version."""

    outcome: str
    serializer: str
    causes: tuple[str, ...]
    payloads: tuple[str, ...]
    environments: tuple[str, ...]
    """Those where it shows; empty for all that wrote anything."""
    example: Cell


@dataclass(frozen=True)
class Skip:
    """Cells that were not run for one reason."""

    reason: str
    cells: int
    environments: tuple[str, ...]
    """Those that the reason is about: the writers, or, where loading was skipped, the readers."""
    serializers: tuple[str, ...]
    payloads: tuple[str, ...]


@dataclass(frozen=True)
class Problem:
    """Payloads that some environments could not build, for one reason."""

    status: str
    reason: str
    payloads: tuple[str, ...]
    environments: tuple[str, ...]


@dataclass(frozen=True)
class KnownBreaks:
    """Breaks that one `[[known]]` entry expects."""

    reason: str
    cells: tuple[Cell, ...]


def mark(cell: Cell) -> Mark:
    """Return what `cell` means to the reader of a report."""
    if cell.is_break and cell.known is not None:
        return "known"
    if cell.is_break:
        return cell.outcome
    if cell.outcome == "changed":
        return "lossy"
    return "own failure" if cell.outcome in {"unreadable", "crashed"} else cell.outcome


def breaks(report: Report) -> tuple[Cell, ...]:
    """Return the breaks that no `[[known]]` entry expects."""
    return tuple(cell for cell in report.cells if cell.is_break and cell.known is None)


def ready(report: Report) -> tuple[EnvironmentRecord, ...]:
    """Return the environments that could be had."""
    return tuple(each for each in report.environments if each.status == "ready")


def unavailable(report: Report) -> dict[str, frozenset[str]]:
    """Return the names of environments, servers and stores that could not be had, by what they are."""
    kinds: dict[str, Iterable[EnvironmentRecord | ServerRecord | StoreRecord]] = {
        "environment": report.environments,
        "server": report.servers,
        "store": report.stores,
    }
    return {
        noun: frozenset(each.name for each in records if each.status == "unavailable")
        for noun, records in kinds.items()
    }


def grid(report: Report, most: int) -> Grid:
    """Return the worst of each pair, for at most `most` environments, the worst ones."""
    found: dict[tuple[str, str], Counter[Mark]] = defaultdict(Counter)
    for cell in report.cells:
        found[cell.writer, cell.reader][_grid_mark(cell)] += 1
    entries = {pair: _worst(counts) for pair, counts in found.items()}
    every = unique(
        [*(each.name for each in ready(report)), *(name for key in found for name in key)]
    )
    kept = frozenset(sorted(every, key=_badness(entries))[:most])
    return Grid(
        tuple(name for name in every if name in kept),
        {pair: entry for pair, entry in entries.items() if kept.issuperset(pair)},
        len(every) - len(kept),
        sum(
            cell.is_break and not kept.issuperset((cell.writer, cell.reader))
            for cell in report.cells
        ),
    )


def left_out(grid: Grid) -> str:
    """Return a sentence on the environments that `grid` does not show."""
    number = counted(grid.left_out, "environment")
    return f"{number} with nothing worse, in {counted(grid.hidden_breaks, 'break')}, not shown."


def _grid_mark(cell: Cell) -> Mark:
    """Return the mark of `cell`; what the writer's own cell shows too is shown there only."""
    found = mark(cell)
    return "ok" if not cell.own and found in {"lossy", "own failure"} else found


def _worst(counts: Counter[Mark]) -> Entry:
    worst = min(counts, key=_SEVERITY.__getitem__)
    return Entry(worst, counts[worst])


def _badness(entries: Mapping[tuple[str, str], Entry]) -> Callable[[str], tuple[int, int]]:
    """Return a key that sorts environments by the worst that they take part in, worst first."""
    keys: dict[str, tuple[int, int]] = {}
    for pair, entry in entries.items():
        for name in set(pair):
            worst, count = keys.get(name, (len(_SEVERITY), 0))
            severity = _SEVERITY[entry.mark]
            if severity < worst:
                keys[name] = severity, -entry.count
            elif severity == worst:
                keys[name] = worst, count - entry.count
    return lambda name: keys.get(name, (len(_SEVERITY), 0))


def groups(cells: Iterable[Cell]) -> tuple[Group, ...]:
    """Return `cells` by outcome and cause: crashed, unreadable, changed, others; then by number."""
    found = by(cells, lambda cell: (cell.outcome, cell.cause, cell.hint, _kind(cell)))
    every = [Group(*key[:3], tuple(members)) for key, members in found.items()]
    rank = {"crashed": 0, "unreadable": 1, "changed": 2}
    return tuple(sorted(every, key=lambda each: (rank.get(each.outcome, 3), -len(each.cells))))


def _kind(cell: Cell) -> tuple[str, str] | None:
    """Return what holds cells without a cause together."""
    if cell.cause is not None or cell.error is None:
        return None
    return cell.error.stage, cell.error.type


def findings(cells: Iterable[Cell]) -> tuple[Finding, ...]:
    """Return `cells` with what is equal merged, most cells first.

    Payloads between the same pairs are merged, then serializers with the same payloads.
    """
    by_what = by(cells, lambda cell: (cell.serializer, cell.payload))
    by_pairs = by(by_what, lambda what: frozenset((c.writer, c.reader) for c in by_what[what]))
    merged = [
        _finding([cell for key in keys for cell in by_what[key]])
        for whats in by_pairs.values()
        for keys in _rectangles(whats)
    ]
    return tuple(sorted(merged, key=lambda each: -len(each.cells)))


def _finding(cells: list[Cell]) -> Finding:
    return Finding(
        unique(cell.serializer for cell in cells),
        unique(cell.payload for cell in cells),
        _flows(cells),
        tuple(cells),
    )


def _rectangles(whats: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Split pairs of serializer and payload so that each part is every one with every one."""
    by_serializer = by(whats, lambda what: what[0])
    payloads = {name: frozenset(what[1] for what in own) for name, own in by_serializer.items()}
    for serializers in by(by_serializer, payloads.__getitem__).values():
        yield [what for name in serializers for what in by_serializer[name]]


def _flows(cells: Iterable[Cell]) -> tuple[Flow, ...]:
    """Return the pairs of `cells` as few flows: writers that have their readers in common."""
    directions = {(cell.writer, cell.reader): cell.direction for cell in cells}
    readers = {
        writer: tuple(reader for _, reader in pairs)
        for writer, pairs in by(directions, lambda pair: pair[0]).items()
    }
    exact = by(readers, lambda writer: frozenset(readers[writer]))
    each_other = by(readers, lambda writer: frozenset((writer, *readers[writer])))
    parts = min(exact, each_other, key=len)
    return tuple(_flow(writers, readers, directions) for writers in parts.values())


def _flow(
    writers: list[str],
    readers: Mapping[str, tuple[str, ...]],
    directions: Mapping[tuple[str, str], str | None],
) -> Flow:
    pairs = [(writer, reader) for writer in writers for reader in readers[writer]]
    ways = unique(directions[pair] or "" for pair in pairs)
    return Flow(
        tuple(writers),
        unique(reader for _, reader in pairs),
        tuple(filter(None, ways)),
        len(pairs),
    )


def known_breaks(report: Report) -> tuple[KnownBreaks, ...]:
    """Return the breaks that are expected, by the reason that the matrix file gives."""
    cells = (cell for cell in report.cells if cell.is_break and cell.known is not None)
    found = by(cells, lambda cell: cell.known or "")
    return tuple(KnownBreaks(reason, tuple(members)) for reason, members in found.items())


def limits(report: Report, outcomes: frozenset[str], *, by_cause: bool) -> tuple[Limit, ...]:
    """Return the own cells with one of `outcomes` by serializer, and by cause if asked for.

    Each payload is there once, however many environments it shows in.
    """
    own = [cell for cell in report.cells if cell.own]
    writers = unique(cell.writer for cell in own if cell.outcome != "skipped")
    found = by(
        (cell for cell in own if cell.outcome in outcomes),
        lambda cell: (cell.serializer, cell.outcome, by_cause and (cell.cause, _kind(cell))),
    )
    return tuple(_limit(cells, writers) for cells in found.values())


def _limit(cells: list[Cell], writers: tuple[str, ...]) -> Limit:
    first = cells[0]
    environments = unique(cell.writer for cell in cells)
    return Limit(
        first.outcome,
        first.serializer,
        unique(cell.cause for cell in cells if cell.cause is not None),
        unique(cell.payload for cell in cells),
        () if len(environments) == len(writers) else environments,
        first,
    )


def skips(report: Report) -> tuple[Skip, ...]:
    """Return the cells that were not run by reason, without those that `problems` explains."""
    explained = {(each.environment, each.payload) for each in report.payloads}
    cells = (
        cell
        for cell in report.cells
        if cell.outcome == "skipped" and not _explained(cell, explained)
    )
    found = by(cells, lambda cell: (_reader_side(cell), cell.error and cell.error.message))
    every = (_skip(members) for members in found.values())
    return tuple(sorted(every, key=lambda each: -each.cells))


def _explained(cell: Cell, payloads: set[tuple[str, str]]) -> bool:
    if cell.error is None or cell.error.stage != "build":
        return False
    return (cell.writer, cell.payload) in payloads or (cell.reader, cell.payload) in payloads


def _reader_side(cell: Cell) -> bool:
    return cell.error is not None and cell.error.stage in {"load", "use"}


def _skip(cells: list[Cell]) -> Skip:
    error = cells[0].error
    return Skip(
        "no reason was given" if error is None else error.message,
        len(cells),
        unique(cell.reader if _reader_side(cell) else cell.writer for cell in cells),
        unique(cell.serializer for cell in cells),
        unique(cell.payload for cell in cells),
    )


def problems(records: Iterable[PayloadRecord]) -> tuple[Problem, ...]:
    """Return what environments could not build, with equal reasons merged."""
    alike = by(records, lambda each: (each.status, each.reason, each.payload))
    places = {key: unique(each.environment for each in own) for key, own in alike.items()}
    merged = by(alike, lambda key: (key[0], key[1], places[key]))
    return tuple(
        Problem(status, reason, tuple(key[2] for key in keys), environments)
        for (status, reason, environments), keys in merged.items()
    )


def by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return `items` by their keys, both in their order."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def unique(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return each of `items` once, in their order."""
    return tuple(dict.fromkeys(items))
