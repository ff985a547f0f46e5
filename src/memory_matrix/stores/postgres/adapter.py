"""The adapters by which the memory test suite, and the compat engine, drive the stores."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from memory_matrix.stores.errors import RefusedError, StoreError
from memory_matrix.stores.policy import FILTER_OPERATORS, MESSAGE_FIELDS, METRICS, Policy
from memory_matrix.stores.postgres import outside
from memory_matrix.stores.postgres.async_store import AsyncPostgresStore
from memory_matrix.stores.postgres.layout import Layout
from memory_matrix.stores.postgres.plans import Handle
from memory_matrix.stores.postgres.sql import statements_of
from memory_matrix.stores.postgres.store import PostgresStore
from memory_matrix.stores.protocol import (
    Filter,
    Level,
    Message,
    Record,
    Scope,
    StoreEnv,
)

POLICY = Policy(
    message_fields=MESSAGE_FIELDS,
    negative_zero="drop",  # jsonb has no sign of zero
    scope_parts=("app", "user", "session"),
    record_parts=("app", "user", "namespace"),
    list_order="created",
    conflict="refuse",
    partial_update="replace",
    idempotent_by="id",
    ttl="both",
    ttl_on_append="clear",
    score="distance",
    score_range=(0.0, 2.0),
    metrics=METRICS,
    filters=FILTER_OPERATORS,
    time_filter="inclusive",
    threshold="inclusive",
    zero_query="refuse",  # by cosine; other metrics answer
    index="hnsw",
)


_KNOWN_OPTIONS = ("tables",)


def _options(env: StoreEnv) -> dict[str, Any]:
    return {
        "dimensions": env.dimensions,
        "metric": env.metric,
        "ttl": env.ttl,
        "codec": env.codec,
        "pool_size": env.pool_size,
        "wait": env.wait,
        **{name: env.options[name] for name in _KNOWN_OPTIONS if name in env.options},
    }


def _dsn(env: StoreEnv) -> str:
    if env.postgres_dsn is None:
        raise RefusedError("There is no Postgres to open the store on.")
    return env.postgres_dsn


class _Adapter:
    """What both adapters have: an async store's calls give awaitables, which are passed on."""

    policy: ClassVar[Policy] = POLICY
    needs: ClassVar[tuple[Literal["postgres"]]] = ("postgres",)
    refusals: ClassVar[tuple[type[Exception], ...]] = (StoreError,)
    takes_serializer: ClassVar[bool] = True
    twin: ClassVar[type[_Adapter]]

    def setup(self, store: Any) -> Any:
        """Make tables and indexes."""
        return store.setup()

    def ddl(self, env: StoreEnv) -> str:
        """Return SQL that makes the same in one round trip."""
        return statements_of(Layout(dimensions=env.dimensions, metric=env.metric)).ddl

    def older(self, env: StoreEnv) -> Any:
        """Write a session and a record of `Scope()` in the layout of the release before."""
        return self._with_store(env, lambda store: outside.older(store.plans, Scope()))

    def append(
        self,
        store: Any,
        scope: Scope,
        messages: Sequence[Message],
        *,
        write_id: str | None = None,
    ) -> Any:
        """Append messages."""
        return store.append(scope, messages, write_id=write_id)

    def read(
        self,
        store: Any,
        scope: Scope,
        *,
        limit: int | None = None,
        after: str | dt.datetime | None = None,
    ) -> Any:
        """Return messages."""
        return store.read(scope, limit=limit, after=after)

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> Any:
        """Replace the history."""
        return store.replace(scope, messages)

    def pop(self, store: Any, scope: Scope) -> Any:
        """Remove and return the newest message."""
        return store.pop(scope)

    def delete_message(self, store: Any, scope: Scope, which: str) -> Any:
        """Delete by id."""
        return store.delete_message(scope, which)

    def clear(self, store: Any, scope: Scope) -> Any:
        """Delete the session."""
        return store.clear(scope)

    def count(self, store: Any, scope: Scope) -> Any:
        """Return how many messages there are."""
        return store.count(scope)

    def list_sessions(
        self, store: Any, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Any:
        """Return a page of session ids."""
        return store.list_sessions(scope, limit=limit, cursor=cursor)

    def load(self, store: Any, scope: Scope) -> Any:
        """Return a handle."""
        return store.load(scope)

    def append_with(self, store: Any, handle: Handle, messages: Sequence[Message]) -> Any:
        """Append through a handle."""
        return store.append_with(handle, messages)

    def put(
        self,
        store: Any,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> Any:
        """Store a record."""
        return store.put(scope, record, ttl=ttl, write_id=write_id)

    def put_many(
        self, store: Any, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> Any:
        """Store records."""
        return store.put_many(scope, records, ttl=ttl)

    def get(self, store: Any, scope: Scope, id: str) -> Any:
        """Return a record."""
        return store.get(scope, id)

    def update(self, store: Any, scope: Scope, id: str, **changes: Any) -> Any:
        """Change what is named."""
        return store.update(scope, id, **changes)

    def delete(self, store: Any, scope: Scope, id: str) -> Any:
        """Delete a record."""
        return store.delete(scope, id)

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> Any:
        """Delete what matches."""
        return store.delete_where(scope, filter)

    def delete_all(self, store: Any, scope: Scope) -> Any:
        """Delete all records."""
        return store.delete_all(scope)

    def list_records(
        self,
        store: Any,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: Any = None,
    ) -> Any:
        """Return a page of records."""
        return store.list_records(scope, filter=filter, limit=limit, cursor=cursor)

    def list_namespaces(self, store: Any, scope: Scope, prefix: Sequence[str]) -> Any:
        """Return namespaces."""
        return store.list_namespaces(scope, prefix)

    def search(
        self,
        store: Any,
        scope: Scope,
        query: Any,
        k: int,
        *,
        filter: Filter | None = None,
        threshold: float | None = None,
    ) -> Any:
        """Return ids and distances."""
        return store.search(scope, query, k, filter=filter, threshold=threshold)

    def set_state(
        self,
        store: Any,
        handle: Handle | Scope,
        delta: Mapping[str, Any],
        *,
        level: Level = "session",
    ) -> Any:
        """Merge into a state."""
        return store.set_state(handle, delta, level=level)

    def get_state(self, store: Any, scope: Handle | Scope, *, level: Level = "session") -> Any:
        """Return a state."""
        return store.get_state(scope, level=level)

    def raw_rows(self, store: Any, scope: Scope) -> Any:
        """Return all rows of a scope."""
        return store.run(outside.rows(store.plans, scope))

    def expire_now(self, store: Any, scope: Scope) -> Any:
        """Let times to live be over."""
        return store.run(outside.expire(store.plans, scope))

    def corrupt(self, store: Any, scope: Scope, index: int) -> Any:
        """Make a message unreadable."""
        return store.run(outside.corrupt(store.plans, scope, index))

    def tables(self, store: Any) -> list[str]:
        """Return the names of the tables."""
        return outside.tables(store.plans)

    def indexes(self, store: Any) -> Any:
        """Return the names of the vector indexes."""
        return store.run(outside.indexes(store.plans))

    def store_clock(self, store: Any, now: Callable[[], dt.datetime]) -> None:
        """Let the store take the time from `now()`."""
        store.plans.clock = now

    def _with_store(self, env: StoreEnv, plan: Callable[[Any], Any]) -> Any:
        raise NotImplementedError


class PostgresAdapter(_Adapter):
    """The blocking store's."""

    def open(self, env: StoreEnv) -> PostgresStore:
        """Return a store; it connects when it is first used."""
        return PostgresStore(_dsn(env), **_options(env))

    def close(self, store: PostgresStore) -> None:
        """Close the store."""
        store.close()

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a pool, or one connection, as callers have them."""
        if single:
            return psycopg.connect(_dsn(env), **options)
        return ConnectionPool(
            _dsn(env), kwargs=options, min_size=1, max_size=env.pool_size, open=True
        )

    def open_with(self, env: StoreEnv, client: Any) -> PostgresStore:
        """Return a store on a client."""
        return PostgresStore(client, **_options(env))

    def client_works(self, client: Any) -> bool:
        """Return whether a client answers."""
        if client.closed:
            return False
        if isinstance(client, psycopg.Connection):
            return _answers(client)
        with client.connection() as connection:
            return _answers(connection)

    def close_client(self, client: Any) -> None:
        """Close a client."""
        client.close()

    def _with_store(self, env: StoreEnv, plan: Callable[[Any], Any]) -> None:
        with self.open(env) as store:
            store.run(plan(store))


def _answers(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT 1").fetchone()
    return row is not None and list(row) == [1]


class AsyncPostgresAdapter(_Adapter):
    """The store's for asyncio."""

    async def open(self, env: StoreEnv) -> AsyncPostgresStore:
        """Return a store; it connects when it is first used."""
        return AsyncPostgresStore(_dsn(env), **_options(env))

    async def close(self, store: AsyncPostgresStore) -> None:
        """Close the store."""
        await store.close()

    async def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a pool, or one connection, as callers have them."""
        if single:
            return await psycopg.AsyncConnection.connect(_dsn(env), **options)
        pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            _dsn(env), kwargs=options, min_size=1, max_size=env.pool_size, open=False
        )
        await pool.open()
        return pool

    async def open_with(self, env: StoreEnv, client: Any) -> AsyncPostgresStore:
        """Return a store on a client."""
        return AsyncPostgresStore(client, **_options(env))

    async def client_works(self, client: Any) -> bool:
        """Return whether a client answers."""
        if client.closed:
            return False
        if isinstance(client, psycopg.AsyncConnection):
            return await _answers_async(client)
        async with client.connection() as connection:
            return await _answers_async(connection)

    async def close_client(self, client: Any) -> None:
        """Close a client."""
        await client.close()

    async def _with_store(self, env: StoreEnv, plan: Callable[[Any], Any]) -> None:
        async with await self.open(env) as store:
            await store.run(plan(store))


async def _answers_async(connection: psycopg.AsyncConnection[Any]) -> bool:
    row = await (await connection.execute("SELECT 1")).fetchone()
    return row is not None and list(row) == [1]


PostgresAdapter.twin = AsyncPostgresAdapter
AsyncPostgresAdapter.twin = PostgresAdapter
PostgresStore.memory_adapter = PostgresAdapter
AsyncPostgresStore.memory_adapter = AsyncPostgresAdapter
