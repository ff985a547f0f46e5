"""The store for asyncio: the same plans, carried out by awaiting."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import psycopg
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool

from memory_matrix.stores.postgres.connections import AsyncBoundedConnection, async_lender
from memory_matrix.stores.postgres.failures import translated
from memory_matrix.stores.postgres.layout import Layout
from memory_matrix.stores.postgres.plans import KEEP, Answer, Handle, Plan, Plans, Query
from memory_matrix.stores.postgres.running import Deadline, Run, is_made_again
from memory_matrix.stores.postgres.store import WRITE_IDS_KEPT
from memory_matrix.stores.postgres.values import Clock
from memory_matrix.stores.protocol import Codec, Filter, Level, Message, Page, Record, Scope

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class AsyncPostgresStore:
    """Conversations, memories with vectors, and state of AI agents in Postgres.

    What `PostgresStore` is for threads, this is for tasks. Calls may come from any number of event
    loops, each of which gets a pool of its own.
    """

    memory_adapter: ClassVar[Any]

    def __init__(  # noqa: PLR0913 - options of a constructor, each by its name
        self,
        target: str | AsyncConnectionPool[Any] | psycopg.AsyncConnection[Any],
        *,
        dimensions: int | None = None,
        metric: str = "cosine",
        ttl: float | None = None,
        codec: Codec | None = None,
        pool_size: int = 4,
        wait: float = 5.0,
        tables: str = "memory",
        clock: Clock | None = None,
    ) -> None:
        """Open a store; no connection is made before the first call.

        Args:
            target: a libpq URL, or the caller's own pool or connection, which `close` leaves open
                and whose own timeouts bound its waits.
            dimensions: the length of vectors; None for a store without vectors.
            metric: `cosine`, `l2` or `ip` (inner product).
            ttl: seconds that a session lives after its last write; None for ever.
            codec: a serializer for metadata and tools, instead of JSON.
            pool_size: the most connections of the store's own pool.
            wait: seconds after which a call that is not served fails.
            tables: what the names of the tables begin with.
            clock: tells the time instead of the database, in tests.
        """
        self.plans = Plans(Layout(tables, dimensions, metric), ttl, codec, clock)
        self._wait = wait
        self._lender = async_lender(target, pool_size, wait)

    async def setup(self) -> None:
        """Make the tables and indexes that are not there; any number of processes may do so at once.

        Raises:
            SchemaError: the tables are of a later release, or there is no vector extension.
            RightsError: the user may not make them.
        """
        await self.run(self.plans.setup())

    async def close(self) -> None:
        """Give back what the store holds; a second time does nothing."""
        await self._lender.close()

    async def __aenter__(self) -> Self:
        """Return the store."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        await self.close()

    async def sweep(self, *, write_ids_kept: float = WRITE_IDS_KEPT) -> int:
        """Delete what has expired, which nothing shows any more; return how many sessions and records."""
        return await self.run(self.plans.sweep(write_ids_kept))

    # ---- conversations ------------------------------------------------------------------------

    async def append(
        self, scope: Scope, messages: Sequence[Message], *, write_id: str | None = None
    ) -> None:
        """Append messages, all or none; with a `write_id` that was used before, nothing is done."""
        await self.run(self.plans.append(scope, messages, write_id))

    async def read(
        self,
        scope: Scope,
        *,
        limit: int | None = None,
        after: str | dt.datetime | None = None,
    ) -> list[Message]:
        """Return the newest `limit` messages, oldest first; those after a message's id or a time."""
        return await self.run(self.plans.read(scope, limit, after))

    async def replace(self, scope: Scope, messages: Sequence[Message]) -> None:
        """Replace the whole history; readers see the old or the new one."""
        await self.run(self.plans.replace(scope, messages))

    async def pop(self, scope: Scope) -> Message | None:
        """Remove and return the newest message; each is handed out once."""
        return await self.run(self.plans.pop(scope))

    async def delete_message(self, scope: Scope, message_id: str) -> int:
        """Delete the messages with this id, and return how many there were."""
        return await self.run(self.plans.delete_message(scope, message_id))

    async def clear(self, scope: Scope) -> None:
        """Delete the session and all that belongs to it."""
        await self.run(self.plans.clear(scope))

    async def count(self, scope: Scope) -> int:
        """Return how many messages the session has."""
        return await self.run(self.plans.count(scope))

    async def list_sessions(
        self, scope: Scope, *, limit: int | None = None, cursor: str | None = None
    ) -> Page:
        """Return ids of the sessions of the scope's user, oldest first."""
        return await self.run(self.plans.list_sessions(scope, limit, cursor))

    async def load(self, scope: Scope) -> Handle:
        """Return a handle on the session as it is now."""
        return await self.run(self.plans.load(scope))

    async def append_with(self, handle: Handle, messages: Sequence[Message]) -> None:
        """Append through a handle.

        Raises:
            ConflictError: the session was written or deleted since the handle was loaded.
        """
        await self.run(self.plans.append_with(handle, messages))

    # ---- records ------------------------------------------------------------------------------

    async def put(
        self,
        scope: Scope,
        record: Record,
        *,
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> None:
        """Store a record in the place of one of the same id; `ttl` in seconds, None for ever."""
        await self.run(self.plans.put(scope, [record], ttl, write_id))

    async def put_many(
        self, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Store records, all or none; of two with one id the later."""
        await self.run(self.plans.put(scope, records, ttl, None))

    async def get(self, scope: Scope, record_id: str) -> Record | None:
        """Return a record, or None."""
        return await self.run(self.plans.get(scope, record_id))

    async def update(
        self,
        scope: Scope,
        record_id: str,
        *,
        text: str = KEEP,
        vector: Sequence[float] | None = KEEP,
        metadata: Mapping[str, Any] = KEEP,
        ttl: float | None = KEEP,
    ) -> None:
        """Change what is named of a record; metadata is replaced as a whole.

        Raises:
            NotFoundError: there is no such record.
        """
        changes = {"text": text, "vector": vector, "metadata": metadata, "ttl": ttl}
        await self.run(self.plans.update(scope, record_id, changes))

    async def delete(self, scope: Scope, record_id: str) -> None:
        """Delete a record, if it is there."""
        await self.run(self.plans.delete(scope, record_id))

    async def delete_where(self, scope: Scope, filter: Filter) -> int:
        """Delete the records that match, and return how many there were."""
        return await self.run(self.plans.delete_where(scope, filter))

    async def delete_all(self, scope: Scope) -> int:
        """Delete all records of the namespace, and return how many there were."""
        return await self.run(self.plans.delete_all(scope))

    async def list_records(
        self,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page:
        """Return records of the namespace, oldest first."""
        return await self.run(self.plans.list_records(scope, filter, limit, cursor))

    async def list_namespaces(
        self, scope: Scope, prefix: Sequence[str] = ()
    ) -> list[tuple[str, ...]]:
        """Return the user's namespaces that begin with the parts of `prefix` and hold records."""
        return await self.run(self.plans.list_namespaces(scope, prefix))

    async def search(
        self,
        scope: Scope,
        query: Sequence[float],
        k: int,
        *,
        filter: Filter | None = None,
        threshold: float | None = None,
    ) -> list[tuple[str, float]]:
        """Return (id, distance) of the k nearest records, those not farther than `threshold`.

        The distance is pgvector's: 1 - cosine, Euclidean, or the inner product negated.
        """
        return await self.run(self.plans.search(scope, query, k, filter, threshold))

    # ---- state --------------------------------------------------------------------------------

    async def set_state(
        self, target: Handle | Scope, delta: Mapping[str, Any], *, level: Level = "session"
    ) -> None:
        """Merge `delta` into the state of the session, the user or the app, key by key."""
        await self.run(self.plans.set_state(target, delta, level))

    async def get_state(
        self, target: Handle | Scope, *, level: Level = "session"
    ) -> dict[str, Any]:
        """Return the state of a level; {} where there is none."""
        return await self.run(self.plans.get_state(target, level))

    # ---- the driver -----------------------------------------------------------------------------

    async def run(self, plan: Plan[T]) -> T:
        """Carry out a plan.

        Raises:
            StoreError: it could not be; nothing of it is half done.
        """
        deadline, attempts = Deadline(self._wait), 0
        while True:
            try:
                return await self._attempt(plan, deadline)
            except psycopg.Error as error:
                attempts += 1
                if not is_made_again(plan, error, attempts):
                    raise translated(error, self._lender.failure) from error

    async def _attempt(self, plan: Plan[T], deadline: Deadline) -> T:
        run = Run(plan)
        async with self._lender.lend(deadline.for_connection) as connection:
            if self.plans.found is None and not plan.makes_tables:
                ready = self.plans.ready()
                await self._carry_out(ready, Run(ready), connection, deadline)
            return await self._carry_out(plan, run, connection, deadline)

    async def _carry_out(
        self,
        plan: Plan[T],
        run: Run[T],
        connection: psycopg.AsyncConnection[Any],
        deadline: Deadline,
    ) -> T:
        whole = plan.atomic or not connection.autocommit
        async with connection.transaction() if whole else nullcontext():
            while run.query is not None:
                if isinstance(connection, AsyncBoundedConnection):
                    connection.give(deadline.for_query(run.query), deadline.grace)
                run.answer(await _ask(connection, run.query))
        return run.result


async def _ask(connection: psycopg.AsyncConnection[Any], query: Query) -> Answer:
    async with psycopg.AsyncCursor(connection, row_factory=tuple_row) as cursor:
        await cursor.execute(
            query.sql.encode(),
            query.parameters,
            prepare=False,
            binary=query.parameters is not None,
        )
        return Answer(await cursor.fetchall() if cursor.description else [], cursor.rowcount)
