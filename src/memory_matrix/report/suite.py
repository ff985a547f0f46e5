"""What every report shows of the memory test suite, found once: counts, failures and where, policies.

Pure functions from a report to small frozen values and sentences; renderers only lay these out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from memory_matrix.report.baseline import Changes, identity, suite_changes
from memory_matrix.report.grouping import by, unique
from memory_matrix.report.model import (
    SUITE_OUTCOMES,
    Report,
    StoreRecord,
    SuiteOutcome,
    SuiteResult,
)
from memory_matrix.report.visible import NAME, counted, visible

MEANINGS: Mapping[SuiteOutcome, str] = {
    "passed": "the store did what the case expects",
    "failed": "the store did something else",
    "error": "the case itself could not be run, which says nothing about the store",
    "not-offered": "the store's policy or abilities rule the case out",
    "waived": "failed as a [[suite.waiver]] entry expects",
    "skipped": "nothing was run",
}

STALE = "Waivers that excuse nothing"
"""The title of `stale_waivers`: entries that ran out, or whose case fails no more."""

SYMBOLS: Mapping[SuiteOutcome, str] = {
    "passed": "✓",
    "failed": "✗",
    "error": "!",
    "not-offered": "-",
    "waived": "○",
    "skipped": "·",
}

TROUBLES: Mapping[SuiteOutcome, str] = {
    "failed": "Failed cases",
    "error": "Cases that could not be run",
}
"""Titles of what went wrong, worst first."""

FIXED = "Cases fixed since the baseline"
"""The title of what `fixed` returns."""

NO_REASON = "no reason was given"

Names = Callable[[Sequence[str]], str]
"""How a renderer shows a list of names."""

_VERDICT: Mapping[SuiteOutcome, str] = {
    "failed": "failed",
    "error": "could not be run",
    "waived": "waived",
    "not-offered": "not offered",
    "skipped": "skipped",
    "passed": "passed",
}
"""The words of the verdict, in its order where something is wrong."""

_RAN: frozenset[SuiteOutcome] = frozenset({"passed", "failed", "error", "waived"})

_Place = tuple[str, ...]
"""The environment, the serializer and the servers of one cell of a store and case."""


@dataclass(frozen=True)
class Row:
    """How often each outcome came about on one store in one environment on one set of servers."""

    store: str
    environment: str
    servers: tuple[str, ...]
    counts: Mapping[SuiteOutcome, int]


@dataclass(frozen=True)
class Grid:
    """Stores by environments and servers, as many rows as are shown."""

    outcomes: tuple[SuiteOutcome, ...]
    """Those that came about."""
    rows: tuple[Row, ...]
    """By store."""
    left_out: tuple[Row, ...]
    """Rows that are not shown because others are worse."""


@dataclass(frozen=True)
class Area:
    """Each of these environments with each of these serializers and servers; empty: not said."""

    environments: tuple[str, ...]
    serializers: tuple[str, ...]
    servers: tuple[str, ...]
    cells: int


@dataclass(frozen=True)
class Where:
    """The cells in which something is so, as few areas."""

    extent: Literal["everywhere", "only", "some"]
    """`only`: a single area, of which that is said in which it is narrower than all cells."""
    areas: tuple[Area, ...]


@dataclass(frozen=True)
class _Cells:
    """All cells of one store, or of one case on it, which others are compared with."""

    serializers: bool
    """Whether any of them has a serializer of its own."""
    servers: int
    """The most servers that any of them has."""
    places: Mapping[_Place, int] = field(default_factory=dict)
    """Each of them, with its number."""
    sides: tuple[tuple[str, ...], ...] = ()
    """Their values on each axis."""

    @classmethod
    def of(cls, results: Iterable[SuiteResult]) -> _Cells:
        """Return the cells of `results`."""
        every = list(results)
        axes = cls(any(each.serializer for each in every), max(len(each.servers) for each in every))
        places = unique(map(axes.place, every))
        numbers = {place: number for number, place in enumerate(places)}
        return replace(axes, places=numbers, sides=_sides(places))

    def place(self, result: SuiteResult) -> _Place:
        """Return the environment, the serializer and the servers of `result`."""
        serializer = result.serializer or ("the store's own" if self.serializers else "")
        lacking = ("no server",) * (self.servers - len(result.servers))
        return result.environment, serializer, *result.servers, *lacking

    def where(self, results: Iterable[SuiteResult]) -> Where:
        """Return which of the cells those of `results` are."""
        own = sorted(set(map(self.place, results)), key=self.places.__getitem__)
        if len(own) == len(self.places):
            return Where("everywhere" if len(own) > 1 else "some", _areas(own))
        sides = _sides(own)
        if len(own) != prod(map(len, sides)) and len(own) != _inside(self.places, sides):
            return Where("some", _areas(own))
        pairs = zip(sides, self.sides, strict=True)
        narrow = [() if len(mine) == len(of_all) else mine for mine, of_all in pairs]
        return Where("only", (_area(narrow, len(own)),))


@dataclass(frozen=True)
class Message:
    """What was said of a case, and where."""

    text: str
    results: tuple[SuiteResult, ...]
    among: _Cells

    @property
    def where(self) -> Where:
        """The cells in which it was said, among those in which the case was run."""
        return self.among.where(self.results)


@dataclass(frozen=True)
class Trouble:
    """One case that failed, or could not be run, on one store."""

    outcome: SuiteOutcome
    store: str
    case: str
    group: str
    cells: int
    ran: int
    """Cells in which it was run."""
    messages: tuple[Message, ...]
    """Each once, the most frequent first."""
    terms: tuple[tuple[str, str], ...]
    """Keys and values of --select that run one of the cells alone."""


@dataclass(frozen=True)
class Excuse:
    """Cases of one store that were not held against it, for one reason, in the same cells."""

    store: str
    reason: str
    cases: tuple[str, ...]
    results: tuple[SuiteResult, ...]
    among: _Cells

    @property
    def where(self) -> Where:
        """The cells in which it is so, among all of the store."""
        return self.among.where(self.results)


@dataclass(frozen=True)
class PolicyDifference:
    """One line of a policy that is not the same in all environments."""

    line: str
    answers: tuple[tuple[str | None, tuple[str, ...]], ...]
    """Each answer with its environments; None where the line is not declared."""


@dataclass(frozen=True)
class Policy:
    """What a store declares, compared between the environments that have it."""

    store: str
    environments: tuple[str, ...]
    shared: Mapping[str, str]
    """What is the same in all of them."""
    differences: tuple[PolicyDifference, ...]


@dataclass(frozen=True)
class Absence:
    """A store that some environments could not have, for one reason."""

    store: str
    reason: str
    environments: tuple[str, ...]


def asked_for(report: Report) -> bool:
    """Return whether the run was to run the memory test suite, whatever came of it."""
    return bool(report.suite or report.stores) or report.strategy is not None


def verdict(report: Report) -> str:
    """Return in one sentence how the cases went; never as passed where none was run."""
    counts = report.suite_summary()
    found = [outcome for outcome in _VERDICT if counts[outcome]]
    if not found:
        return "Nothing was tested: the report has no cases."
    if not counts["failed"] + counts["error"]:
        found.sort(key=lambda outcome: outcome != "passed")
    first, *others = found
    changes = suite_changes(report)
    since = changed(changes, "still failing") if first == "failed" else only_fixed(changes)
    parts = [f"{counted(counts[first], 'case')} {_VERDICT[first]}{since}"]
    parts += [f"{counts[each]:,} {_VERDICT[each]}" for each in others]
    if _RAN.isdisjoint(found):
        return f"Nothing was tested: {', '.join(parts)}."
    environments = {each.environment for each in report.suite if each.outcome in _RAN}
    return f"{', '.join(parts)} in {counted(len(environments), 'environment')}."


def changed(changes: Changes | None, still: str) -> str:
    """Return ` (1 new, 2 fixed, 3 still broken)`, the last in the words of `still`; nothing without
    a baseline."""
    if changes is None:
        return ""
    return f" ({changes.new:,} new, {changes.fixed:,} fixed, {changes.still:,} {still})"


def only_fixed(changes: Changes | None) -> str:
    """Return ` (2 fixed)`, where nothing is broken; nothing where nothing was fixed."""
    return f" ({changes.fixed:,} fixed)" if changes and changes.fixed else ""


def tally(report: Report) -> str:
    """Return how many cases had each outcome, such as `391 passed, 3 failed`."""
    counts = report.suite_summary()
    parts = [f"{counts[each]:,} {each}" for each in SUITE_OUTCOMES if counts[each]]
    return ", ".join(parts) or "no cases"


def strategy(report: Report) -> str:
    """Return how the cells were chosen; nothing where that is not known."""
    chosen = report.strategy
    if chosen is None:
        return ""
    pairs = f"{chosen.covered:,} of {counted(chosen.pairs, 'value pair')} covered"
    return f"Strategy {chosen.name}: {counted(chosen.cells, 'combination')}, {pairs}."


def grid(report: Report, most: int) -> Grid:
    """Return the counts of each store, environment and servers: at most `most` rows, the worst."""
    found: dict[tuple[str, str, tuple[str, ...]], Counter[SuiteOutcome]] = {}
    for each in report.suite:
        counts = found.setdefault((each.store, each.environment, each.servers), Counter())
        counts[each.outcome] += 1
    rows = [Row(*key, counts) for key, counts in found.items()]
    kept = frozenset(map(id, sorted(rows, key=_badness)[:most]))
    by_store = [row for own in by(rows, lambda row: row.store).values() for row in own]
    return Grid(
        tuple(each for each in SUITE_OUTCOMES if any(row.counts[each] for row in rows)),
        tuple(row for row in by_store if id(row) in kept),
        tuple(row for row in by_store if id(row) not in kept),
    )


def _badness(row: Row) -> tuple[int, ...]:
    """Return a key that sorts the worst row first."""
    return tuple(-row.counts[outcome] for outcome in ("failed", "error", "waived", "skipped"))


def left_out(grid: Grid) -> str:
    """Return a sentence on the rows that `grid` does not show."""
    failed = sum(row.counts["failed"] for row in grid.left_out)
    number = counted(len(grid.left_out), "row")
    return f"{number} with nothing worse, with {counted(failed, 'failed case')}, not shown."


def trouble_lists(report: Report) -> dict[str, tuple[Trouble, ...]]:
    """Return what went wrong by the titles of its lists, worst first; what is new before that where
    there is a baseline."""
    by_title = {
        title: [each for each in report.suite if each.outcome == outcome]
        for outcome, title in TROUBLES.items()
    }
    if report.baseline is not None:
        failed = by_title.pop(TROUBLES["failed"])
        new = [each for each in failed if each.new is not False]
        still = [each for each in failed if each.new is False]
        by_title = {"New failed cases": new, "Cases that still fail": still, **by_title}
    return {
        f"{title} ({len(results):,})": _troubles(report, results)
        for title, results in by_title.items()
    }


def troubles(report: Report, outcome: SuiteOutcome) -> tuple[Trouble, ...]:
    """Return the cases with `outcome` by store and case: those that happen most often first."""
    return _troubles(report, [each for each in report.suite if each.outcome == outcome])


def _troubles(report: Report, results: Iterable[SuiteResult]) -> tuple[Trouble, ...]:
    bad = by(results, lambda each: (each.store, each.case))
    near = (each for each in report.suite if (each.store, each.case) in bad)
    members = by(near, lambda each: (each.store, each.case))
    every = (_trouble(members[what], own) for what, own in bad.items())
    return tuple(sorted(every, key=lambda each: -each.cells))


def _trouble(members: list[SuiteResult], own: list[SuiteResult]) -> Trouble:
    ran = [each for each in members if each.outcome in _RAN]
    cells = _Cells.of(ran)
    messages = (
        Message(reason, tuple(results), cells)
        for reason, results in by(own, lambda each: each.reason or NO_REASON).items()
    )
    return Trouble(
        own[0].outcome,
        own[0].store,
        own[0].case,
        own[0].group,
        len(own),
        len(ran),
        tuple(sorted(messages, key=lambda each: -len(each.results))),
        tuple(_terms(own[0], members)),
    )


def _terms(result: SuiteResult, members: Iterable[SuiteResult]) -> Iterator[tuple[str, str]]:
    """Yield what selects `result` among all results of its store and case."""
    yield from (("store", result.store), ("case", result.case), ("environment", result.environment))
    near = [each for each in members if each.environment == result.environment]
    if len({each.servers for each in near}) > 1:
        yield from (("server", name) for name in result.servers)
    if result.serializer is not None and len({each.serializer for each in near}) > 1:
        yield "serializer", result.serializer


def heading(trouble: Trouble) -> str:
    """Return a failing case's title, such as `order_pop_is_last (C), app.py:store: 3 of 8 cells`."""
    group = f" ({visible(trouble.group, NAME)})" if trouble.group else ""
    cells = f"{trouble.cells:,} of {counted(trouble.ran, 'cell')}"
    return f"{visible(trouble.case, NAME)}{group}, {visible(trouble.store, NAME)}: {cells}"


def excuses(report: Report, outcome: SuiteOutcome) -> tuple[Excuse, ...]:
    """Return the cases with `outcome` by store, reason and cells, most cells first."""
    stores = by(report.suite, lambda each: each.store)
    every = [
        excuse
        for members in stores.values()
        for excuse in _excuses(members, [each for each in members if each.outcome == outcome])
    ]
    return tuple(sorted(every, key=lambda each: -len(each.results)))


def fixed(report: Report) -> tuple[Excuse, ...]:
    """Return the cases that failed in the baseline and pass now by store and cells, most first."""
    had = {} if report.baseline is None else by(report.baseline.fixed_suite, identity)
    stores = by(report.suite, lambda each: each.store) if had else {}
    every = [
        excuse
        for members in stores.values()
        for excuse in _excuses(members, [each for each in members if identity(each) in had])
    ]
    return tuple(sorted(every, key=lambda each: -len(each.results)))


def _excuses(members: list[SuiteResult], own: Iterable[SuiteResult]) -> Iterator[Excuse]:
    cells = _Cells.of(members)
    by_case = by(own, lambda each: (each.reason or NO_REASON, each.case))
    places = {key: frozenset(map(cells.place, found)) for key, found in by_case.items()}
    for keys in by(by_case, lambda key: (key[0], places[key])).values():
        results = tuple(each for key in keys for each in by_case[key])
        cases = tuple(case for _, case in keys)
        yield Excuse(results[0].store, keys[0][0], cases, results, cells)


def _sides(places: Iterable[_Place]) -> tuple[tuple[str, ...], ...]:
    """Return the values of `places` on each axis."""
    return tuple(unique(values) for values in zip(*places, strict=True))


def _inside(places: Iterable[_Place], sides: Iterable[tuple[str, ...]]) -> int:
    """Return how many of `places` are within `sides`."""
    allowed = list(map(frozenset, sides))
    return sum(
        all(value in side for value, side in zip(place, allowed, strict=True)) for place in places
    )


def _areas(places: Sequence[_Place]) -> tuple[Area, ...]:
    return tuple(_area(box, prod(map(len, box))) for box in _boxes(places))


def _boxes(places: Sequence[_Place]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Split `places` so that each part is every value of an axis with every one of the others."""
    sides = _sides(places)
    if len(places) == prod(map(len, sides)):
        yield sides
        return
    rests = {
        first: tuple(place[1:] for place in own)
        for first, own in by(places, lambda place: place[0]).items()
    }
    for firsts in by(rests, lambda first: frozenset(rests[first])).values():
        for box in _boxes(rests[firsts[0]]):
            yield (tuple(firsts), *box)


def _area(sides: Sequence[tuple[str, ...]], cells: int) -> Area:
    environments, serializers, *servers = sides
    named = unique(name for side in servers for name in side)
    return Area(environments, () if serializers == ("",) else serializers, named, cells)


def in_words(where: Where, names: Names, most: int) -> str:
    """Return `where` as words, at most `most` areas of it: `only in py3.10, on pg13`."""
    parts = [_in_words(area, names) for area in where.areas[:most]]
    rest = sum(area.cells for area in where.areas[most:])
    if rest:
        parts.append(f"and {counted(rest, 'more cell')}")
    text = "; ".join(parts)
    if where.extent == "some":
        return text
    return f"everywhere: {text}" if where.extent == "everywhere" else f"only {text}"


def _in_words(area: Area, names: Names) -> str:
    parts = {"in": area.environments, "on": area.servers, "with": area.serializers}
    return ", ".join(f"{word} {names(each)}" for word, each in parts.items() if each)


def policies(report: Report) -> tuple[Policy, ...]:
    """Return what each store declares, and where that differs between environments."""
    ready = (each for each in report.stores if each.status == "ready")
    return tuple(_policy(own) for own in by(ready, lambda each: each.name).values())


def _policy(records: list[StoreRecord]) -> Policy:
    lines = unique(line for each in records for line in each.policy)
    compared = [_compared(line, records) for line in lines]
    return Policy(
        records[0].name,
        unique(each.environment for each in records),
        {each.line: each.answers[0][0] or "" for each in compared if len(each.answers) == 1},
        tuple(each for each in compared if len(each.answers) > 1),
    )


def _compared(line: str, records: Iterable[StoreRecord]) -> PolicyDifference:
    found = by(records, lambda each: each.policy.get(line))
    return PolicyDifference(
        line,
        tuple((answer, unique(each.environment for each in own)) for answer, own in found.items()),
    )


def absences(report: Report) -> tuple[Absence, ...]:
    """Return the stores that could not be had, by store and reason."""
    records = (each for each in report.stores if each.status == "unavailable")
    found = by(records, lambda each: (each.name, each.reason or NO_REASON))
    return tuple(
        Absence(*key, unique(each.environment for each in own)) for key, own in found.items()
    )
