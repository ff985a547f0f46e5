"""What adapters of libraries on Redis share: clients as callers have them, and a look from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.stores.requiring import required

_REFUSALS = ("ConnectionError", "TimeoutError", "ReadOnlyError", "OutOfMemoryError", "DataError")
"""What redis-py says of connections and servers, and of values that it does not send."""


class RedisClients:
    """Makes plain clients for a library that takes them from its caller."""

    needs = ("redis",)
    project: str
    """The library's, for sentences on what cannot be imported."""

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's own `options`; `single`: on one connection."""
        settings = {
            "socket_timeout": env.wait,
            "socket_connect_timeout": env.wait,
            "max_connections": 1 if single else env.pool_size,
            **options,
        }
        pool = required(self.project, "redis", "BlockingConnectionPool")
        return required(self.project, "redis", "Redis")(
            connection_pool=pool.from_url(env.redis_url, timeout=env.wait, **settings)
        )

    def client_works(self, client: Any) -> bool:
        """Return whether the client answers."""
        return bool(client.ping())

    def close_client(self, client: Any) -> None:
        """Close the client's connections."""
        client.close()
        client.connection_pool.disconnect()

    def _refusals(self, *more: type[Exception]) -> tuple[type[Exception], ...]:
        """Return the errors by which a library on such a client refuses, with `more` of its own."""
        errors = (required(self.project, "redis.exceptions", name) for name in _REFUSALS)
        return (ValueError, TypeError, LookupError, *errors, *more)


@contextmanager
def outside(env: StoreEnv) -> Iterator[Any]:
    """Yield a client that gives strings, to look at a store's keys with."""
    client = required("redis", "redis", "Redis")
    with client.from_url(env.redis_url, decode_responses=True, protocol=2) as opened:
        yield opened
