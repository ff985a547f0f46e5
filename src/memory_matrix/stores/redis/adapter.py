"""The reference store as the memory test suite drives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_matrix.stores.errors import StoreError
from memory_matrix.stores.policy import FILTER_OPERATORS, MESSAGE_FIELDS, METRICS, Policy
from memory_matrix.stores.protocol import (
    Filter,
    Level,
    Message,
    Page,
    Record,
    Scope,
    StoreEnv,
)
from memory_matrix.stores.redis import inspection
from memory_matrix.stores.redis.async_store import AsyncRedisStore
from memory_matrix.stores.redis.clients import (
    Target,
    async_client,
    async_close_client,
    close_client,
    sync_client,
)
from memory_matrix.stores.redis.conversations import Handle
from memory_matrix.stores.redis.settings import Settings
from memory_matrix.stores.redis.store import RedisStore
from memory_matrix.stores.redis.values import Clock

POLICY = Policy(
    message_fields=MESSAGE_FIELDS,
    nul="keep",
    scope_parts=("app", "user", "session"),
    record_parts=("app", "user", "namespace"),
    list_order="created",
    conflict="refuse",
    delete_missing="quiet",
    idempotent_by="id",
    cluster="yes",
    sentinel="yes",
    reconnect_calls=0,
    ttl="both",
    ttl_on_append="clear",
    metrics=METRICS,
    filters=FILTER_OPERATORS,
    time_filter="inclusive",
    threshold="inclusive",
    score_range=(
        -1.0,
        1.0,
    ),  # of the cosine; 1 / (1 + distance) is in it, the inner product need not
    recall=1.0,
)


def target(env: StoreEnv) -> Target:
    """Return the servers of an environment."""
    return Target(env.redis_url, env.topology, env.nodes, env.primary, env.pool_size, env.wait)


def settings(env: StoreEnv) -> Settings:
    """Return what an environment says of the store."""
    return Settings(
        prefix=env.prefix,
        dimensions=env.dimensions,
        metric=env.metric,
        ttl=env.ttl,
        codec=env.codec,
    )


class RedisAdapter:
    """Offers all of the store protocol that a Redis store can have."""

    policy = POLICY
    needs = ("redis",)
    takes_serializer = True
    refusals = (StoreError,)
    twin: Any

    def open(self, env: StoreEnv) -> RedisStore:
        """Return a store with connections of its own."""
        return RedisStore(target(env), settings(env))

    def close(self, store: RedisStore) -> None:
        """Close the store."""
        store.close()

    def append(
        self,
        store: RedisStore,
        scope: Scope,
        messages: Sequence[Message],
        *,
        write_id: str | None = None,
    ) -> None:
        """Append messages."""
        store.append(scope, messages, write_id=write_id)

    def read(
        self, store: RedisStore, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        """Return messages."""
        return store.read(scope, limit=limit, after=after)

    def replace(self, store: RedisStore, scope: Scope, messages: Sequence[Message]) -> None:
        """Replace the history."""
        store.replace(scope, messages)

    def pop(self, store: RedisStore, scope: Scope) -> Message | None:
        """Remove and return the newest message."""
        return store.pop(scope)

    def delete_message(self, store: RedisStore, scope: Scope, which: str) -> None:
        """Delete the message of an id."""
        store.delete_message(scope, which)

    def clear(self, store: RedisStore, scope: Scope) -> None:
        """Delete the session."""
        store.clear(scope)

    def count(self, store: RedisStore, scope: Scope) -> int:
        """Return how many messages there are."""
        return store.count(scope)

    def list_sessions(
        self, store: RedisStore, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        """Return a page of session ids."""
        return store.list_sessions(scope, limit=limit, cursor=cursor)

    def load(self, store: RedisStore, scope: Scope) -> Handle:
        """Return a handle."""
        return store.load(scope)

    def append_with(self, store: RedisStore, handle: Handle, messages: Sequence[Message]) -> None:
        """Append through a handle."""
        store.append_with(handle, messages)

    def put(
        self,
        store: RedisStore,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> None:
        """Store a record."""
        store.put(scope, record, ttl=ttl, write_id=write_id)

    def put_many(
        self,
        store: RedisStore,
        scope: Scope,
        records: Sequence[Record],
        *,
        ttl: float | None = None,
    ) -> None:
        """Store records, all or none."""
        store.put_many(scope, records, ttl=ttl)

    def get(self, store: RedisStore, scope: Scope, record_id: str) -> Record | None:
        """Return a record."""
        return store.get(scope, record_id)

    def update(self, store: RedisStore, scope: Scope, record_id: str, **changes: Any) -> None:
        """Change what is named."""
        store.update(scope, record_id, **changes)

    def delete(self, store: RedisStore, scope: Scope, record_id: str) -> None:
        """Delete a record."""
        store.delete(scope, record_id)

    def delete_where(self, store: RedisStore, scope: Scope, filter: Filter) -> int:
        """Delete what matches."""
        return store.delete_where(scope, filter)

    def delete_all(self, store: RedisStore, scope: Scope) -> None:
        """Delete all records."""
        store.delete_all(scope)

    def list_records(
        self,
        store: RedisStore,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: Any = None,
    ) -> Page:
        """Return a page of records."""
        return store.list_records(scope, condition=filter, limit=limit, cursor=cursor)

    def list_namespaces(
        self, store: RedisStore, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return namespaces."""
        return store.list_namespaces(scope, prefix)

    def search(
        self,
        store: RedisStore,
        scope: Scope,
        query: Sequence[float],
        k: int,
        *,
        filter: Filter | None = None,
        threshold: float | None = None,
    ) -> list[tuple[str, float]]:
        """Return ids and scores."""
        return store.search(scope, query, k, condition=filter, threshold=threshold)

    def set_state(
        self,
        store: RedisStore,
        handle: Scope | Handle,
        delta: Mapping[str, Any],
        *,
        level: Level = "session",
    ) -> None:
        """Merge into a state."""
        store.set_state(handle, delta, level=level)

    def get_state(
        self, store: RedisStore, scope: Scope, *, level: Level = "session"
    ) -> dict[str, Any]:
        """Return a state."""
        return store.get_state(scope, level=level)

    def raw_keys(self, store: RedisStore, scope: Scope) -> list[bytes]:
        """Return the keys of the session and of the records."""
        return store.link.run(inspection.raw_keys(store.parts.keys, scope))

    def expire_now(self, store: RedisStore, scope: Scope) -> None:
        """Let the times to live pass."""
        store.link.run(inspection.expire_now(store.parts.keys, scope))

    def corrupt(self, store: RedisStore, scope: Scope, index: int) -> None:
        """Make a message unreadable."""
        store.link.run(inspection.corrupt(store.parts.keys, scope, index))

    def older(self, env: StoreEnv) -> None:
        """Write a session and a record of `Scope()` as the first release did."""
        with self.open(env) as store:
            store.link.run(inspection.older(store.parts.keys, Scope(), env.dimensions))

    def store_clock(self, store: RedisStore, now: Clock) -> None:
        """Take the time from `now`."""
        store.use_clock(now)

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's options."""
        if single:
            options["single_connection_client"] = True
        return sync_client(target(env), **options)

    def open_with(self, env: StoreEnv, client: Any) -> RedisStore:
        """Return a store on a client of the caller's."""
        return RedisStore(client, settings(env))

    def client_works(self, client: Any) -> bool:
        """Return whether the client reaches the server."""
        return bool(client.ping())

    def close_client(self, client: Any) -> None:
        """Close the client."""
        close_client(client)


class AsyncRedisAdapter:
    """The same for the asyncio store."""

    policy = POLICY
    needs = ("redis",)
    takes_serializer = True
    refusals = (StoreError,)
    twin = RedisAdapter

    def open(self, env: StoreEnv) -> AsyncRedisStore:
        """Return a store with connections of its own."""
        return AsyncRedisStore(target(env), settings(env))

    async def close(self, store: AsyncRedisStore) -> None:
        """Close the store."""
        await store.close()

    async def append(
        self,
        store: AsyncRedisStore,
        scope: Scope,
        messages: Sequence[Message],
        *,
        write_id: str | None = None,
    ) -> None:
        """Append messages."""
        await store.append(scope, messages, write_id=write_id)

    async def read(
        self, store: AsyncRedisStore, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        """Return messages."""
        return await store.read(scope, limit=limit, after=after)

    async def replace(
        self, store: AsyncRedisStore, scope: Scope, messages: Sequence[Message]
    ) -> None:
        """Replace the history."""
        await store.replace(scope, messages)

    async def pop(self, store: AsyncRedisStore, scope: Scope) -> Message | None:
        """Remove and return the newest message."""
        return await store.pop(scope)

    async def delete_message(self, store: AsyncRedisStore, scope: Scope, which: str) -> None:
        """Delete the message of an id."""
        await store.delete_message(scope, which)

    async def clear(self, store: AsyncRedisStore, scope: Scope) -> None:
        """Delete the session."""
        await store.clear(scope)

    async def count(self, store: AsyncRedisStore, scope: Scope) -> int:
        """Return how many messages there are."""
        return await store.count(scope)

    async def list_sessions(
        self, store: AsyncRedisStore, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        """Return a page of session ids."""
        return await store.list_sessions(scope, limit=limit, cursor=cursor)

    async def load(self, store: AsyncRedisStore, scope: Scope) -> Handle:
        """Return a handle."""
        return await store.load(scope)

    async def append_with(
        self, store: AsyncRedisStore, handle: Handle, messages: Sequence[Message]
    ) -> None:
        """Append through a handle."""
        await store.append_with(handle, messages)

    async def put(
        self,
        store: AsyncRedisStore,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> None:
        """Store a record."""
        await store.put(scope, record, ttl=ttl, write_id=write_id)

    async def put_many(
        self,
        store: AsyncRedisStore,
        scope: Scope,
        records: Sequence[Record],
        *,
        ttl: float | None = None,
    ) -> None:
        """Store records, all or none."""
        await store.put_many(scope, records, ttl=ttl)

    async def get(self, store: AsyncRedisStore, scope: Scope, record_id: str) -> Record | None:
        """Return a record."""
        return await store.get(scope, record_id)

    async def update(
        self, store: AsyncRedisStore, scope: Scope, record_id: str, **changes: Any
    ) -> None:
        """Change what is named."""
        await store.update(scope, record_id, **changes)

    async def delete(self, store: AsyncRedisStore, scope: Scope, record_id: str) -> None:
        """Delete a record."""
        await store.delete(scope, record_id)

    async def delete_where(self, store: AsyncRedisStore, scope: Scope, filter: Filter) -> int:
        """Delete what matches."""
        return await store.delete_where(scope, filter)

    async def delete_all(self, store: AsyncRedisStore, scope: Scope) -> None:
        """Delete all records."""
        await store.delete_all(scope)

    async def list_records(
        self,
        store: AsyncRedisStore,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: Any = None,
    ) -> Page:
        """Return a page of records."""
        return await store.list_records(scope, condition=filter, limit=limit, cursor=cursor)

    async def list_namespaces(
        self, store: AsyncRedisStore, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return namespaces."""
        return await store.list_namespaces(scope, prefix)

    async def search(
        self,
        store: AsyncRedisStore,
        scope: Scope,
        query: Sequence[float],
        k: int,
        *,
        filter: Filter | None = None,
        threshold: float | None = None,
    ) -> list[tuple[str, float]]:
        """Return ids and scores."""
        return await store.search(scope, query, k, condition=filter, threshold=threshold)

    async def set_state(
        self,
        store: AsyncRedisStore,
        handle: Scope | Handle,
        delta: Mapping[str, Any],
        *,
        level: Level = "session",
    ) -> None:
        """Merge into a state."""
        await store.set_state(handle, delta, level=level)

    async def get_state(
        self, store: AsyncRedisStore, scope: Scope, *, level: Level = "session"
    ) -> dict[str, Any]:
        """Return a state."""
        return await store.get_state(scope, level=level)

    async def raw_keys(self, store: AsyncRedisStore, scope: Scope) -> list[bytes]:
        """Return the keys of the session and of the records."""
        return await store.link.run(inspection.raw_keys(store.parts.keys, scope))

    async def expire_now(self, store: AsyncRedisStore, scope: Scope) -> None:
        """Let the times to live pass."""
        await store.link.run(inspection.expire_now(store.parts.keys, scope))

    async def corrupt(self, store: AsyncRedisStore, scope: Scope, index: int) -> None:
        """Make a message unreadable."""
        await store.link.run(inspection.corrupt(store.parts.keys, scope, index))

    async def older(self, env: StoreEnv) -> None:
        """Write a session and a record of `Scope()` as the first release did."""
        async with self.open(env) as store:
            await store.link.run(inspection.older(store.parts.keys, Scope(), env.dimensions))

    def store_clock(self, store: AsyncRedisStore, now: Clock) -> None:
        """Take the time from `now`."""
        store.use_clock(now)

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's options."""
        if single:
            options["single_connection_client"] = True
        return async_client(target(env), **options)

    def open_with(self, env: StoreEnv, client: Any) -> AsyncRedisStore:
        """Return a store on a client of the caller's."""
        return AsyncRedisStore(client, settings(env))

    async def client_works(self, client: Any) -> bool:
        """Return whether the client reaches the server."""
        return bool(await client.ping())

    async def close_client(self, client: Any) -> None:
        """Close the client."""
        await async_close_client(client)


RedisAdapter.twin = AsyncRedisAdapter
RedisStore.memory_adapter = RedisAdapter
AsyncRedisStore.memory_adapter = AsyncRedisAdapter
