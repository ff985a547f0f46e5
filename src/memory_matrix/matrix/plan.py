"""What a run of a matrix would do: which environments, why, and how much work. Nothing is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from memory_matrix.matrix.model import EnvironmentSpec, Excluded, Matrix, ServerSource

SHOWN_ENVIRONMENTS, SHOWN_EXCLUDED, SHOWN_SERVERS = 15, 6, 7
"""How many of each the lines show, unless all are asked for."""


@dataclass(frozen=True)
class PlannedEnvironment:
    """An environment, and why it is in the matrix."""

    spec: EnvironmentSpec
    why: str


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


def notes(matrix: Matrix) -> list[str]:
    """Return sentences on what is allowed, and perhaps not what was meant."""
    releases = any(spec.path or spec.app for spec in matrix.environments)
    return [
        f"compat.serializers: {name!r} is one file, the same for every environment; to take it from"
        f" each environment's own path or app, name it module:object."
        for name in matrix.compat.serializers
        if releases and ".py:" in name
    ]


def plan(matrix: Matrix) -> Plan:
    """Return what a run of `matrix` would do."""
    count = len(matrix.environments)
    telling = _telling(matrix)
    return Plan(
        source=None if matrix.source is None else str(matrix.source),
        environments=tuple(
            PlannedEnvironment(each, _why(each, telling)) for each in matrix.environments
        ),
        excluded=matrix.excluded,
        servers=matrix.servers,
        serializers=matrix.compat.serializers,
        payloads=matrix.compat.payloads,
        stores=matrix.stores,
        pairs=count * count,
        processes=2 * count,
    )


def plan_json(matrix: Matrix) -> dict[str, Any]:
    """Return the plan as plain values for JSON; URLs of servers come without passwords."""
    planned = plan(matrix)
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
        f"stores: {_joined(planned.stores)}",
        f"work: {planned.pairs} (writer, reader) pairs, {planned.processes} worker processes",
    ]


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


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


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
