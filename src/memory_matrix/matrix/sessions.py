"""The suite's processes as what people start one by one: their names, and what is selected of each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_matrix.matrix.model import EnvironmentSpec, Matrix, ServerSource
from memory_matrix.matrix.naming import unique
from memory_matrix.matrix.select import Selection, Term, narrow
from memory_matrix.matrix.suite import (
    KINDS,
    REFERENCE_STORES,
    StoreNeeds,
    SuiteCell,
    SuiteProcess,
    plan_suite,
)

_POSTGRES = re.compile(r"\bpg(\d+)")
"""Where an image's tag says the version of Postgres, beside another one."""
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class Session:
    """The cells of one suite process, or those of one serializer, under names that people can type."""

    environment: EnvironmentSpec
    servers: tuple[ServerSource, ...]
    cells: tuple[SuiteCell, ...]
    python: str | None
    """The environment's value of the `python` axis; None where it has no such axis."""
    rest: str
    """What the environment's name says besides; empty where the Python tells it apart."""
    labels: tuple[str, ...]
    """Short names of the servers, each unique in the matrix: `pg18`, `valkey9`."""
    serializer: str | None = None
    """Given where sessions are one per serializer, and the session has just this one."""
    name: str = ""
    """Unique in its matrix, of what file names and tox take: `py312-pg18-valkey9`."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What tells the session from others of its Python, or from all others if it has none."""
        given = () if self.serializer is None else (self.serializer,)
        return (*filter(None, (self.rest,)), *self.labels, *given)

    @property
    def factors(self) -> tuple[str, ...]:
        """Its Python and its parts, of what file names and tox take; two sessions may share them."""
        python = () if self.python is None else (f"py{self.python.replace('.', '')}",)
        return (*python, *map(_factor, self.parts))

    @property
    def tags(self) -> tuple[str, ...]:
        """The environment, its Python, the servers and the serializer."""
        python = () if self.python is None else (f"py{self.python}",)
        return tuple(dict.fromkeys((self.environment.name, *python, *self.parts)))


def sessions(matrix: Matrix, *, by_serializer: bool = False) -> tuple[Session, ...]:
    """Return a session for each process that the suite has, in their order.

    With `by_serializer`, each serializer that the matrix names has a session of its own, beside one for
    the stores that take none. A store of which nobody knows yet what it needs is taken to need every
    kind of server that the matrix has, so that no combination is left out.
    """
    labels = dict(zip(matrix.servers, server_labels(matrix.servers), strict=True))
    found = plan_suite(matrix, store_needs(matrix)).processes
    each = [_session(process, labels) for process in found]
    each = list(itertools.chain(*map(_split, each))) if by_serializer else each
    names = unique("-".join(session.factors) for session in each)
    return tuple(replace(session, name=name) for session, name in zip(each, names, strict=True))


def store_needs(matrix: Matrix) -> dict[str, StoreNeeds]:
    """Return what each store needs, as far as anybody knows before it is loaded."""
    kinds = {server.kind for server in matrix.servers}
    unknown = StoreNeeds(tuple(kind for kind in KINDS if kind in kinds))
    return {store: REFERENCE_STORES.get(store, unknown) for store in matrix.suite.stores}


def selection(session: Session, matrix: Matrix, wanted: Selection) -> Selection | None:
    """Return what selects all of a session that is `wanted` too; None where nothing of it is.

    Cases stay as they are wanted: which ones there are is known to the suite alone.

    Raises:
        UsageError: `wanted` is no selection of this matrix.
    """
    narrowed = narrow(matrix, wanted, "suite")
    if session.environment not in narrowed.environments:
        return None
    stores = set(narrowed.suite.stores)
    cells = [cell for cell in session.cells if cell.store in stores and _is_on_wanted(cell, wanted)]
    if not cells:
        return None
    return Selection(tuple(_terms(session, matrix, cells, wanted)))


def replaced(session: Session, matrix: Matrix, given: Matrix) -> Session:
    """Return the session of `matrix` on `given`: the same matrix with other stores or other servers.

    All servers of a kind that `given` has others of stand in for the session's.
    """
    if (matrix.suite.stores, matrix.servers) == (given.suite.stores, given.servers):
        return session
    gone = {server.kind for server in set(matrix.servers).symmetric_difference(given.servers)}
    servers = tuple(
        server for server in given.servers if server.kind in gone or server in session.servers
    )
    own = replace(given, environments=(session.environment,), servers=servers)
    cells = plan_suite(own, store_needs(own)).cells
    kept = {session.serializer, None} if session.serializer else {cell.serializer for cell in cells}
    return replace(
        session,
        cells=tuple(cell for cell in cells if cell.serializer in kept),
        servers=servers,
    )


def server_labels(servers: Sequence[ServerSource]) -> list[str]:
    """Return short names of servers, each its own: `pg18`, `redis8.0`, `valkey9`.

    A wheel has its major version, or all of its version where two of them share the major; an image
    has what its tag says. Where that tells them not apart, or there is no version, it is the full name.
    """
    short, long = (
        [_label(server, whole=whole) or server.name for server in servers]
        for whole in (False, True)
    )
    names = [server.name for server in servers]
    chosen = [
        next((each[place] for each in (short, long) if each.count(each[place]) == 1), names[place])
        for place in range(len(servers))
    ]
    return unique(chosen)


def _label(server: ServerSource, *, whole: bool) -> str | None:
    release = _release(server)
    if release is None:
        return None
    if server.form == "wheel" and not whole:
        release = release.partition(".")[0]
    flavour = "pg" if server.kind == "postgres" else "redis"
    return f"{'valkey' if 'valkey' in server.value else flavour}{release}"


def _release(server: ServerSource) -> str | None:
    """Return the version in a server's name, as far as that says one; a wheel's own 0.* is none."""
    separator = {"image": ":", "wheel": "=="}.get(server.form)
    if separator is None or "@" in server.name:
        return None
    version = server.name.rpartition(separator)[2]
    found = _POSTGRES.search(version) or _RELEASE.match(version)
    return found[1] if found and not (server.form == "wheel" and found[1].startswith("0")) else None


def _session(process: SuiteProcess, labels: Mapping[ServerSource, str]) -> Session:
    servers = tuple(each for each in (process.postgres, process.redis) if each is not None)
    python = _python_axis(process.environment)
    name = process.environment.name
    rest = name if python is None else name.removeprefix(f"py{python}").removeprefix("-")
    named = tuple(labels[each] for each in servers)
    return Session(process.environment, servers, process.cells, python, rest, named)


def _python_axis(environment: EnvironmentSpec) -> str | None:
    """Return the environment's version on the `python` axis, if its name starts with that."""
    on_axis = any(axis == "python" for axis, _ in environment.coordinates)
    starts = re.match(rf"py{re.escape(environment.python)}(-|$)", environment.name)
    return environment.python if on_axis and starts else None


def _split(session: Session) -> Iterator[Session]:
    for serializer in dict.fromkeys(cell.serializer for cell in session.cells):
        cells = tuple(cell for cell in session.cells if cell.serializer == serializer)
        yield replace(session, cells=cells, serializer=serializer)


def _factor(part: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "_", part).strip("._") or "_"


def _is_on_wanted(cell: SuiteCell, wanted: Selection) -> bool:
    names = [server.name for server in cell.servers]
    if cell.store not in REFERENCE_STORES:  # whether it takes a serializer shows when it is loaded
        return any(wanted.allows("server", name) for name in names)
    return wanted.allows_on(names, cell.serializer)


def _terms(
    session: Session, matrix: Matrix, cells: Sequence[SuiteCell], wanted: Selection
) -> Iterator[Term]:
    yield _term("environment", session.environment.name)
    for server in dict.fromkeys(itertools.chain(*(cell.servers for cell in cells))):
        yield _term("server", server.name)
    stores = dict.fromkeys(cell.store for cell in cells)
    if set(stores) != set(matrix.suite.stores):
        yield from (_term("store", store) for store in stores)
    serializers = dict.fromkeys(cell.serializer for cell in cells)
    if None in serializers:  # a term would leave out what takes none
        yield from (term for term in wanted.terms if term.key == "serializer")
    elif set(serializers) != set(matrix.suite.serializers):
        yield from (_term("serializer", str(each)) for each in serializers)
    yield from (term for term in wanted.terms if term.key == "case")


def _term(key: str, value: str) -> Term:
    return Term(key, (value,), f"{key}={value}")
