"""Make redis-py's clients for a single server, for sentinels and for a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.redis.failures import FAILURES

_SHARED = ("retry", "socket_timeout", "socket_connect_timeout")
"""Options that are for the sentinels too."""


@dataclass(frozen=True)
class Target:
    """The servers that a store opens its own connections to."""

    url: str | None = None
    topology: Literal["single", "sentinel", "cluster"] = "single"
    nodes: tuple[str, ...] = ()
    """URLs of a cluster's nodes, or of sentinels."""
    primary: str | None = None
    """The name by which the sentinels know the primary."""
    pool_size: int = 8
    """The most connections, to one node of a cluster."""
    wait: float = 5.0
    """Seconds to wait for a connection, and for an answer."""


def own(target: Target) -> dict[str, Any]:
    """Return the options of a store's own client: what can be tried again, the store itself knows."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return {
        "max_connections": target.pool_size,
        "retry": Retry(NoBackoff(), 0),
        "socket_connect_timeout": target.wait,
        "socket_timeout": target.wait,
    }


def async_own(target: Target) -> dict[str, Any]:
    """Return the options of a store's own asyncio client."""
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return {**own(target), "retry": Retry(NoBackoff(), 0)}


def sync_client(target: Target, **options: Any) -> Any:
    """Return a plain client with options of redis-py.

    Raises:
        RefusedError: the target names no server.
        redis.RedisError: a cluster cannot be reached; other servers are called upon later.
    """
    import redis
    from redis.cluster import ClusterNode, RedisCluster
    from redis.sentinel import Sentinel

    if target.topology == "single":
        return _single(redis.Redis, target, options)
    if target.topology == "sentinel":
        return _primary(Sentinel, target, options)
    return _cluster(RedisCluster, ClusterNode, target, options)


def async_client(target: Target, **options: Any) -> Any:
    """Return an asyncio client with options of redis-py; no server is called upon.

    Raises:
        RefusedError: the target names no server.
    """
    from redis import asyncio as redis
    from redis.asyncio.cluster import ClusterNode, RedisCluster
    from redis.asyncio.sentinel import Sentinel

    if target.topology == "single":
        return _single(redis.Redis, target, options)
    if target.topology == "sentinel":
        return _primary(Sentinel, target, options)
    return _cluster(RedisCluster, ClusterNode, target, options)


def refuse_other_kind(client: Any, *, is_async: bool) -> None:
    """Refuse a client that the caller's kind of store cannot use.

    Raises:
        RefusedError: it is no client of redis-py, or one of the other kind.
    """
    execute = getattr(client, "execute_command", None)
    if execute is None:
        raise RefusedError(
            f"A store is opened on a URL, a Target or a client of redis-py, not on a "
            f"{type(client).__name__}."
        )
    if inspect.iscoroutinefunction(execute) is not is_async:
        wanted = "redis.asyncio, or use RedisStore" if is_async else "redis, or use AsyncRedisStore"
        raise RefusedError(
            f"{type(client).__module__}.{type(client).__name__} is a client of the other kind; give "
            f"one of {wanted}."
        )


def close_client(client: Any) -> None:
    """Close a plain client, and those by which it asks sentinels for the primary."""
    for each in _with_sentinels(client):
        with suppress(*FAILURES):
            each.close()


async def async_close_client(client: Any) -> None:
    """Close an asyncio client, and those by which it asks sentinels for the primary."""
    for each in _with_sentinels(client):
        with suppress(*FAILURES):
            await each.aclose()


def _with_sentinels(client: Any) -> list[Any]:
    pool = getattr(client, "connection_pool", None)
    return [client, *getattr(getattr(pool, "sentinel_manager", None), "sentinels", ())]


def _url(target: Target) -> str:
    url = target.url or next(iter(target.nodes), None)
    if not url:
        raise RefusedError("The store was given no URL of a server.")
    return url


def _parts(url: str) -> dict[str, Any]:
    from redis import connection

    parse: Callable[[str], Mapping[str, Any]] = connection.parse_url

    try:
        return dict(parse(url))
    except ValueError as error:
        raise RefusedError(f"It is no URL of a Redis server: {error}.") from None


def _addresses(target: Target) -> list[tuple[str, int]]:
    urls = target.nodes or (_url(target),)
    parts = [_parts(url) for url in urls]
    return [(each.get("host", "localhost"), int(each.get("port", 6379))) for each in parts]


def _credentials(url: str | None) -> dict[str, Any]:
    parts = _parts(url) if url else {}
    return {key: parts[key] for key in ("username", "password") if key in parts}


def _single(client_class: Any, target: Target, options: Mapping[str, Any]) -> Any:
    url = _url(target)
    _parts(url)  # says what is wrong with it
    return client_class.from_url(url, **options)


def _primary(sentinel_class: Any, target: Target, options: Mapping[str, Any]) -> Any:
    if not target.primary:
        raise RefusedError("With sentinels, a store needs the name of the primary.")
    database = _parts(target.url).get("db", 0) if target.url else 0
    sentinels = sentinel_class(
        _addresses(target),
        sentinel_kwargs={
            **{key: options[key] for key in _SHARED if key in options},
            **_credentials(next(iter(target.nodes), None)),
        },
        **options,
    )
    return sentinels.master_for(target.primary, db=database, **_credentials(target.url))


def _cluster(
    cluster_class: Any, node_class: Any, target: Target, options: Mapping[str, Any]
) -> Any:
    nodes = [node_class(host, port) for host, port in _addresses(target)]
    return cluster_class(startup_nodes=nodes, **_credentials(_url(target)), **options)
