"""The one model behind every report, and its form in report.json.

Field names are those of report.json, except `Cell.is_break`, whose name there (`break`) is a keyword
here. `schema` is raised when a field changes meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any, Literal

from memory_matrix.matrix.model import Direction, FailOn, ServerKind
from memory_matrix.matrix.select import Part
from memory_matrix.report.decoding import MalformedError, decoder

SCHEMA = 1

Outcome = Literal[
    "ok", "changed", "drifted", "unreadable", "unwritable", "unstorable", "crashed", "skipped"
]
SuiteOutcome = Literal["passed", "failed", "error", "not-offered", "waived", "skipped"]
"""Of a case: `error` is the harness's failure, not the store's; `waived` ones failed as expected."""
StrategyName = Literal["full", "pairwise", "axis-star"]
Status = Literal["ready", "unavailable"]

REQUIRED: Mapping[str, object] = {"required": True}
"""Marks a field that report.json must have although the model has a default for it."""

OUTCOMES: tuple[Outcome, ...] = (
    "ok",
    "changed",
    "drifted",
    "unreadable",
    "unwritable",
    "unstorable",
    "crashed",
    "skipped",
)

SUITE_OUTCOMES: tuple[SuiteOutcome, ...] = (
    "passed",
    "failed",
    "error",
    "not-offered",
    "waived",
    "skipped",
)


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """An environment as it was had, with the exact versions installed."""

    name: str
    python: str
    """The interpreter's own version, `3.11.7`; as asked for where it could not be had."""
    packages: Mapping[str, str] = field(default_factory=dict)
    status: Status = field(default="ready", metadata=REQUIRED)
    reason: str | None = None
    requires: tuple[str, ...] = ()
    """The requirements that the matrix file asks for."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables set in this environment only."""
    interpreter_missing: bool = False
    """Whether this machine only lacks the interpreter: no error where the run is not strict."""
    suite_packages: Mapping[str, str] = field(default_factory=dict)
    """Where compat and the suite both ran: what the suite's own environment had otherwise than
    `packages`, since pytest and the servers' clients were resolved with them."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long it took to `build` it, and its workers to `write` and to `read`."""


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A server as it was had; `version` is what the server says of itself."""

    name: str
    kind: ServerKind
    version: str | None
    source: str
    status: Status = field(default="ready", metadata=REQUIRED)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """What was raised, without addresses and temporary paths."""

    stage: Literal["build", "dump", "store", "load", "use"]
    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where what was loaded is not what was expected. `path` reads like `$.ts[3]`."""

    path: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What became of one payload, written in one environment and read in another."""

    writer: str
    reader: str
    serializer: str
    payload: str
    via: tuple[str, ...] = field(default=(), metadata=REQUIRED)
    """The slots that gave back these bytes, such as `redis:8.0/string`."""
    outcome: Outcome = field(default="skipped", metadata=REQUIRED)
    is_break: bool = field(default=False, metadata={"key": "break", **REQUIRED})
    known: str | None = None
    """The reason of the `[[known]]` entry that expects this break."""
    direction: Direction | None = None
    """None for an own cell."""
    error: Error | None = None
    diff: tuple[Difference, ...] = ()
    cause: str | None = None
    """A hint code such as `MM103`."""
    hint: str | None = None
    new: bool | None = None
    """Of a break: whether the baseline's run had it not, or excused it where this one does not. None
    without a baseline."""

    @property
    def own(self) -> bool:
        """Whether the reader is the writer."""
        return self.writer == self.reader

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What was written and read, whatever slots it went through."""
        return self.writer, self.reader, self.serializer, self.payload


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What became of one case of the memory test suite in one environment on one set of servers."""

    environment: str
    servers: tuple[str, ...]
    store: str
    case: str
    outcome: SuiteOutcome
    reason: str | None = None
    """One paragraph: what was expected and what came; why it is not offered; the waiver's reason and
    date. None where it passed."""
    serializer: str | None = None
    """The serializer given to the store; None where the store uses its own."""
    seconds: float = 0.0
    group: str = ""
    """The letter of the case's group, A to N."""
    new: bool | None = None
    """Of a failed case: whether it did not fail in the baseline's run. None without a baseline."""


@dataclass(frozen=True, slots=True)
class StoreRecord:
    """A store as one environment had it; `policy` is what its adapter declares there."""

    name: str
    environment: str
    policy: Mapping[str, str] = field(default_factory=dict)
    status: Status = field(default="ready", metadata=REQUIRED)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the memory test suite chose among all combinations of the matrix."""

    name: StrategyName
    pairs: int
    """Pairs of values of two axes that the matrix allows."""
    covered: int
    """Those that some chosen combination has."""
    cells: int
    """Combinations of environment, servers, store and serializer that were chosen."""


@dataclass(frozen=True, slots=True)
class PayloadRecord:
    """A payload that some environment could not build, or built differently each time."""

    environment: str
    payload: str
    status: Literal["failed", "unstable", "skipped"]
    reason: str


@dataclass(frozen=True, slots=True)
class Untested:
    """A payload that no environment could build, or an environment that could read nothing."""

    what: Literal["payload", "environment"]
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A part of the matrix that was planned, and that no shard reported: never passed."""

    part: Part
    name: str
    """What was to run: `next as writer`, `next as reader`, or an environment of the suite on servers,
    `next on pg17, redis:8.0`."""
    shard: str
    """The shard that had it, `2/4`; `?/?` where that is not known either."""


@dataclass(frozen=True)
class Baseline:
    """An earlier run of the matrix that this run was compared with."""

    source: str
    """Where its report is, as the user named it."""
    fixed: tuple[Cell, ...] = ()
    """Its breaks that were run again and break no more."""
    fixed_suite: tuple[SuiteResult, ...] = ()
    """Its failed cases that were run again and failed no more."""
    gone: int = 0
    """Its breaks and failed cases of which this run does not tell: not run again, or failing now even
    where they were written."""
    notes: tuple[str, ...] = ()
    """Sentences on why it tells less than it seems to."""


@dataclass(frozen=True)
class Report:
    """Everything a run found. `cells` are in the order writer, reader, serializer, payload."""

    environments: tuple[EnvironmentRecord, ...] = field(default=(), metadata=REQUIRED)
    servers: tuple[ServerRecord, ...] = field(default=(), metadata=REQUIRED)
    cells: tuple[Cell, ...] = field(default=(), metadata=REQUIRED)
    suite: tuple[SuiteResult, ...] = field(default=(), metadata=REQUIRED)
    payloads: tuple[PayloadRecord, ...] = ()
    """What an environment could not build, with the reason."""
    stale_known: tuple[str, ...] = ()
    """Sentences on `[[known]]` entries whose break no longer breaks."""
    stores: tuple[StoreRecord, ...] = ()
    """One for each store and environment."""
    strategy: Strategy | None = None
    """None where the memory test suite was not run."""
    stale_waivers: tuple[str, ...] = ()
    """Sentences on `[[suite.waiver]]` entries that ran out, or whose case no longer fails."""
    fail_on: FailOn = "break"
    directions: tuple[Direction, ...] = ("backward", "forward", "sideways")
    version: str = ""
    """The version of memory-matrix that made it."""
    time: str | None = None
    """When the run ended: UTC, such as `2026-03-01T12:00:00Z`."""
    commit: str | None = None
    """What was checked out; None where nobody knows."""
    matrix: str | None = None
    """The matrix file; None for the built-in quick matrix."""
    digest: str = ""
    """What is run, in short: reports of equal digests are of one matrix, whatever of it is excused."""
    shard: str | None = None
    """Which part of the matrix this is, `2/4`; None for all of it, or what --select left."""
    missing: tuple[MissingPart, ...] = ()
    """Of a merged report: what no shard reported. It fails the run."""
    merged: tuple[str, ...] = ()
    """Of a merged report: what it was made of, such as `compat write 1/3`."""
    baseline: Baseline | None = None
    """None where the run was compared with no earlier one."""
    locations: Mapping[str, str] = field(default_factory=dict)
    """Where payloads of the user and store adapters are defined: `payloads.py:12`, by their names."""
    given: tuple[str, ...] = ()
    """Options of the command line that named other stores or servers for the suite, without passwords."""

    @cached_property
    def split(self) -> frozenset[tuple[str, ...]]:
        """The identities that several cells share, since servers gave back different bytes."""
        counts = Counter(cell.identity for cell in self.cells)
        return frozenset(each for each, number in counts.items() if number > 1)

    @cached_property
    def untested(self) -> tuple[Untested, ...]:
        """What was to be tested, and could not be anywhere."""
        from memory_matrix.report import untested

        return untested.find(self)

    def summary(self) -> dict[str, int]:
        """Count the cells by outcome, and the breaks and known breaks among them."""
        counts = Counter(cell.outcome for cell in self.cells)
        return {
            "cells": len(self.cells),
            **{outcome: counts[outcome] for outcome in OUTCOMES},
            "breaks": sum(cell.is_break for cell in self.cells),
            "known": sum(cell.is_break and cell.known is not None for cell in self.cells),
        }

    def suite_summary(self) -> dict[str, int]:
        """Count the results of the memory test suite by outcome."""
        counts = Counter(result.outcome for result in self.suite)
        return {
            "cases": len(self.suite),
            **{outcome: counts[outcome] for outcome in SUITE_OUTCOMES},
        }


def to_json(report: Report) -> dict[str, Any]:
    """Return `report` as report.json holds it."""
    return {
        "schema": SCHEMA,
        "version": report.version,
        "time": report.time,
        "commit": report.commit,
        "matrix": report.matrix,
        "given": list(report.given),
        "digest": report.digest,
        "shard": report.shard,
        "missing": [_plain(item) for item in report.missing],
        "merged": list(report.merged),
        "baseline": None if report.baseline is None else baseline_to_json(report.baseline),
        "locations": dict(report.locations),
        "fail_on": report.fail_on,
        "directions": list(report.directions),
        "summary": report.summary(),
        "suite_summary": report.suite_summary(),
        "environments": [_plain(item) for item in report.environments],
        "servers": [_plain(item) for item in report.servers],
        "payloads": [_plain(item) for item in report.payloads],
        "stale_known": list(report.stale_known),
        "stores": [_plain(item) for item in report.stores],
        "strategy": None if report.strategy is None else _plain(report.strategy),
        "stale_waivers": list(report.stale_waivers),
        "cells": [cell_to_json(cell) for cell in report.cells],
        "suite": [result_to_json(result) for result in report.suite],
    }


def from_json(data: object) -> Report:
    """Return the report that `to_json` made `data` from. Keys that it does not know are left out.

    Raises:
        ValueError: `data` is not such a report; says what is wrong and where.
    """
    schema = data.get("schema") if isinstance(data, Mapping) else None
    if type(schema) is not int:
        raise MalformedError("it is not a report of memory-matrix")
    if schema != SCHEMA:
        raise MalformedError(f"its schema is {schema}, this release reads {SCHEMA}")
    report: Report = decoder(Report)(data)
    return report


def failing(report: Report) -> tuple[Cell, ...]:
    """Return the cells that make the run fail: what `fail_on` names and what is worse.

    With `new-breaks` and no baseline every break is new: nothing is excused by what is not known.
    """
    return tuple(cell for cell in report.cells if _fails(cell, report))


def failing_suite(report: Report) -> tuple[SuiteResult, ...]:
    """Return the cases that make the run fail: those that failed, unless `fail_on` is `never`.

    With `new-breaks`, those that failed in the baseline's run too are let pass.
    """
    if report.fail_on == "never":
        return ()
    failed = _of_outcome(report, "failed")
    if report.fail_on == "new-breaks":
        return tuple(each for each in failed if each.new is not False)
    return failed


def broken_suite(report: Report) -> tuple[SuiteResult, ...]:
    """Return the cases that could not be run for a failure of the harness; no finding."""
    return _of_outcome(report, "error")


def _of_outcome(report: Report, outcome: SuiteOutcome) -> tuple[SuiteResult, ...]:
    return tuple(result for result in report.suite if result.outcome == outcome)


def _fails(cell: Cell, report: Report) -> bool:
    if report.fail_on == "never" or cell.known is not None or cell.outcome in {"ok", "skipped"}:
        return False
    if cell.direction is not None and cell.direction not in report.directions:
        return False
    if cell.is_break:
        return report.fail_on != "new-breaks" or cell.new is not False
    if report.fail_on == "drifted":
        return cell.outcome == "drifted"
    return report.fail_on == "changed"


def _plain(item: Any) -> dict[str, Any]:
    return {name: _value(getattr(item, name)) for name in _names(item.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _value(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def cell_to_json(cell: Cell) -> dict[str, Any]:
    """Return `cell` as report.json holds it."""
    return {
        "writer": cell.writer,
        "reader": cell.reader,
        "serializer": cell.serializer,
        "payload": cell.payload,
        "via": list(cell.via),
        "outcome": cell.outcome,
        "break": cell.is_break,
        "known": cell.known,
        "direction": cell.direction,
        "error": None if cell.error is None else _plain(cell.error),
        "diff": [_plain(item) for item in cell.diff],
        "cause": cell.cause,
        "hint": cell.hint,
        "new": cell.new,
    }


def baseline_to_json(baseline: Baseline) -> dict[str, Any]:
    """Return `baseline` as report.json holds it."""
    return {
        "source": baseline.source,
        "fixed": [cell_to_json(each) for each in baseline.fixed],
        "fixed_suite": [result_to_json(each) for each in baseline.fixed_suite],
        "gone": baseline.gone,
        "notes": list(baseline.notes),
    }


def result_to_json(result: SuiteResult) -> dict[str, Any]:
    """Return `result` as report.json holds it."""
    return _plain(result)
