"""The asyncio store."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from memory_matrix.stores.protocol import Filter, Level, Message, Page, Record, Scope
from memory_matrix.stores.redis.clients import (
    Target,
    async_client,
    async_own,
    refuse_other_kind,
)
from memory_matrix.stores.redis.conversations import Handle
from memory_matrix.stores.redis.link import AsyncLink, Limits
from memory_matrix.stores.redis.records import UNSET, Unset
from memory_matrix.stores.redis.settings import Settings, named, parts
from memory_matrix.stores.redis.values import Clock

if TYPE_CHECKING:
    from typing import Self


class AsyncRedisStore:
    """An agent's memory on Redis or Valkey: sessions with messages, records with vectors, states.

    One store can be used from several event loops; each has connections of its own. Every call raises errors of `memory_matrix.stores.errors` only; one that
    raised has left nothing half written, and the store can be used on.
    """

    memory_adapter: ClassVar[Any]

    def __init__(self, server: Any, settings: Settings | None = None) -> None:
        """Make a store on a URL, a `Target`, or a client of redis-py, which is never closed.

        No server is called upon before a call needs it.
        """
        target = Target(server) if isinstance(server, str) else server
        if isinstance(target, Target):
            limits = Limits(target.pool_size, target.wait)
            self.link = AsyncLink(
                lambda: async_client(target, **async_own(target)), limits, owned=True
            )
        else:
            refuse_other_kind(server, is_async=True)
            self.link = AsyncLink(lambda: server, Limits(), owned=False)
        self._settings = settings or Settings()
        self.parts = parts(self._settings)

    async def __aenter__(self) -> Self:
        """Return the store, which is closed when the block is left."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        await self.close()

    async def close(self) -> None:
        """Give back the store's own connections. May be called twice; later calls raise ClosedError."""
        await self.link.close()

    def use_clock(self, clock: Clock) -> None:
        """Take the time that is written from `clock`."""
        self._settings = replace(self._settings, clock=clock)
        self.parts = parts(self._settings)

    # ---- sessions ---------------------------------------------------------------------------

    async def append(
        self, scope: Scope, messages: Sequence[Message], *, write_id: str | None = None
    ) -> None:
        """Append messages to the session, all or none.

        A call that is repeated with the same `write_id` is done once; the last 2,000 are remembered.
        """
        await self.link.run(self.parts.conversations.append(scope, messages, write_id))

    async def read(
        self,
        scope: Scope,
        *,
        limit: int | None = None,
        after: str | dt.datetime | None = None,
    ) -> list[Message]:
        """Return the session's messages, oldest first; with `limit`, so many of the newest.

        With `after`, those behind the message of that id, or later than that time.
        """
        return await self.link.run(self.parts.conversations.read(scope, limit, after))

    async def replace(self, scope: Scope, messages: Sequence[Message]) -> None:
        """Put messages in the place of the session's history; a reader sees the one or the other."""
        await self.link.run(self.parts.conversations.replace(scope, messages))

    async def pop(self, scope: Scope) -> Message | None:
        """Remove and return the newest message; None where there is none. Nobody else gets it too.

        Raises:
            StoreError: it was popped, but the connection broke before it arrived; it is gone.
        """
        return await self.link.run(self.parts.conversations.pop(scope))

    async def delete_message(self, scope: Scope, message_id: str) -> None:
        """Delete the messages of an id; none need be there."""
        await self.link.run(self.parts.conversations.delete_message(scope, message_id))

    async def clear(self, scope: Scope) -> None:
        """Delete the session with its messages and its state; it need not be there."""
        await self.link.run(self.parts.conversations.clear(scope))

    async def count(self, scope: Scope) -> int:
        """Return how many messages the session has."""
        return await self.link.run(self.parts.conversations.count(scope))

    async def list_sessions(
        self, scope: Scope, *, limit: int | None = None, cursor: str | None = None
    ) -> Page:
        """Return a page of the ids of the user's sessions, oldest first; without `limit`, all."""
        return await self.link.run(self.parts.conversations.list_sessions(scope, limit, cursor))

    async def load(self, scope: Scope) -> Handle:
        """Return a handle that knows the session as it is now; it need not be there."""
        return await self.link.run(self.parts.conversations.load(scope))

    async def append_with(self, handle: Handle, messages: Sequence[Message]) -> None:
        """Append messages unless the session was changed since `handle` was loaded, then move it on.

        Raises:
            ConflictError: it was changed or deleted; nothing was written.
        """
        await self.link.run(self.parts.conversations.append_with(handle, messages))

    # ---- states -----------------------------------------------------------------------------

    async def set_state(
        self, target: Scope | Handle, delta: Mapping[str, Any], *, level: Level = "session"
    ) -> None:
        """Merge `delta` into the state of the session, the user or the app, key by key.

        Raises:
            ConflictError: the session was deleted since the handle was loaded.
        """
        await self.link.run(self.parts.conversations.set_state(target, delta, level))

    async def get_state(self, scope: Scope, *, level: Level = "session") -> dict[str, Any]:
        """Return the state of the session, the user or the app."""
        return await self.link.run(self.parts.conversations.get_state(scope, level))

    # ---- records ----------------------------------------------------------------------------

    async def put(
        self,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> None:
        """Store a record in the namespace for `ttl` seconds, or for ever; one of its id is replaced.

        A call that is repeated with the same `write_id` is done once; a record remembers 64.
        """
        await self.link.run(self.parts.records.put(scope, [record], ttl, write_id))

    async def put_many(
        self, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Store records, all or none; of those with one id, the last."""
        await self.link.run(self.parts.records.put(scope, records, ttl))

    async def get(self, scope: Scope, record_id: str) -> Record | None:
        """Return a record, or None."""
        return await self.link.run(self.parts.records.get(scope, record_id))

    async def update(
        self,
        scope: Scope,
        record_id: str,
        *,
        text: str | Unset = UNSET,
        vector: Sequence[float] | Unset | None = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
        ttl: float | Unset | None = UNSET,
    ) -> None:
        """Change what is named, at one moment; of metadata, the keys that are named.

        Raises:
            NotFoundError: there is no such record.
        """
        changes = named(text=text, vector=vector, metadata=metadata, ttl=ttl)
        await self.link.run(self.parts.records.update(scope, record_id, changes))

    async def delete(self, scope: Scope, record_id: str) -> None:
        """Delete a record; it need not be there."""
        await self.link.run(self.parts.records.delete(scope, record_id))

    async def delete_where(self, scope: Scope, condition: Filter) -> int:
        """Delete the records that match, and return how many they were."""
        return await self.link.run(self.parts.records.delete_where(scope, condition))

    async def delete_all(self, scope: Scope) -> int:
        """Delete all records of the namespace, and return how many they were."""
        return await self.link.run(self.parts.records.delete_all(scope))

    async def list_records(
        self,
        scope: Scope,
        *,
        condition: Filter | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page:
        """Return a page of the namespace's records, oldest first; without `limit`, all."""
        return await self.link.run(self.parts.records.list_records(scope, condition, limit, cursor))

    async def list_namespaces(
        self, scope: Scope, prefix: tuple[str, ...] = ()
    ) -> list[tuple[str, ...]]:
        """Return the user's namespaces that hold records and begin with the parts of `prefix`."""
        return await self.link.run(self.parts.records.list_namespaces(scope, prefix))

    async def search(
        self,
        scope: Scope,
        query: Sequence[float],
        k: int,
        *,
        condition: Filter | None = None,
        threshold: float | None = None,
    ) -> list[tuple[str, float]]:
        """Return the ids and scores of the `k` records most like `query`, best first.

        The score is the cosine, 1 / (1 + distance) or the inner product, by the store's metric; those
        below `threshold` are left out.
        """
        return await self.link.run(self.parts.records.search(scope, query, k, condition, threshold))
