"""Adapters for LangGraph's Postgres stores: an item is a record, found by the embedding of its text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from typing import Any

from memory_matrix.stores.langgraph import items
from memory_matrix.stores.langgraph.connections import (
    PROJECT,
    Opened,
    conn_string,
    refusals,
    rows,
)
from memory_matrix.stores.langgraph.savers import open_pool
from memory_matrix.stores.outside import execute, hnsw_indexes
from memory_matrix.stores.protocol import Filter, Page, RawRow, Record, Scope, StoreEnv
from memory_matrix.stores.requiring import offered, required

TABLES = ("store", "store_vectors")

POLICY = replace(
    items.POLICY,
    nul="refuse",
    surrogate="refuse",
    nan="refuse",
    list_order="updated",
    list_direction="down",
    connection="single",
    ttl_refresh="read",
    search_by="text",
    loops="one",  # the async one takes that which it is made on
    vectors="no",
    dimensions="one",
    metrics=tuple(items.METRICS),
    index="hnsw",
)

Open = Opened[ExitStack]
AsyncOpen = Opened[AsyncExitStack]


class _Store:
    """What a plain and an async store share."""

    needs = ("postgres",)
    policy = POLICY
    _module: str
    _name: str

    def __init__(self) -> None:
        self._store = offered(PROJECT, self._module, self._name)
        self._put_op = offered(PROJECT, "langgraph.store.base", "PutOp")
        self.refusals = refusals()

    def tables(self, store: Any) -> list[str]:
        """Return the tables that hold items."""
        return list(TABLES)

    def indexes(self, store: Open | AsyncOpen) -> list[str]:
        """Return the names of the vector indexes."""
        return hnsw_indexes(store.env)

    def raw_rows(self, store: Open | AsyncOpen, scope: Scope) -> list[RawRow]:
        """Return the rows of the items of a namespace; their vectors go with them."""
        return rows(store.env, TABLES[:1], "prefix", _joined(scope))

    def expire_now(self, store: Open | AsyncOpen, scope: Scope) -> None:
        """Set the end of the namespace's items back."""
        execute(
            store.env,
            "UPDATE store SET expires_at = now() - interval '1 hour'"
            " WHERE prefix = %s AND expires_at IS NOT NULL",
            _joined(scope),
        )

    def _settings(self, env: StoreEnv) -> dict[str, Any]:
        """Return what the library's store is made with."""
        return {} if env.embed is None else {"index": items.index(env)}

    def _puts(self, scope: Scope, records: Sequence[Record], ttl: float | None) -> list[Any]:
        return [
            self._put_op(scope.namespace, each.id, items.value(each), **items.living(ttl))
            for each in records
        ]


class PostgresStore(_Store):
    """`PostgresStore.from_conn_string`: one connection, with an index by embeddings."""

    _module = "langgraph.store.postgres"
    _name = "PostgresStore"

    @property
    def twin(self) -> AsyncPostgresStore:
        """The async store."""
        return AsyncPostgresStore()

    def open(self, env: StoreEnv) -> Open:
        """Return a store with a connection of its own."""
        with ExitStack() as stack:
            opening = self._store.from_conn_string(conn_string(env), **self._settings(env))
            return Opened(stack.enter_context(opening), env, stack.pop_all())

    def setup(self, store: Open) -> None:
        """Run the migrations."""
        store.library.setup()

    def close(self, store: Open) -> None:
        """Close the connection."""
        store.stack.close()

    def put(self, store: Open, scope: Scope, record: Record, *, ttl: float | None = None) -> None:
        """Put an item."""
        store.library.put(scope.namespace, record.id, items.value(record), **items.living(ttl))

    def put_many(
        self, store: Open, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Put items in one batch."""
        store.library.batch(self._puts(scope, records, ttl))

    def get(self, store: Open, scope: Scope, id: str) -> Record | None:
        """Return an item."""
        return items.found(store.library.get(scope.namespace, id))

    def delete(self, store: Open, scope: Scope, id: str) -> None:
        """Delete an item."""
        store.library.delete(scope.namespace, id)

    def list_records(
        self,
        store: Open,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of the items at and below a namespace; a cursor is an offset."""
        asked = items.listing(filter, limit, cursor)
        return items.page(store.library.search(scope.namespace, **asked), asked)

    def list_namespaces(
        self, store: Open, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below `prefix`."""
        return list(store.library.list_namespaces(prefix=prefix))

    def search(
        self, store: Open, scope: Scope, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the keys of the items most like a text, with their scores."""
        found = store.library.search(
            scope.namespace, query=query, limit=k, filter=items.conditions(filter)
        )
        return items.scored(found)


class TunedPostgresStore(PostgresStore):
    """`PostgresStore` as it has to be set up: expired items are left out, scans go on, on a pool."""

    policy = replace(POLICY, connection="pool")

    def open(self, env: StoreEnv) -> Open:
        """Return a store with a pool of its own."""
        info = required(PROJECT, "psycopg.conninfo", "conninfo_to_dict")(env.postgres_dsn)
        options = f"{info.get('options', '')} -c hnsw.iterative_scan=strict_order"
        settings = {"ttl": {"omit_expired": True}, **self._settings(env)}
        with ExitStack() as stack:
            pool = stack.enter_context(open_pool(env, options=options))
            return Opened(self._store(pool, **settings), env, stack.pop_all())


class AsyncPostgresStore(_Store):
    """`AsyncPostgresStore.from_conn_string`."""

    _module = "langgraph.store.postgres"
    _name = "AsyncPostgresStore"

    @property
    def twin(self) -> PostgresStore:
        """The plain store."""
        return PostgresStore()

    async def open(self, env: StoreEnv) -> AsyncOpen:
        """Return a store with a connection of its own."""
        async with AsyncExitStack() as stack:
            opening = self._store.from_conn_string(conn_string(env), **self._settings(env))
            return Opened(await stack.enter_async_context(opening), env, stack.pop_all())

    async def setup(self, store: AsyncOpen) -> None:
        """Run the migrations."""
        await store.library.setup()

    async def close(self, store: AsyncOpen) -> None:
        """Close the connection."""
        await store.stack.aclose()

    async def put(
        self, store: AsyncOpen, scope: Scope, record: Record, *, ttl: float | None = None
    ) -> None:
        """Put an item."""
        await store.library.aput(
            scope.namespace, record.id, items.value(record), **items.living(ttl)
        )

    async def put_many(
        self, store: AsyncOpen, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Put items in one batch."""
        await store.library.abatch(self._puts(scope, records, ttl))

    async def get(self, store: AsyncOpen, scope: Scope, id: str) -> Record | None:
        """Return an item."""
        return items.found(await store.library.aget(scope.namespace, id))

    async def delete(self, store: AsyncOpen, scope: Scope, id: str) -> None:
        """Delete an item."""
        await store.library.adelete(scope.namespace, id)

    async def list_records(
        self,
        store: AsyncOpen,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of the items at and below a namespace; a cursor is an offset."""
        asked = items.listing(filter, limit, cursor)
        return items.page(await store.library.asearch(scope.namespace, **asked), asked)

    async def list_namespaces(
        self, store: AsyncOpen, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below `prefix`."""
        return list(await store.library.alist_namespaces(prefix=prefix))

    async def search(
        self, store: AsyncOpen, scope: Scope, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the keys of the items most like a text, with their scores."""
        asked = {"query": query, "limit": k, "filter": items.conditions(filter)}
        return items.scored(await store.library.asearch(scope.namespace, **asked))


def _joined(scope: Scope) -> str:
    """Return a namespace as the library's tables have it."""
    return ".".join(scope.namespace)
