"""A store on a server that lives in this process, plain and asyncio alike."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import fakeredis
import pytest

from memory_matrix.stores.redis import AsyncRedisStore, RedisStore, Settings


class Driven:
    """A store whose calls give their results, whether they have to be awaited or not."""

    def __init__(self, store: Any, run: Callable[[Any], Any]) -> None:
        self.store = store
        self._run = run

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)

        def call(*arguments: Any, **options: Any) -> Any:
            result = method(*arguments, **options)
            return self._run(result) if inspect.isawaitable(result) else result

        return call

    def run(self, plan: Any) -> Any:
        """Carry out a plan as the store does."""
        result = self.store.link.run(plan)
        return self._run(result) if inspect.isawaitable(result) else result


@pytest.fixture(scope="session")
def running() -> Iterator[fakeredis.FakeRedis]:
    """A look at a server from outside; its start takes longer than most tests."""
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as client:
        yield client


@pytest.fixture
def client(running: fakeredis.FakeRedis) -> fakeredis.FakeRedis:
    """A look from outside at a server that holds nothing, and knows no script."""
    running.flushall()
    running.script_flush()
    return running


@pytest.fixture
def server(client: fakeredis.FakeRedis) -> fakeredis.FakeServer:
    server: fakeredis.FakeServer = client.connection_pool.connection_kwargs["server"]
    return server


@pytest.fixture(params=["plain", "asyncio"])
def open_store(
    request: pytest.FixtureRequest, server: fakeredis.FakeServer
) -> Iterator[Callable[..., Driven]]:
    """Open stores on the server, all plain or all asyncio."""
    loop = asyncio.new_event_loop()
    clients: list[Any] = []

    def open_one(**settings: Any) -> Driven:
        if request.param == "plain":
            return Driven(
                RedisStore(fakeredis.FakeRedis(server=server), Settings(**settings)), _none
            )
        clients.append(fakeredis.FakeAsyncRedis(server=server))
        store = AsyncRedisStore(clients[-1], Settings(**settings))
        return Driven(store, loop.run_until_complete)

    yield open_one
    for each in clients:
        loop.run_until_complete(each.aclose())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _none(value: Any) -> Any:
    raise AssertionError(f"a plain store gave {value!r}, which would have to be awaited")


@pytest.fixture
def store(open_store: Callable[..., Driven]) -> Driven:
    return open_store()
