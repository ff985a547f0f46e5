"""What the savers and the stores on Redis have in common: how they are opened, and where their keys are."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.stores.redis_clients import RedisClients
from memory_matrix.stores.requiring import required

PROJECT = "langgraph-checkpoint-redis"


@dataclass(frozen=True)
class Opened:
    """One of the library's objects, with what has to be left when it is closed."""

    library: Any
    env: StoreEnv
    stack: ExitStack


class OnRedis(RedisClients):
    """What adapters of the library's objects on Redis share."""

    project = PROJECT
    own_database = True  # the first one, where search indexes are

    def __init__(self) -> None:
        self.refusals = self._refusals(required(PROJECT, "redisvl.exceptions", "RedisVLError"))

    def setup(self, store: Opened) -> None:
        """Make the indexes."""
        store.library.setup()

    def close(self, store: Opened) -> None:
        """Close the connections."""
        store.stack.close()


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


def keys_at(client: Any, start: str) -> list[str]:
    """Return the keys that begin with `start`."""
    pattern = re.sub(r"([\\*?\[\]])", r"\\\1", start)
    return sorted(client.scan_iter(match=f"{pattern}*", count=1000))
