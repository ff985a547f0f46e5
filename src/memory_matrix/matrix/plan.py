"""What a run of a matrix would do: which environments, why, and how much work. Nothing is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from memory_matrix.matrix.model import EnvironmentSpec, Excluded, Matrix, ServerSource, Strategy
from memory_matrix.matrix.select import Selection, narrow_parts
from memory_matrix.matrix.suite import REFERENCE_STORES, Suite, plan_suite

SHOWN_ENVIRONMENTS, SHOWN_EXCLUDED, SHOWN_SERVERS, SHOWN_STORES = 12, 5, 5, 4
"""How many of each the lines show, unless all are asked for."""

_OWN = "each store's own"


@dataclass(frozen=True)
class PlannedEnvironment:
    """An environment, and why it is in the matrix."""

    spec: EnvironmentSpec
    why: str


@dataclass(frozen=True)
class PlannedSuite:
    """What a run of the memory test suite would do, as far as it is known before it runs."""

    strategy: Strategy
    serializers: tuple[str, ...]
    """None means each store's own default."""
    timeout: float
    """Seconds for one case."""
    unknown: tuple[str, ...]
    """Stores of which nobody knows what they need before they are loaded; `known` leaves them out."""
    known: Suite


@dataclass(frozen=True)
class Plan:
    """What a run would do."""

    source: str | None
    """The matrix file; None for the built-in quick matrix."""
    environments: tuple[PlannedEnvironment, ...]
    excluded: tuple[Excluded, ...]
    servers: tuple[ServerSource, ...]
    serializers: tuple[str, ...]
    payloads: tuple[str, ...]
    stores: tuple[str, ...]
    pairs: int
    """(writer, reader) pairs, own cells included."""
    processes: int
    """Worker processes: each environment writes in one and reads in another."""
    suite: PlannedSuite


def notes(matrix: Matrix) -> list[str]:
    """Return sentences on what is allowed, and perhaps not what was meant."""
    releases = any(spec.path or spec.app for spec in matrix.environments)
    return [
        f"compat.serializers: {name!r} is one file, the same for every environment; to take it from"
        f" each environment's own path or app, name it module:object."
        for name in matrix.compat.serializers
        if releases and ".py:" in name
    ] + [
        f"environment {spec.name!r}: its path comes before the app that is built from {spec.app!r}, and hides"
        f" what both have; leave path out where it leads to the app itself."
        for spec in matrix.environments
        if spec.path and spec.app not in (None, ".")
    ]


def plan(matrix: Matrix, selection: Selection | None = None) -> Plan:
    """Return what a run of compat and the suite would do with the selected part of `matrix`.

    Raises:
        UsageError: the selection is not one of this matrix.
    """
    selection = selection or Selection()
    parts = narrow_parts(matrix, selection)
    compat, suite = parts["compat"], parts["suite"]
    count = len(compat.environments)
    names = {each.name for each in (*compat.environments, *suite.environments)}
    telling = _telling(matrix)
    return Plan(
        source=None if matrix.source is None else str(matrix.source),
        environments=tuple(
            PlannedEnvironment(each, _why(each, telling))
            for each in matrix.environments
            if each.name in names
        ),
        excluded=matrix.excluded,
        servers=compat.servers,
        serializers=compat.compat.serializers,
        payloads=compat.compat.payloads,
        stores=suite.suite.stores,
        pairs=count * count,
        processes=2 * count,
        suite=_suite(suite, selection),
    )


def _suite(matrix: Matrix, selection: Selection) -> PlannedSuite:
    stores = matrix.suite.stores
    known = {store: REFERENCE_STORES[store] for store in stores if store in REFERENCE_STORES}
    return PlannedSuite(
        strategy=matrix.suite.strategy,
        serializers=matrix.suite.serializers,
        timeout=matrix.suite.timeout,
        unknown=tuple(store for store in stores if store not in known),
        known=plan_suite(matrix, known, selection),
    )


def plan_json(matrix: Matrix, selection: Selection | None = None) -> dict[str, Any]:
    """Return the plan as plain values for JSON; URLs of servers come without passwords.

    Raises:
        UsageError: the selection is not one of this matrix.
    """
    planned = plan(matrix, selection)
    return {
        "schema": 1,
        "matrix": planned.source,
        "environments": [_environment_json(each) for each in planned.environments],
        "excluded": [{"name": each.name, "by": each.by} for each in planned.excluded],
        "servers": [
            {"name": each.name, "kind": each.kind, "source": each.text} for each in planned.servers
        ],
        "serializers": list(planned.serializers),
        "payloads": list(planned.payloads),
        "stores": list(planned.stores),
        "pairs": planned.pairs,
        "processes": planned.processes,
        "suite": _suite_json(planned),
    }


def _suite_json(planned: Plan) -> dict[str, Any]:
    """Return the suite's plan; what the stores need is null where nobody knows it yet."""
    suite = planned.suite
    known = {
        name: {"needs": list(store.needs), "takes_serializer": store.takes_serializer}
        for name, store in REFERENCE_STORES.items()
    }
    return {
        "stores": [
            {
                "name": name,
                **known.get(name, {"needs": None, "takes_serializer": None}),
                "lacks": list(suite.known.unserved.get(name, ())),
            }
            for name in planned.stores
        ],
        "serializers": list(suite.serializers),
        "strategy": suite.strategy,
        "timeout": suite.timeout,
        "pairs": suite.known.pairs,
        "covered": suite.known.covered,
        "processes": len(suite.known.processes),
        "cells": len(suite.known.cells),
    }


def lines(planned: Plan, *, verbose: bool = False) -> list[str]:
    """Return the plan as lines of plain text: at most about 40, or all of them if `verbose`."""
    section = partial(_section, limited=not verbose)
    return [
        f"matrix: {planned.source or 'the built-in quick matrix'}",
        *section("environments", map(_environment_row, planned.environments), SHOWN_ENVIRONMENTS),
        *section("excluded", ((each.name, each.by) for each in planned.excluded), SHOWN_EXCLUDED),
        *section("servers", ((each.name, each.text) for each in planned.servers), SHOWN_SERVERS),
        f"serializers: {_joined(planned.serializers)}",
        f"payloads: {_joined(planned.payloads)}",
        f"work: {planned.pairs} (writer, reader) pairs, {planned.processes} worker processes",
        *section("stores", _store_rows(planned), SHOWN_STORES),
        f"serializers of the suite: {_joined(planned.suite.serializers, none=_OWN)}",
        f"suite: {_suite_work(planned.suite)}",
    ]


def _store_rows(planned: Plan) -> Iterator[tuple[str, str]]:
    for name in planned.stores:
        lacks = planned.suite.known.unserved.get(name)
        if name in planned.suite.unknown:
            yield name, "what it needs is known when it runs"
        elif lacks:
            yield name, f"cannot run: needs {' and '.join(lacks)}, and no such server is listed"
        else:
            store = REFERENCE_STORES[name]
            yield name, f"needs {' and '.join(store.needs)}, takes a serializer"


def _suite_work(suite: PlannedSuite) -> str:
    found = suite.known
    covered = f"{found.covered} of {found.pairs} value pairs covered"
    work = f"{len(found.processes)} processes, {len(found.cells)} cells"
    rest = f"; stores not counted: {len(suite.unknown)}" if suite.unknown else ""
    counted = "" if suite.unknown and not found.cells else f", {covered}, {work}"
    return f"{suite.strategy}{counted}{rest}"


def _section(
    title: str, rows: Iterable[tuple[str, str]], most: int, *, limited: bool
) -> Iterator[str]:
    """Yield the title with the number of rows, and the rows: `most` at most where they are limited."""
    found = list(rows)
    shown = found[:most] if limited else found
    width = max((len(name) for name, _ in shown), default=0)
    yield f"{title}: {len(found) or 'none'}"
    yield from (f"  {name:{width}}  {text}".rstrip() for name, text in shown)
    if len(found) > len(shown):
        yield f"  ... and {len(found) - len(shown)} more (-v shows all)"


def _joined(words: Iterable[str], none: str = "none") -> str:
    return ", ".join(words) or none


def _environment_row(planned: PlannedEnvironment) -> tuple[str, str]:
    return planned.spec.name, planned.why


def _telling(matrix: Matrix) -> frozenset[str]:
    """Return the axes that tell the combinations apart, and python."""
    pairs = {pair for each in matrix.environments for pair in each.values}
    count = Counter(axis for axis, _ in pairs)
    return frozenset({"python", *(axis for axis in count if count[axis] > 1)})


def _why(spec: EnvironmentSpec, telling: frozenset[str]) -> str:
    if any(axis == "environment" for axis, _ in spec.coordinates):
        app = [f"app {spec.app}"] if spec.app else []
        return f"named: {', '.join([f'python {spec.python}', *app, *spec.packages])}"
    values = [f"{axis} {value}" for axis, value in spec.values if axis in telling]
    return ", ".join(values or [f"{axis} {value}" for axis, value in spec.values])


def _environment_json(planned: PlannedEnvironment) -> dict[str, Any]:
    spec = planned.spec
    return {
        "name": spec.name,
        "why": planned.why,
        "python": spec.python,
        "packages": list(spec.packages),
        "app": spec.app,
        "path": [str(folder) for folder in spec.path],
        "env": [name for name, _ in spec.env],
        "values": dict(spec.values),
    }
