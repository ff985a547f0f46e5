"""What a run of the memory test suite is made of: its cells, and the processes they run in. No I/O."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memory_matrix.matrix.model import (
    DEFAULT_STORES,
    EnvironmentSpec,
    Matrix,
    ServerKind,
    ServerSource,
)
from memory_matrix.matrix.select import Selection
from memory_matrix.matrix.strategy import Order, Point, ValuePair, choose

KINDS: tuple[ServerKind, ...] = ("postgres", "redis")


@dataclass(frozen=True)
class StoreNeeds:
    """What a store asks for, as its adapter says."""

    needs: tuple[ServerKind, ...] = ()
    takes_serializer: bool = False


REFERENCE_STORES: Mapping[str, StoreNeeds] = {
    store: StoreNeeds((kind,), takes_serializer=True)
    for store, kind in zip(DEFAULT_STORES, KINDS, strict=True)
}
"""What is known without loading anything."""


@dataclass(frozen=True)
class SuiteCell:
    """One store, run through all cases in one environment on the servers that it needs."""

    environment: EnvironmentSpec
    servers: tuple[ServerSource, ...]
    store: str
    serializer: str | None = None
    """None for the store's own default."""


@dataclass(frozen=True)
class SuiteProcess:
    """The cells that one process runs. They use its servers, or one of them, or none."""

    environment: EnvironmentSpec
    postgres: ServerSource | None
    redis: ServerSource | None
    cells: tuple[SuiteCell, ...]

    @property
    def name(self) -> str:
        """Return which one it is, such as `next on pg17, redis:8.0`."""
        servers = ", ".join(each.name for each in (self.postgres, self.redis) if each is not None)
        return f"{self.environment.name} on {servers}" if servers else self.environment.name


@dataclass(frozen=True)
class Suite:
    """All that is to be run."""

    processes: tuple[SuiteProcess, ...]
    pairs: int
    """Pairs of values on two axes (of environments, servers and serializers) that stores can have."""
    covered: int
    """Those of them that every store which can have them does have."""
    unserved: Mapping[str, tuple[ServerKind, ...]]
    """Stores that cannot be run, and the kinds of server that they need and the matrix has not."""

    @property
    def cells(self) -> tuple[SuiteCell, ...]:
        """All cells, process by process."""
        return tuple(cell for process in self.processes for cell in process.cells)


@dataclass(frozen=True)
class _Combination:
    """One environment with servers and, for stores that take one, a serializer."""

    environment: EnvironmentSpec
    servers: tuple[ServerSource, ...]
    serializer: str | None

    @property
    def point(self) -> Point:
        """Its values by axis."""
        given = {} if self.serializer is None else {"serializer": self.serializer}
        servers: dict[str, str] = {server.kind: server.name for server in self.servers}
        return {**_values(self.environment), **servers, **given}

    def cell(self, store: str) -> SuiteCell:
        """Return the cell of `store`."""
        return SuiteCell(self.environment, self.servers, store, self.serializer)


def plan_suite(
    matrix: Matrix, stores: Mapping[str, StoreNeeds], selection: Selection | None = None
) -> Suite:
    """Return what the suite runs on a matrix that `narrow` has narrowed to `selection` already.

    A store sees no axis that it does not use: one that needs Postgres alone is run once per
    environment and Postgres. Each store's own combinations go through the matrix' strategy.
    """
    lacking = {store: tuple(_lacking(matrix, needs)) for store, needs in stores.items()}
    served = {store: needs for store, needs in stores.items() if not lacking[store]}
    order = _order(matrix)
    cells: dict[str, list[SuiteCell]] = {store: [] for store in stores}
    pairs: set[ValuePair] = set()
    missed: set[ValuePair] = set()
    for needs, names in _alike(served).items():
        combinations = list(_combinations(matrix, needs, selection or Selection()))
        points = [combination.point for combination in combinations]
        choice = choose(points, matrix.suite.strategy, order)
        pairs |= choice.all_pairs
        missed |= choice.all_pairs - choice.covered_pairs
        for name in names:
            cells[name] = [combinations[number].cell(name) for number in choice.numbers]
    return Suite(
        processes=tuple(_processes(matrix.environments, itertools.chain(*cells.values()))),
        pairs=len(pairs),
        covered=len(pairs - missed),
        unserved={store: kinds for store, kinds in lacking.items() if kinds},
    )


def _servers(matrix: Matrix, kind: ServerKind) -> list[ServerSource]:
    return [server for server in matrix.servers if server.kind == kind]


def _lacking(matrix: Matrix, store: StoreNeeds) -> Iterator[ServerKind]:
    return (kind for kind in store.needs if not _servers(matrix, kind))


def _alike(stores: Mapping[str, StoreNeeds]) -> dict[StoreNeeds, list[str]]:
    """Return what stores need, each with the stores that need just that."""
    alike: dict[StoreNeeds, list[str]] = {}
    for name, store in stores.items():
        needs = tuple(kind for kind in KINDS if kind in store.needs)
        alike.setdefault(StoreNeeds(needs, store.takes_serializer), []).append(name)
    return alike


def _combinations(
    matrix: Matrix, store: StoreNeeds, selection: Selection
) -> Iterator[_Combination]:
    servers = list(itertools.product(*(_servers(matrix, kind) for kind in store.needs)))
    serializers = (matrix.suite.serializers if store.takes_serializer else ()) or (None,)
    for combination in itertools.product(servers, serializers):
        if selection.allows_on([server.name for server in combination[0]], combination[1]):
            yield from (_Combination(each, *combination) for each in matrix.environments)


# The axes of environments


def _values(environment: EnvironmentSpec) -> dict[str, str]:
    """Return the environment's own axes, named as in the matrix file, where `redis` is a server."""
    if _is_named(environment):
        return {"environment": environment.name}
    return {_axis(key): value for key, value in environment.values}


def _is_named(environment: EnvironmentSpec) -> bool:
    return any(axis == "environment" for axis, _ in environment.coordinates)


def _axis(key: str) -> str:
    return key if key in {"python", "app"} else f"packages.{key}"


def _order(matrix: Matrix) -> Order:
    """Return all axes with their values, oldest first."""
    ages: dict[str, dict[str, int]] = {}
    for environment in matrix.environments:
        values = _values(environment)
        for (_, age), axis in zip(environment.coordinates, values, strict=True):
            ages.setdefault(axis, {})[values[axis]] = age
    axes = {axis: sorted(found, key=found.__getitem__) for axis, found in ages.items()}
    servers: dict[str, Sequence[str]] = {
        kind: [each.name for each in _servers(matrix, kind)] for kind in KINDS
    }
    return {**axes, **servers, "serializer": matrix.suite.serializers}


# Cells to processes


def _processes(
    environments: Iterable[EnvironmentSpec], cells: Iterable[SuiteCell]
) -> Iterator[SuiteProcess]:
    """Yield as few processes as can run the cells, in the order of the environments."""
    by_environment: dict[str, list[SuiteCell]] = {}
    for cell in cells:
        by_environment.setdefault(cell.environment.name, []).append(cell)
    for environment in environments:
        own = by_environment.get(environment.name, [])
        places = _places(tuple(dict.fromkeys(cell.servers for cell in own)))
        for place in dict.fromkeys(places.values()):
            placed = tuple(cell for cell in own if places[cell.servers] == place)
            yield SuiteProcess(environment, *place, placed)


_Servers = tuple[ServerSource, ...]
_Place = tuple[ServerSource | None, ServerSource | None]
"""The Postgres and the Redis of a process."""


@cache
def _places(wanted: tuple[_Servers, ...]) -> dict[_Servers, _Place]:
    """Return where each set of servers is at hand.

    Whatever needs both has a process for each pair; what needs one of them joins such a process or, if
    there is none with its server, shares one with what needs the other kind.
    """
    both: list[_Place] = [(servers[0], servers[1]) for servers in wanted if len(servers) == 2]
    placed = {server for place in both for server in place}
    alone = [servers[0] for servers in wanted if len(servers) == 1 and servers[0] not in placed]
    postgres, redis = ([server for server in alone if server.kind == kind] for kind in KINDS)
    places = [*both, *itertools.zip_longest(postgres, redis)] or [(None, None)]
    return {
        servers: next(place for place in places if set(servers).issubset(place))
        for servers in wanted
    }
