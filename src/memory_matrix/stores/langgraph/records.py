"""Adapters for LangGraph's Postgres stores: an item is a record, found by the embedding of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from memory_matrix.stores.adapting.on_postgres import OnPgvector, execute
from memory_matrix.stores.adapting.opening import AsyncOpened, Store
from memory_matrix.stores.adapting.requiring import offered, required
from memory_matrix.stores.langgraph import items
from memory_matrix.stores.langgraph.connections import PROJECT, conn_string, open_pool, refusals
from memory_matrix.stores.langgraph.opening import AsyncEntered, Entered
from memory_matrix.stores.protocol import Filter, Page, Record, Scope, StoreEnv

ITEMS, VECTORS = "store", "store_vectors"

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


class _Store(OnPgvector):
    """What a plain and an async store share."""

    project = PROJECT
    table_names = (ITEMS, VECTORS)
    policy = POLICY
    _name: str

    def __init__(self) -> None:
        self._store = offered(PROJECT, "langgraph.store.postgres", self._name)
        self._put_op = offered(PROJECT, "langgraph.store.base", "PutOp")
        self.refusals = refusals()

    def expire_now(self, store: Store, scope: Scope) -> None:
        """Set the end of the namespace's items back."""
        execute(
            store.env,
            "UPDATE store SET expires_at = now() - interval '1 hour'"
            " WHERE prefix = %s AND expires_at IS NOT NULL",
            _joined(scope),
        )

    def _opening(self, env: StoreEnv) -> Any:
        return self._store.from_conn_string(conn_string(env), **self._settings(env))

    def _settings(self, env: StoreEnv) -> dict[str, Any]:
        """Return what the library's store is made with."""
        return {} if env.embed is None else {"index": items.index(env)}

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {ITEMS: {"prefix": _joined(scope)}}  # their vectors go with them


class PostgresStore(_Store, items.SearchedItems, Entered):
    """`PostgresStore.from_conn_string`: one connection, with an index by embeddings."""

    _name = "PostgresStore"

    @property
    def twin(self) -> AsyncPostgresStore:
        """The async store."""
        return AsyncPostgresStore()


class TunedPostgresStore(PostgresStore):
    """`PostgresStore` as it has to be set up: expired items are left out, scans go on, on a pool."""

    policy = replace(POLICY, connection="pool")

    @contextmanager
    def _opening(self, env: StoreEnv) -> Iterator[Any]:
        info = required(PROJECT, "psycopg.conninfo", "conninfo_to_dict")(env.postgres_dsn)
        options = f"{info.get('options', '')} -c hnsw.iterative_scan=strict_order"
        settings = {"ttl": {"omit_expired": True}, **self._settings(env)}
        with open_pool(env, options=options) as pool:
            yield self._store(pool, **settings)


class AsyncPostgresStore(_Store, AsyncEntered):
    """`AsyncPostgresStore.from_conn_string`."""

    _name = "AsyncPostgresStore"

    @property
    def twin(self) -> PostgresStore:
        """The plain store."""
        return PostgresStore()

    async def put(
        self, store: AsyncOpened, scope: Scope, record: Record, *, ttl: float | None = None
    ) -> None:
        """Put an item."""
        await store.library.aput(
            scope.namespace, record.id, items.value(record), **items.living(ttl)
        )

    async def put_many(
        self,
        store: AsyncOpened,
        scope: Scope,
        records: Sequence[Record],
        *,
        ttl: float | None = None,
    ) -> None:
        """Put items in one batch."""
        await store.library.abatch(items.puts(self._put_op, scope, records, ttl))

    async def get(self, store: AsyncOpened, scope: Scope, id: str) -> Record | None:
        """Return an item."""
        return items.found(await store.library.aget(scope.namespace, id))

    async def delete(self, store: AsyncOpened, scope: Scope, id: str) -> None:
        """Delete an item."""
        await store.library.adelete(scope.namespace, id)

    async def list_records(
        self,
        store: AsyncOpened,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of the items at and below a namespace; a cursor is an offset."""
        asked = items.listing(items.conditions(filter), limit, cursor)
        return items.page(await store.library.asearch(scope.namespace, **asked), asked)

    async def list_namespaces(
        self, store: AsyncOpened, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below `prefix`."""
        return list(await store.library.alist_namespaces(prefix=prefix))

    async def search(
        self, store: AsyncOpened, scope: Scope, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the keys of the items most like a text, with their scores."""
        asked = {"query": query, "limit": k, "filter": items.conditions(filter)}
        return items.scored(await store.library.asearch(scope.namespace, **asked))


def _joined(scope: Scope) -> str:
    """Return a namespace as the library's tables have it."""
    return ".".join(scope.namespace)
