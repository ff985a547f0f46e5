"""The plugin's async fixtures, for whatever runs async tests here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import psycopg
    from redis.asyncio import Redis

    from memory_matrix.isolation.postgres import Place


async def async_postgres_connection(
    request: pytest.FixtureRequest, postgres_place: Place
) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """Yield an async psycopg connection; otherwise as `postgres_connection`."""
    import psycopg

    from memory_matrix.suite.rungs import rung_of

    async with await psycopg.AsyncConnection.connect(
        postgres_place.dsn, autocommit=True
    ) as connection:
        if rung_of(request) != "rollback":
            yield connection
            return
        async with connection.transaction(force_rollback=True):
            yield connection


async def async_redis_client(redis_url: str) -> AsyncIterator[Redis]:
    """Yield a redis.asyncio client; otherwise as `redis_client`."""
    from redis.asyncio import Redis

    async with Redis.from_url(redis_url) as client:
        yield client


def plugin(config: pytest.Config) -> ModuleType:
    """Return a plugin with these fixtures: pytest-asyncio's own, or plain ones, such as anyio runs."""
    fixture: Callable[..., Any] = pytest.fixture
    if config.pluginmanager.hasplugin("asyncio"):
        import pytest_asyncio

        fixture = pytest_asyncio.fixture
    made = ModuleType(f"{__name__}.made")  # pytest looks for fixtures in modules
    for function in (async_postgres_connection, async_redis_client):
        setattr(made, function.__name__, fixture(function))
    return made
