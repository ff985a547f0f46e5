"""Real Postgres and Redis servers for pytest, a place of its own for each test, and stores under test.

Nothing is started, and no server is spoken to, before the first test that needs one. All workers of
pytest-xdist share the servers, which the controller owns; they are gone when it is.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from memory_matrix.suite import options as options_
from memory_matrix.suite.options import KINDS, Kind, Options

if TYPE_CHECKING:
    import psycopg
    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis

    from memory_matrix.isolation.postgres import Place as PostgresPlace
    from memory_matrix.isolation.redis import Place as RedisPlace
    from memory_matrix.servers.client import ServerInfo
    from memory_matrix.suite.memory import Memory
    from memory_matrix.suite.stores import StoreParameter
    from memory_matrix.suite.worker import Worker

pytest.register_assert_rewrite("memory_matrix.suite.cases")

F = TypeVar("F", bound=Callable[..., Any])

_STATE = pytest.StashKey["_State"]()
_NO_STORE = pytest.param(
    None, marks=pytest.mark.skip(reason="it needs a store under test: --store NAME"), id="no-store"
)
_SERVER_FIXTURES: dict[str, Kind] = {f"{kind}_server": kind for kind in KINDS}


def _async_fixture(function: F) -> F:
    """Make an async fixture of whatever runs async tests here; what anyio runs are plain fixtures."""
    made: Any
    if find_spec("pytest_asyncio") is None:
        made = pytest.fixture(function)
    else:
        import pytest_asyncio

        made = pytest_asyncio.fixture(function)
    fixture: F = made
    return fixture


class _State:
    """What this plugin knows of one pytest process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options: Options | None = None
        self._worker: Worker | None = None
        self.stores: list[StoreParameter] = []
        self.stack = ExitStack()

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

        self.stores = parameters(self.options)
        self._config.pluginmanager.register(StoreReports(self.options))

    @property
    def worker(self) -> Worker:
        """This process's way to the servers."""
        if self._worker is None:
            from memory_matrix.suite.worker import Worker

            self._worker = Worker(self.options)
            self.stack.callback(self._worker.close)
        return self._worker


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--postgres`, `--redis`, `--store` and their like."""
    options_.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; load what tests stores only where stores are given."""
    config.stash[_STATE] = _State(config)
    config.addinivalue_line(
        "markers",
        "postgres(isolation='schema'): how a test is kept apart: schema (default), database, or rollback",
    )
    if config.getoption("--store") or config.getini("memory_stores"):
        config.stash[_STATE].load_stores()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers that this process serves."""
    if (state := config.stash.get(_STATE, None)) is not None:
        state.stack.close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Serve servers to the workers of pytest-xdist; the first test that needs one has it started."""
    from memory_matrix.servers.client import ADDRESS
    from memory_matrix.suite.serving import clean_addresses, serving

    state = node.config.stash[_STATE]
    if ADDRESS not in os.environ:
        state.stack.enter_context(serving())
        state.stack.callback(clean_addresses, state.options)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that use a server on each server, and tests of a store on each store."""
    state = metafunc.config.stash[_STATE]
    for fixture, kind in _SERVER_FIXTURES.items():
        if fixture in metafunc.fixturenames:
            names = state.options.names(kind)
            metafunc.parametrize(
                fixture, list(names), ids=list(names.values()), indirect=True, scope="session"
            )
    if "memory_store" in metafunc.fixturenames:
        stores = [pytest.param(each, id=each.id) for each in state.stores]
        metafunc.parametrize("memory_store", stores or [_NO_STORE], indirect=True)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> ServerInfo:
    """Return the run's Postgres: name, version, url. Started once, shared by all workers."""
    return _server(request, "postgres")


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> ServerInfo:
    """Return the run's Redis: name, version, url. Started once, shared by all workers."""
    return _server(request, "redis")


@pytest.fixture(scope="session")
def postgres_ddl() -> str:
    """Return SQL that makes the tables of every test's schema; override it with your own."""
    return ""


@pytest.fixture
def postgres_place(
    request: pytest.FixtureRequest,
    postgres_server: ServerInfo,  # noqa: ARG001 - for its parameter
    postgres_ddl: str,
) -> PostgresPlace:
    """Return a schema (or database, as the marker `postgres` says) of the test's own."""
    isolation = _state(request).worker.postgres(_source(request, "postgres_server"))
    if _rung(request) == "database":
        return isolation.database(postgres_ddl)
    return isolation.schema(postgres_ddl)


@pytest.fixture
def postgres_dsn(postgres_place: PostgresPlace) -> str:
    """Return a libpq URL whose search_path begins with a schema of the test's own."""
    return postgres_place.dsn


@pytest.fixture
def postgres_connection(
    request: pytest.FixtureRequest, postgres_place: PostgresPlace
) -> Iterator[psycopg.Connection[Any]]:
    """Yield a psycopg connection to a schema of the test's own; what is not committed is rolled back."""
    import psycopg

    with psycopg.connect(postgres_place.dsn, autocommit=_rung(request) != "rollback") as connection:
        yield connection
        connection.rollback()


@_async_fixture
async def async_postgres_connection(
    request: pytest.FixtureRequest, postgres_place: PostgresPlace
) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """Yield an async psycopg connection; otherwise as `postgres_connection`."""
    import psycopg

    connection = await psycopg.AsyncConnection.connect(
        postgres_place.dsn, autocommit=_rung(request) != "rollback"
    )
    async with connection:
        yield connection
        await connection.rollback()


@pytest.fixture
def redis_place(
    request: pytest.FixtureRequest,
    redis_server: ServerInfo,  # noqa: ARG001 - for its parameter
) -> Iterator[RedisPlace]:
    """Yield a database and a key prefix of the test's own; the database is emptied afterwards."""
    isolation = _state(request).worker.redis(_source(request, "redis_server"))
    place = isolation.place()
    yield place
    outside = isolation.leave(place)
    if outside and "redis_prefix" in request.fixturenames:
        pytest.fail(f"the test left keys outside redis_prefix: {', '.join(outside[:5])}")


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


@_async_fixture
async def async_redis_client(redis_url: str) -> AsyncIterator[AsyncRedis]:
    """Yield a redis.asyncio client; otherwise as `redis_client`."""
    from redis.asyncio import Redis

    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yield what starts servers of the test's own, to be killed, paused, filled and restarted."""
    from memory_matrix.suite.faults import Faults

    state = _state(request)
    with Faults(
        state.worker.servers, {kind: state.options.sources(kind)[0] for kind in KINDS}
    ) as made:
        yield made


@pytest.fixture
def memory_store(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """Yield a store under test (`--store`) on a place of its own, as the suite's cases drive it."""
    from memory_matrix.suite.running import opened

    with opened(_state(request).worker, request.param) as memory:
        yield memory


def _state(request: pytest.FixtureRequest) -> _State:
    return request.config.stash[_STATE]


def _server(request: pytest.FixtureRequest, kind: Kind) -> ServerInfo:
    from memory_matrix.servers.client import ServerError

    try:
        return _state(request).worker.server(kind, request.param)
    except ServerError as error:
        pytest.fail(f"{kind}: {error}", pytrace=False)


def _source(request: pytest.FixtureRequest, fixture: str) -> str:
    source: str = request.node.callspec.params[fixture]
    return source


def _rung(request: pytest.FixtureRequest) -> str:
    marker = request.node.get_closest_marker("postgres")
    rung: str = "schema" if marker is None else marker.kwargs.get("isolation", "schema")
    if rung not in {"schema", "database", "rollback"}:
        pytest.fail(
            f"isolation is {rung!r}; it should be schema, database or rollback", pytrace=False
        )
    return rung
