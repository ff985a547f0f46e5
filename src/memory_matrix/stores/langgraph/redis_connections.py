"""What LangGraph's savers and stores on Redis have in common: their clients and their URLs."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit, urlunsplit

from memory_matrix.stores.adapting.on_redis import ExpiringKeys, SearchClients
from memory_matrix.stores.langgraph.opening import Entered
from memory_matrix.stores.protocol import StoreEnv

PROJECT = "langgraph-checkpoint-redis"


class OnRedis(SearchClients, Entered, ExpiringKeys):
    """What adapters of the library's objects on Redis share."""

    project = PROJECT


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
