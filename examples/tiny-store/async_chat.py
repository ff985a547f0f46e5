"""The same small store of conversations, on Redis and asyncio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import redis
import redis.asyncio
from redis_chat import ChatError, exact, key


class AsyncRedisChat:
    """The history of each session, for the tasks of the one event loop that it is first used in."""

    def __init__(self, url: str, prefix: str, ttl: float | None = None) -> None:
        if ttl is not None and ttl <= 0:
            raise ValueError(f"a session lives for some time, not for {ttl} s")
        # Tasks wait for a connection while all are in use; the usual pool would raise.
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            url, socket_timeout=3, max_connections=10
        )
        self._client = redis.asyncio.Redis(connection_pool=pool)
        self._prefix = prefix
        self._ttl = ttl
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def add(self, session: str, bodies: list[dict[str, Any]]) -> None:
        rows = [exact(body) for body in bodies]
        if rows:
            async with self._open() as client, client.pipeline(transaction=True) as pipeline:
                pipeline.rpush(key(self._prefix, session), *rows)
                if self._ttl is not None:  # anew with each write
                    pipeline.pexpire(key(self._prefix, session), round(self._ttl * 1000))
                await pipeline.execute()

    async def history(self, session: str) -> list[dict[str, Any]]:
        async with self._open() as client:
            return [
                json.loads(row) for row in await client.lrange(key(self._prefix, session), 0, -1)
            ]

    async def forget(self, session: str) -> None:
        async with self._open() as client:
            await client.delete(key(self._prefix, session))

    async def close(self) -> None:
        self._closed = True
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[redis.asyncio.Redis]:
        here = asyncio.get_running_loop()
        self._loop = self._loop or here
        if self._loop is not here:  # its connections belong to the other one
            raise ChatError("this store is used in another event loop")
        if self._closed:
            raise ValueError("the store is closed")
        try:
            yield self._client
        except redis.RedisError as error:
            raise ChatError(f"the history is out of reach: {error}") from error
