"""Clients of Redis as callers have them, for libraries that take one, and a look from outside."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memory_matrix.stores.adapting.opening import Store
from memory_matrix.stores.adapting.requiring import refusals, required
from memory_matrix.stores.protocol import Scope, StoreEnv

_REFUSALS = ("ConnectionError", "TimeoutError", "ReadOnlyError", "OutOfMemoryError", "DataError")
"""What redis-py says of connections and servers, and of values that it does not send."""


class _Clients:
    needs = ("redis",)
    project: str
    """The library's, for sentences on what cannot be imported."""
    _module: str

    def __init__(self) -> None:
        self.refusals = refusals(self.project, "redis.exceptions", *_REFUSALS)

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's own `options`; `single`: on one connection."""
        settings = {
            "socket_timeout": env.wait,
            "socket_connect_timeout": env.wait,
            "max_connections": 1 if single else env.pool_size,
            **options,
        }
        pool = required(self.project, self._module, "BlockingConnectionPool")
        return required(self.project, self._module, "Redis")(
            connection_pool=pool.from_url(env.redis_url, timeout=env.wait, **settings)
        )


class RedisClients(_Clients):
    """Makes plain clients."""

    _module = "redis"

    def client_works(self, client: Any) -> bool:
        """Return whether the client answers."""
        return bool(client.ping())

    def close_client(self, client: Any) -> None:
        """Close the client's connections."""
        client.close()
        client.connection_pool.disconnect()


class AsyncRedisClients(_Clients):
    """Makes async ones."""

    _module = "redis.asyncio"

    async def client_works(self, client: Any) -> bool:
        """Return whether the client answers."""
        return bool(await client.ping())

    async def close_client(self, client: Any) -> None:
        """Close the client's connections."""
        await client.aclose()
        await client.connection_pool.disconnect()


class SearchClients(RedisClients):
    """Makes plain ones for a library that searches by redisvl."""

    own_database = True  # the first one, where search indexes are

    def __init__(self) -> None:
        super().__init__()
        self.refusals += (required(self.project, "redisvl.exceptions", "RedisVLError"),)


class ExpiringKeys(ABC):
    """An adapter for a library whose keys have a time to live."""

    @abstractmethod
    def raw_keys(self, store: Store, scope: Scope) -> list[str]:
        """Return the keys that hold what a scope has."""

    def expire_now(self, store: Store, scope: Scope) -> None:
        """Let those keys expire at once."""
        with outside(store.env) as client:
            for key in self.raw_keys(store, scope):
                client.pexpire(key, 1)


@contextmanager
def outside(env: StoreEnv) -> Iterator[Any]:
    """Yield a client that gives strings, to look at a store's keys with."""
    client = required("redis", "redis", "Redis")
    with client.from_url(env.redis_url, decode_responses=True, protocol=2) as opened:
        yield opened


def keys_at(client: Any, start: str) -> list[str]:
    """Return the keys that begin with `start`."""
    pattern = re.sub(r"([\\*?\[\]])", r"\\\1", start)
    return sorted(client.scan_iter(match=f"{pattern}*", count=1000))
