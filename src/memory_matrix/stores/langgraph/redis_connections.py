"""What the savers and the stores on Redis have in common: how they are opened, and a look from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.stores.requiring import required

PROJECT = "langgraph-checkpoint-redis"
_REFUSALS = ("ConnectionError", "TimeoutError", "ReadOnlyError", "OutOfMemoryError", "DataError")
"""What redis-py says of connections and servers, and of values that it does not send."""


@dataclass(frozen=True)
class Opened:
    """One of the library's objects, with what has to be left when it is closed."""

    library: Any
    env: StoreEnv
    stack: ExitStack


class OnRedis:
    """What adapters of the library's objects on Redis share."""

    needs = ("redis",)
    own_database = True  # the first one, where search indexes are

    def __init__(self) -> None:
        errors = [required(PROJECT, "redis.exceptions", name) for name in _REFUSALS]
        errors.append(required(PROJECT, "redisvl.exceptions", "RedisVLError"))
        self.refusals = (ValueError, TypeError, LookupError, *errors)

    def setup(self, store: Opened) -> None:
        """Make the indexes."""
        store.library.setup()

    def close(self, store: Opened) -> None:
        """Close the connections."""
        store.stack.close()

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's own `options`; `single`: on one connection."""
        settings = {
            "socket_timeout": env.wait,
            "socket_connect_timeout": env.wait,
            "max_connections": 1 if single else env.pool_size,
            **options,
        }
        pool = required(PROJECT, "redis", "BlockingConnectionPool")
        return required(PROJECT, "redis", "Redis")(
            connection_pool=pool.from_url(env.redis_url, timeout=env.wait, **settings)
        )

    def client_works(self, client: Any) -> bool:
        """Return whether the client answers."""
        return bool(client.ping())

    def close_client(self, client: Any) -> None:
        """Close the client's connections."""
        client.close()
        client.connection_pool.disconnect()


def url_of(env: StoreEnv) -> str:
    """Return the URL as the library takes it, which has a form of its own for sentinels."""
    parts = urlsplit(str(env.redis_url))
    if env.topology != "sentinel":
        waits = {"socket_timeout": env.wait, "socket_connect_timeout": env.wait}
        return urlunsplit(parts._replace(query=urlencode(waits)))
    user, at, _ = urlsplit(env.nodes[0]).netloc.rpartition("@")
    hosts = ",".join(urlsplit(each).netloc.rpartition("@")[2] for each in env.nodes)
    path = f"/{env.primary}/{parts.path.strip('/') or 0}"
    return urlunsplit(("redis+sentinel", f"{user}{at}{hosts}", path, "", ""))


@contextmanager
def outside(env: StoreEnv) -> Iterator[Any]:
    """Yield a client that gives strings, to look at the store's keys with."""
    client = required(PROJECT, "redis", "Redis")
    with client.from_url(env.redis_url, decode_responses=True, protocol=2) as opened:
        yield opened


def keys_at(client: Any, start: str) -> list[str]:
    """Return the keys that begin with `start`."""
    pattern = re.sub(r"([\\*?\[\]])", r"\\\1", start)
    return sorted(client.scan_iter(match=f"{pattern}*", count=1000))
