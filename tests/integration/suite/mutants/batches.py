"""Stores that do batches by halves or lose their connections, and what the cases of group E say of them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from memory_matrix.stores.errors import ClosedError, RefusedError, StoreError, WaitError
from memory_matrix.stores.postgres import AsyncPostgresAdapter, PostgresAdapter
from memory_matrix.stores.postgres.connections import GivenConnection
from memory_matrix.stores.protocol import Message, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant


@mutant("batch_all_or_nothing_bad_middle", "batch_all_or_nothing_kill")
class AppendsOneByOne(PostgresAdapter):
    """Writes each message of a batch by itself."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        for message in messages:
            super().append(store, scope, [message], **options)


@mutant("batch_all_or_nothing_bad_middle")
class PutsOneByOne(RedisAdapter):
    """Writes each record of a batch by itself."""

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        for record in records:
            super().put(store, scope, record, **options)


class _OneByOne(RedisAdapter):
    """Writes each message and record by itself, and declares that its errors say which are stored."""

    policy = replace(RedisAdapter.policy, batch="reports")

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        self._each(
            lambda message: super(_OneByOne, self).append(store, scope, [message], **options),
            messages,
        )

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        self._each(
            lambda record: super(_OneByOne, self).put(store, scope, record, **options), records
        )

    def _each(self, write: Callable[[Any], None], batch: Sequence[Any]) -> None:
        for item in batch:
            write(item)


@mutant("batch_all_or_nothing_bad_middle")
class DoesNotSayWhich(_OneByOne):
    """Raises what the first bad one raises."""


@mutant("batch_all_or_nothing_bad_middle")
class SaysTooMuch(_OneByOne):
    """Names as stored all but the bad one, at which it stopped."""

    def _each(self, write: Callable[[Any], None], batch: Sequence[Any]) -> None:
        for at, item in enumerate(batch):
            try:
                write(item)
            except RefusedError as error:
                error.stored = [each for each in range(len(batch)) if each != at]  # type: ignore[attr-defined]
                raise


@mutant("batch_all_or_nothing_kill")
class SendsInParts(PostgresAdapter):
    """Takes the whole batch, and sends thirty at a time."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        whole = list(messages)
        for start in range(0, len(whole), 30):
            super().append(store, scope, whole[start : start + 30], **options)


@mutant("replace_history_atomic")
class ClearsFirst(RedisAdapter):
    """Makes room before it looks at what is to be written."""

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> None:
        super().clear(store, scope)
        super().append(store, scope, messages)


@mutant("replace_history_atomic")
class ClearsFirstInPostgres(PostgresAdapter):
    """Looks at what is to be written, and makes room in a transaction of its own."""

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> None:
        texts = [each.text for each in messages if not each.metadata]
        if len(texts) < len(messages) or not all(isinstance(each, str) for each in texts):
            raise RefusedError("a message that is not simple")
        if not all(map(str.isprintable, texts)):
            raise RefusedError("a text that is not simple")
        super().clear(store, scope)
        super().append(store, scope, messages)


class _RefusesNoMessage:
    """What has no message that it refuses: batches of records are all that can be tried."""

    policy = replace(RedisAdapter.policy, message_fields=("role", "text"), surrogate="keep")


@mutant("batch_all_or_nothing_bad_middle")
class PutsOneByOneAndRefusesNoMessage(_RefusesNoMessage, PutsOneByOne):
    """Is not to get away with it."""


@mutant("replace_history_atomic")
class ClearsFirstAndRefusesNoMessage(_RefusesNoMessage, ClearsFirst):
    """Is not to get away with it either."""


@mutant("batch_empty")
class MakesTheSessionFirst(RedisAdapter):
    """Makes the session, and then looks at what is to be written into it."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, [*messages, Message("system", "")], **options)
        super().pop(store, scope)


@mutant("batch_empty")
class NothingIsEverything(PostgresAdapter):
    """Deletes what is not in the batch."""

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        if not records:
            super().delete_all(store, scope)
        super().put_many(store, scope, records, **options)


@mutant("batch_5000")
class DropsTheLastPart(RedisAdapter):
    """Sends a thousand at a time, and stops before the part that is smaller."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        size = min(1000, len(messages)) or 1
        for start in range(0, len(messages) - size + 1, size):
            super().append(store, scope, messages[start : start + size], **options)


@mutant("batch_5000")
class KnowsNoMoreThanItsLimit(PostgresAdapter):
    """Writes as many records as one statement takes with a value for each column."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, messages, **options)

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        super().put_many(store, scope, records[: 32767 // 8], **options)


@mutant("batch_duplicate_ids_inside")
class FirstWins(RedisAdapter):
    """Leaves out what comes a second time."""

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        first = {record.id: record for record in reversed(records)}
        super().put_many(store, scope, list(first.values()), **options)


class _Leaky(PostgresAdapter):
    """Takes connections from the pool and does not give them back before the store is closed."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def open(self, env: StoreEnv) -> Any:
        return super().open(replace(env, wait=0.3))

    def leak(self, store: Any, statement: bytes = b"SELECT 1") -> None:
        """Let a connection be taken, on which `statement` was run."""
        with suppress(PoolTimeout):
            connection = store._lender._pool.getconn(timeout=0.05)
            connection.execute(statement)
            self.taken.append(connection)

    def close(self, store: Any) -> None:
        while self.taken:
            self.taken.pop().close()
        super().close(store)


@mutant("pool_after_failing_batch")
class KeepsConnectionsOfFailures(_Leaky):
    """Gives a connection back after a call that succeeds."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        try:
            super().append(store, scope, messages, **options)
        except StoreError:
            self.leak(store)
            raise


@mutant("pool_after_failing_single_connection")
class NeverRollsBack(PostgresAdapter):
    """Leaves the given connection in the transaction that failed."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        try:
            super().append(store, scope, messages, **options)
        except StoreError:
            if isinstance(store._lender, GivenConnection):
                with suppress(psycopg.Error):
                    store._lender._connection.execute("SELECT 1 / 0")
            raise


@mutant("pool_after_empty_read", "no_idle_in_transaction_left")
class ReturnsEarly(_Leaky):
    """Leaves a read that finds nothing before its transaction is ended."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        found: Record | None = super().get(store, scope, id)
        if found is None:
            self.leak(store, b"BEGIN")
        return found


@mutant("pool_after_cancelled_call")
class KeepsConnectionsOfTheCancelled(AsyncPostgresAdapter):
    """Gives a connection back only when it is not cancelled."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    async def open(self, env: StoreEnv) -> Any:
        return await super().open(replace(env, wait=0.3))

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        try:
            await super().append(store, scope, messages, **options)
        except asyncio.CancelledError:
            pool = await store._lender._here().opened()
            with suppress(PoolTimeout):
                self.taken.append(await pool.getconn(timeout=0.1))
            raise

    async def close(self, store: Any) -> None:
        while self.taken:
            await self.taken.pop().close()
        await super().close(store)


@mutant("pool_after_cancelled_call")
class WritesHalfOfTheCancelled(AsyncPostgresAdapter):
    """Writes each message of a batch by itself."""

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        for message in messages:
            await super().append(store, scope, [message], **options)


@mutant("pool_size_plus_n_parallel")
class TurnsCallersAway(RedisAdapter):
    """Never waits for a connection."""

    def __init__(self) -> None:
        self.free = threading.Semaphore(2)

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        if not self.free.acquire(blocking=False):
            raise WaitError("Too many connections.")
        try:
            time.sleep(0.01)
            super().append(store, scope, messages, **options)
        finally:
            self.free.release()


@mutant("pool_size_plus_n_parallel")
class GivesAnothersAnswer(RedisAdapter):
    """Keeps the answer in the object until the caller takes it."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        store.answer = super().get(store, scope, id)
        time.sleep(0.01)
        found: Record | None = store.answer
        return found


@mutant("close_then_use")
class ClosedIsEmpty(RedisAdapter):
    """Takes a closed store for an empty one."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        try:
            return super().read(store, scope, **options)
        except ClosedError:
            return []


@mutant("close_then_use")
class ClosedHasNothingToClear(RedisAdapter):
    """Takes a closed store for an empty one where something is to be cleared."""

    def clear(self, store: Any, scope: Scope) -> None:
        with suppress(ClosedError):
            super().clear(store, scope)


@mutant("close_leaves_given_client_open")
class ClosesWhatItWasGiven(PostgresAdapter):
    """Closes the caller's pool with the store."""

    def __init__(self) -> None:
        self.given: dict[int, Any] = {}

    def open_with(self, env: StoreEnv, client: Any) -> Any:
        store = super().open_with(env, client)
        self.given[id(store)] = client
        return store

    def close(self, store: Any) -> None:
        super().close(store)
        if id(store) in self.given:
            self.given[id(store)].close()
