"""The adapters and the stores that carry them: two kinds of one thing, found by name."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.stores import AsyncRedisStore, RedisStore, StoreEnv
from memory_matrix.stores.loading import PARTS, load_store
from memory_matrix.stores.redis import AsyncRedisAdapter, RedisAdapter
from memory_matrix.stores.redis.adapter import settings, target

PAIRS = [(RedisStore, AsyncRedisStore), (RedisAdapter, AsyncRedisAdapter)]


def methods(kind: type) -> dict[str, Any]:
    return {name: each for name, each in vars(kind).items() if inspect.isfunction(each)}


@pytest.mark.parametrize(("plain", "twin"), PAIRS)
def test_both_kinds_have_the_same_calls(plain: type, twin: type) -> None:
    others = {name.replace("__a", "__"): each for name, each in methods(twin).items()}
    assert methods(plain).keys() == others.keys()
    for name, method in methods(plain).items():
        if name != "__init__":
            assert method.__doc__ == others[name].__doc__
        parameters = [
            (each.name, each.kind, each.default)
            for each in inspect.signature(method).parameters.values()
        ]
        assert parameters == [
            (each.name, each.kind, each.default)
            for each in inspect.signature(others[name]).parameters.values()
        ]


@pytest.mark.parametrize("name", ["RedisStore", "AsyncRedisStore"])
def test_a_store_is_found_by_its_name_and_has_every_part(name: str) -> None:
    store = load_store(f"memory_matrix.stores:{name}", Path())

    assert all(store.part(part) for part in PARTS)
    assert store.needs == ("redis",)
    assert store.takes_serializer
    assert store.is_async is name.startswith("Async")
    assert store.adapter.twin in {RedisAdapter, AsyncRedisAdapter} - {type(store.adapter)}


def test_an_environment_says_where_and_how_a_store_is_opened() -> None:
    env = StoreEnv(
        redis_url="redis://host:1/2",
        prefix="p:",
        dimensions=3,
        metric="l2",
        ttl=1.5,
        pool_size=7,
        wait=2.0,
        topology="sentinel",
        nodes=("redis://host:2",),
        primary="it",
    )
    where, how = target(env), settings(env)

    assert (where.url, where.topology, where.nodes) == (env.redis_url, "sentinel", env.nodes)
    assert (where.primary, where.pool_size, where.wait) == ("it", 7, 2.0)
    assert (how.prefix, how.dimensions, how.metric, how.ttl) == ("p:", 3, "l2", 1.5)


def test_opening_calls_upon_no_server() -> None:
    env = StoreEnv(redis_url="redis://192.0.2.1:1")
    store = RedisAdapter().open(env)
    RedisAdapter().close(store)
