"""Adapters for `RedisStore`: an item is a record, with an index also found by its text's embedding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from memory_matrix.stores.langgraph import items
from memory_matrix.stores.langgraph.redis_connections import (
    PROJECT,
    OnRedis,
    Opened,
    keys_at,
    url_of,
)
from memory_matrix.stores.protocol import Filter, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis_clients import outside
from memory_matrix.stores.requiring import required


class RedisStore(OnRedis):
    """`RedisStore.from_conn_string` without an index, with a prefix of its own."""

    policy = replace(items.POLICY, nul="keep", sentinel="yes")  # what JSON has is kept as it is

    def __init__(self) -> None:
        super().__init__()
        self._store = required(PROJECT, "langgraph.store.redis", "RedisStore")
        self._put_op = required("langgraph-checkpoint", "langgraph.store.base", "PutOp")

    def open(self, env: StoreEnv) -> Opened:
        """Return a store with connections of its own."""
        with ExitStack() as stack:
            opening = self._store.from_conn_string(url_of(env), **self._settings(env))
            return Opened(stack.enter_context(opening), env, stack.pop_all())

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a store on a client of the caller's."""
        return Opened(self._store(client, **self._settings(env)), env, ExitStack())

    def put(self, store: Opened, scope: Scope, record: Record, *, ttl: float | None = None) -> None:
        """Put an item."""
        store.library.put(scope.namespace, record.id, items.value(record), **items.living(ttl))

    def put_many(
        self, store: Opened, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Put items in one batch."""
        living = items.living(ttl)
        store.library.batch(
            [
                self._put_op(scope.namespace, each.id, items.value(each), **living)
                for each in records
            ]
        )

    def get(self, store: Opened, scope: Scope, id: str) -> Record | None:
        """Return an item."""
        return items.found(store.library.get(scope.namespace, id))

    def delete(self, store: Opened, scope: Scope, id: str) -> None:
        """Delete an item."""
        store.library.delete(scope.namespace, id)

    def list_records(
        self,
        store: Opened,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of the items at and below a namespace; a cursor is an offset."""
        asked = {**items.listing(filter, limit, cursor), "filter": items.plain_conditions(filter)}
        return items.page(store.library.search(scope.namespace, **asked), asked)

    def list_namespaces(
        self, store: Opened, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below `prefix`."""
        return list(store.library.list_namespaces(prefix=prefix))

    def raw_keys(self, store: Opened, scope: Scope) -> list[str]:
        """Return the keys of a namespace's items and of their vectors."""
        prefixes = self._prefixes(store.env).values()
        with outside(store.env) as client:
            return [
                key
                for prefix in prefixes
                for key in keys_at(client, f"{prefix}:")
                if namespace_of(client.json().get(key)) == scope.namespace
            ]

    def expire_now(self, store: Opened, scope: Scope) -> None:
        """Let the keys of a namespace expire at once."""
        with outside(store.env) as client:
            for key in self.raw_keys(store, scope):
                client.pexpire(key, 1)

    def _prefixes(self, env: StoreEnv) -> dict[str, str]:
        """Return the prefixes of items and of vectors."""
        return {
            "store_prefix": f"{env.prefix}store",
            "vector_prefix": f"{env.prefix}store_vectors",
        }

    def _settings(self, env: StoreEnv) -> dict[str, Any]:
        """Return what the library's store is made with."""
        return self._prefixes(env)


class IndexedRedisStore(RedisStore):
    """`RedisStore.from_conn_string` with an index by embeddings."""

    policy = replace(
        RedisStore.policy,
        search_by="text",
        vectors="no",
        dimensions="one",
        metrics=tuple(items.METRICS),
    )

    def search(
        self, store: Opened, scope: Scope, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the keys of the items most like a text, with their scores."""
        found = store.library.search(
            scope.namespace, query=query, limit=k, filter=items.plain_conditions(filter)
        )
        return items.scored(found)

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
