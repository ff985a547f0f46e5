"""Real Postgres and Redis servers for pytest, a place of its own for each test, and stores under test.

Nothing is started, and no server is spoken to, before the first test that needs one. All workers of
pytest-xdist share the servers, which the controller owns; they are gone when it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from memory_matrix.suite import async_fixtures
from memory_matrix.suite import options as options_
from memory_matrix.suite.options import KINDS, Kind, Options

if TYPE_CHECKING:
    import psycopg
    from redis import Redis

    from memory_matrix.isolation.postgres import Place as PostgresPlace
    from memory_matrix.isolation.redis import Place as RedisPlace
    from memory_matrix.servers.client import ServerInfo
    from memory_matrix.suite.bell import RemoteHost
    from memory_matrix.suite.memory import Memory
    from memory_matrix.suite.serving import Host
    from memory_matrix.suite.stores import StoreParameter
    from memory_matrix.suite.worker import Worker

pytest.register_assert_rewrite("memory_matrix.suite.cases")

_STATE = pytest.StashKey["_State"]()
_BELL = "memory_matrix_bell"
_NO_STORE = pytest.param(
    None, marks=pytest.mark.skip(reason="it needs a store under test: --store NAME"), id="no-store"
)


class _State:
    """What this plugin knows of one pytest process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options: Options | None = None
        self._host: Host | RemoteHost | None = None
        self._worker: Worker | None = None
        self._bell: dict[str, Any] | None = None
        self._stack = ExitStack()
        self.stores: list[StoreParameter] = []
        self.left: str | None = None
        """What could not be removed in the end, in a sentence."""

    @property
    def is_worker(self) -> bool:
        """Whether this is a worker of pytest-xdist."""
        return bool(self._workerinput)

    @property
    def _workerinput(self) -> Mapping[str, Any]:
        """What the controller says to a worker of pytest-xdist; nothing where this is none."""
        return getattr(self._config, "workerinput", {})

    @property
    def options(self) -> Options:
        """What the run was told; read when it is first needed."""
        if self._options is None:
            self._options = options_.read_options(self._config)
        return self._options

    def load_stores(self) -> None:
        """Load the stores under test, and report on them.

        Raises:
            pytest.UsageError: one cannot be loaded, or is no adapter.
        """
        from memory_matrix.suite.reporting import StoreReports
        from memory_matrix.suite.stores import parameters

        if not self.is_worker:
            self._own_host()  # before a store's module can change what it goes by
        self.stores = parameters(self.options)
        worker = self._workerinput.get("workerid")
        self._config.pluginmanager.register(StoreReports(self.options, worker))

    @property
    def worker(self) -> Worker:
        """This process's way to the servers."""
        if self._worker is None:
            from memory_matrix.suite.worker import Worker

            self._worker = Worker(self.options, self._hosted())
            self._stack.callback(self._worker.close)
        return self._worker

    def bell(self) -> dict[str, Any]:
        """Return what a worker needs to reach this process, its controller."""
        if self._bell is None:
            from memory_matrix.suite.bell import bell

            host = self._own_host()
            self._bell = self._stack.enter_context(bell(host))
        return self._bell

    def close(self) -> None:
        """End the servers that this process owns, and clean up.

        Raises:
            MemoryMatrixError: something is left.
        """
        self._stack.close()

    def _hosted(self) -> Host | RemoteHost:
        bell = self._workerinput.get(_BELL)
        if bell is None:
            return self._own_host()
        from memory_matrix.suite.bell import RemoteHost

        return RemoteHost(bell)

    def _own_host(self) -> Host:
        from memory_matrix.suite.serving import Host

        if self._host is None:
            self._host = Host()
            self._stack.callback(self._host.close)
        assert isinstance(self._host, Host)
        return self._host


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--postgres`, `--redis`, `--store` and their like."""
    options_.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; load what tests stores only where stores are given.

    Raises:
        pytest.UsageError: an option is wrong.
    """
    state = config.stash[_STATE] = _State(config)
    config.addinivalue_line(
        "markers",
        "postgres(isolation='schema'): how a test is kept apart: schema (default), database, or rollback",
    )
    config.pluginmanager.register(async_fixtures.plugin(config), "memory-matrix-async")
    if options_.says_anything(config, is_worker=state.is_worker) and state.options.stores:
        state.load_stores()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the servers that this process owns; a run that leaves something behind does not succeed."""
    from memory_matrix.errors import MemoryMatrixError

    state = session.config.stash[_STATE]
    try:
        state.close()
    except MemoryMatrixError as error:
        state.left = str(error)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what is left behind."""
    if left := config.stash[_STATE].left:
        terminalreporter.write_line(f"memory-matrix: {left}", red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers also where the session did not come to its end."""
    if (state := config.stash.get(_STATE, None)) is not None:
        state.close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist how to ask for servers; the first test that needs one does."""
    node.workerinput[_BELL] = node.config.stash[_STATE].bell()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that use a server on each server, and tests of a store on each store."""
    state = metafunc.config.stash[_STATE]
    for kind in KINDS:
        fixture = f"{kind}_server"
        if fixture in metafunc.fixturenames and len(names := _names(state, kind)) > 1:
            metafunc.parametrize(
                fixture, list(names), ids=list(names.values()), indirect=True, scope="session"
            )
    if "memory_store" in metafunc.fixturenames:
        stores = [pytest.param(each, id=each.id) for each in state.stores]
        metafunc.parametrize("memory_store", stores or [_NO_STORE], indirect=True)


def _names(state: _State, kind: Kind) -> Mapping[str, str]:
    """Return the names of the servers of a kind, by their sources."""
    try:
        return state.options.names(kind)
    except pytest.UsageError as error:  # in a matrix file further up
        raise pytest.Collector.CollectError(str(error)) from None


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> ServerInfo:
    """Return the run's Postgres: name, version, url. Started once, shared by all workers."""
    with _told():
        return _state(request).worker.server("postgres", _source(request, "postgres"))


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> ServerInfo:
    """Return the run's Redis: name, version, url. Started once, shared by all workers."""
    with _told():
        return _state(request).worker.server("redis", _source(request, "redis"))


@pytest.fixture(scope="session")
def postgres_ddl() -> str:
    """Return SQL that makes the tables of every test's schema; override it with your own."""
    return ""


@pytest.fixture
def postgres_place(
    request: pytest.FixtureRequest, postgres_server: ServerInfo, postgres_ddl: str
) -> Iterator[PostgresPlace]:
    """Yield a schema (or database, as the marker `postgres` says) of the test's own."""
    from memory_matrix.suite.rungs import check_rollback, rung_of

    rung = rung_of(request)
    with _told(postgres_server.name):
        places = _state(request).worker.postgres(_source(request, "postgres"))
        if rung == "rollback":
            check_rollback(request)
            place = places.shared(postgres_ddl)
        else:
            make = places.database if rung == "database" else places.schema
            place = make(postgres_ddl)
    yield place
    if rung != "rollback":
        places.leave(place)


@pytest.fixture
def postgres_dsn(postgres_place: PostgresPlace) -> str:
    """Return a libpq URL whose search_path begins with a schema of the test's own."""
    return postgres_place.dsn


@pytest.fixture
def postgres_connection(
    request: pytest.FixtureRequest, postgres_place: PostgresPlace
) -> Iterator[psycopg.Connection[Any]]:
    """Yield a psycopg connection to a schema of the test's own, in autocommit mode.

    Where the marker says `rollback`, in a transaction that is rolled back.
    """
    import psycopg

    from memory_matrix.suite.rungs import rung_of

    with psycopg.connect(postgres_place.dsn, autocommit=True) as connection:
        if rung_of(request) != "rollback":
            yield connection
            return
        with connection.transaction(force_rollback=True):
            yield connection


@pytest.fixture
def redis_place(request: pytest.FixtureRequest, redis_server: ServerInfo) -> Iterator[RedisPlace]:
    """Yield a database and a key prefix of the test's own; the database is emptied afterwards."""
    with _told(redis_server.name):
        places = _state(request).worker.redis(_source(request, "redis"))
    place = places.place()
    yield place
    with _told(redis_server.name):
        outside = places.leave(place)
    if outside and "redis_prefix" in request.fixturenames:
        pytest.fail(
            f"the test left keys outside redis_prefix: {', '.join(outside[:5])}", pytrace=False
        )


@pytest.fixture
def redis_url(redis_place: RedisPlace) -> str:
    """Return the URL of a Redis database that no other worker uses."""
    return redis_place.url


@pytest.fixture
def redis_prefix(redis_place: RedisPlace) -> str:
    """Return a key prefix of the test's own; a test that asks for it fails when it leaves other keys."""
    return redis_place.prefix


@pytest.fixture
def redis_client(redis_url: str) -> Iterator[Redis]:
    """Yield a redis-py client of a database that no other worker uses."""
    from redis import Redis

    with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yield what starts servers of the test's own, to be killed, paused, filled and restarted."""
    from memory_matrix.suite.faults import Faults

    sources = {kind: _source(request, kind) for kind in KINDS}
    with _told():
        servers = _state(request).worker.servers
    with Faults(servers, sources) as made:
        yield made


@pytest.fixture
def memory_store(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """Yield a store under test (`--store`) on a place of its own, as the suite's cases drive it."""
    from memory_matrix.suite.running import opened

    with opened(_state(request).worker, request.param) as memory:
        yield memory


def _state(request: pytest.FixtureRequest) -> _State:
    return request.config.stash[_STATE]


def _source(request: pytest.FixtureRequest, kind: Kind) -> str:
    """Return the source of the server that the test runs on."""
    fixture = f"{kind}_server"
    if request.fixturename == fixture and hasattr(request, "param"):
        return str(request.param)
    callspec = getattr(request.node, "callspec", None)
    if callspec is not None and fixture in callspec.params:
        return str(callspec.params[fixture])
    sources = _state(request).options.sources(kind)
    if len(sources) > 1 and fixture in request.fixturenames:
        pytest.fail(
            f"There are {len(sources)} servers to run on: name {fixture}, or a fixture that uses it, "
            "among the test's arguments.",
            pytrace=False,
        )
    return sources[0]


@contextmanager
def _told(server: str = "") -> Iterator[None]:
    """Fail with a sentence where a server cannot be had, or does not do what a test needs."""
    from memory_matrix.errors import MemoryMatrixError
    from memory_matrix.servers.client import ServerError

    try:
        yield
    except ServerError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    except MemoryMatrixError as error:
        sentence = f"{server}: {error}" if server else str(error)
        raise pytest.fail.Exception(sentence, pytrace=False) from None
