"""Adapters for `RedisStore`: an item is a record, with an index also found by its text's embedding."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from memory_matrix.stores.adapting.on_redis import keys_at, outside
from memory_matrix.stores.adapting.opening import Opened, Store
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.langgraph import items
from memory_matrix.stores.langgraph.redis_connections import PROJECT, OnRedis, url_of
from memory_matrix.stores.protocol import Filter, Scope, StoreEnv


class RedisStore(OnRedis, items.Items):
    """`RedisStore.from_conn_string` without an index, with a prefix of its own."""

    policy = replace(items.POLICY, nul="keep", sentinel="yes")  # what JSON has is kept as it is

    def __init__(self) -> None:
        super().__init__()
        self._store = required(PROJECT, "langgraph.store.redis", "RedisStore")
        self._put_op = required("langgraph-checkpoint", "langgraph.store.base", "PutOp")

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a store on a client of the caller's."""
        return Opened(env, self._store(client, **self._settings(env)))

    def raw_keys(self, store: Store, scope: Scope) -> list[str]:
        """Return the keys of a namespace's items and of their vectors."""
        prefixes = self._prefixes(store.env).values()
        with outside(store.env) as client:
            return [
                key
                for prefix in prefixes
                for key in keys_at(client, f"{prefix}:")
                if namespace_of(client.json().get(key)) == scope.namespace
            ]

    def _opening(self, env: StoreEnv) -> Any:
        return self._store.from_conn_string(url_of(env), **self._settings(env))

    def _conditions(self, wanted: Filter | None) -> dict[str, Any] | None:
        return items.plain_conditions(wanted)

    def _prefixes(self, env: StoreEnv) -> dict[str, str]:
        """Return the prefixes of items and of vectors."""
        return {
            "store_prefix": f"{env.prefix}store",
            "vector_prefix": f"{env.prefix}store_vectors",
        }

    def _settings(self, env: StoreEnv) -> dict[str, Any]:
        """Return what the library's store is made with."""
        return self._prefixes(env)


class IndexedRedisStore(RedisStore, items.SearchedItems):
    """`RedisStore.from_conn_string` with an index by embeddings."""

    policy = replace(
        RedisStore.policy,
        search_by="text",
        vectors="no",
        dimensions="one",
        metrics=tuple(items.METRICS),
    )

    def _settings(self, env: StoreEnv) -> dict[str, Any]:
        return {**super()._settings(env), "index": items.index(env)}


class FlatIndexedRedisStore(IndexedRedisStore):
    """The same with a prefix that has no colons, as those that the library has by default."""

    policy = replace(IndexedRedisStore.policy, key_prefix="no")

    def _prefixes(self, env: StoreEnv) -> dict[str, str]:
        return super()._prefixes(replace(env, prefix=env.prefix.replace(":", "-")))


def namespace_of(document: Any) -> tuple[str, ...]:
    """Return the namespace of a stored document, in which it is joined and escaped; () for none."""
    return tuple(re.sub(r"\\(.)", r"\1", document["prefix"]).split(".")) if document else ()
