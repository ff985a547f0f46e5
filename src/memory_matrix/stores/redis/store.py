"""The plain store."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from memory_matrix.stores.protocol import Filter, Level, Message, Page, Record, Scope
from memory_matrix.stores.redis.clients import Target, own, refuse_other_kind, sync_client
from memory_matrix.stores.redis.conversations import Handle
from memory_matrix.stores.redis.link import Limits, Link
from memory_matrix.stores.redis.records import UNSET, Unset
from memory_matrix.stores.redis.settings import Settings, named, parts
from memory_matrix.stores.redis.values import Clock

if TYPE_CHECKING:
    from typing import Self


class RedisStore:
    """An agent's memory on Redis or Valkey: sessions with messages, records with vectors, states.

    Threads may share a store. Every call raises errors of `memory_matrix.stores.errors` only; one that
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
            self.link = Link(lambda: sync_client(target, **own(target)), limits, owned=True)
        else:
            refuse_other_kind(server, is_async=False)
            self.link = Link(lambda: server, Limits(), owned=False)
        self._settings = settings or Settings()
        self.parts = parts(self._settings)

    def __enter__(self) -> Self:
        """Return the store, which is closed when the block is left."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Give back the store's own connections. May be called twice; later calls raise ClosedError."""
        self.link.close()

    def use_clock(self, clock: Clock) -> None:
        """Take the time that is written from `clock`."""
        self._settings = replace(self._settings, clock=clock)
        self.parts = parts(self._settings)

    # ---- sessions ---------------------------------------------------------------------------

    def append(
        self, scope: Scope, messages: Sequence[Message], *, write_id: str | None = None
    ) -> None:
        """Append messages to the session, all or none.

        A call that is repeated with the same `write_id` is done once; the last 2,000 are remembered.
        """
        self.link.run(self.parts.conversations.append(scope, messages, write_id))

    def read(
        self,
        scope: Scope,
        *,
        limit: int | None = None,
        after: str | dt.datetime | None = None,
    ) -> list[Message]:
        """Return the session's messages, oldest first; with `limit`, so many of the newest.

        With `after`, those behind the message of that id, or later than that time.
        """
        return self.link.run(self.parts.conversations.read(scope, limit, after))

    def replace(self, scope: Scope, messages: Sequence[Message]) -> None:
        """Put messages in the place of the session's history; a reader sees the one or the other."""
        self.link.run(self.parts.conversations.replace(scope, messages))

    def pop(self, scope: Scope) -> Message | None:
        """Remove and return the newest message; None where there is none. Nobody else gets it too.

        Raises:
            StoreError: it was popped, but the connection broke before it arrived; it is gone.
        """
        return self.link.run(self.parts.conversations.pop(scope))

    def delete_message(self, scope: Scope, message_id: str) -> None:
        """Delete the messages of an id; none need be there."""
        self.link.run(self.parts.conversations.delete_message(scope, message_id))

    def clear(self, scope: Scope) -> None:
        """Delete the session with its messages and its state; it need not be there."""
        self.link.run(self.parts.conversations.clear(scope))

    def count(self, scope: Scope) -> int:
        """Return how many messages the session has."""
        return self.link.run(self.parts.conversations.count(scope))

    def list_sessions(
        self, scope: Scope, *, limit: int | None = None, cursor: str | None = None
    ) -> Page:
        """Return a page of the ids of the user's sessions, oldest first; without `limit`, all."""
        return self.link.run(self.parts.conversations.list_sessions(scope, limit, cursor))

    def load(self, scope: Scope) -> Handle:
        """Return a handle that knows the session as it is now; it need not be there."""
        return self.link.run(self.parts.conversations.load(scope))

    def append_with(self, handle: Handle, messages: Sequence[Message]) -> None:
        """Append messages unless the session was changed since `handle` was loaded, then move it on.

        Raises:
            ConflictError: it was changed or deleted; nothing was written.
        """
        self.link.run(self.parts.conversations.append_with(handle, messages))

    # ---- states -----------------------------------------------------------------------------

    def set_state(
        self, target: Scope | Handle, delta: Mapping[str, Any], *, level: Level = "session"
    ) -> None:
        """Merge `delta` into the state of the session, the user or the app, key by key.

        Raises:
            ConflictError: the session was deleted since the handle was loaded.
        """
        self.link.run(self.parts.conversations.set_state(target, delta, level))

    def get_state(self, scope: Scope, *, level: Level = "session") -> dict[str, Any]:
        """Return the state of the session, the user or the app."""
        return self.link.run(self.parts.conversations.get_state(scope, level))

    # ---- records ----------------------------------------------------------------------------

    def put(
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
        self.link.run(self.parts.records.put(scope, [record], ttl, write_id))

    def put_many(
        self, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Store records, all or none; of those with one id, the last."""
        self.link.run(self.parts.records.put(scope, records, ttl))

    def get(self, scope: Scope, record_id: str) -> Record | None:
        """Return a record, or None."""
        return self.link.run(self.parts.records.get(scope, record_id))

    def update(
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
        self.link.run(self.parts.records.update(scope, record_id, changes))

    def delete(self, scope: Scope, record_id: str) -> None:
        """Delete a record; it need not be there."""
        self.link.run(self.parts.records.delete(scope, record_id))

    def delete_where(self, scope: Scope, condition: Filter) -> int:
        """Delete the records that match, and return how many they were."""
        return self.link.run(self.parts.records.delete_where(scope, condition))

    def delete_all(self, scope: Scope) -> int:
        """Delete all records of the namespace, and return how many they were."""
        return self.link.run(self.parts.records.delete_all(scope))

    def list_records(
        self,
        scope: Scope,
        *,
        condition: Filter | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page:
        """Return a page of the namespace's records, oldest first; without `limit`, all."""
        return self.link.run(self.parts.records.list_records(scope, condition, limit, cursor))

    def list_namespaces(self, scope: Scope, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        """Return the user's namespaces that hold records and begin with the parts of `prefix`."""
        return self.link.run(self.parts.records.list_namespaces(scope, prefix))

    def search(
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
        return self.link.run(self.parts.records.search(scope, query, k, condition, threshold))
