"""Async stores whose calls get in each other's way, and what the cases of group M say of them."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from memory_matrix.stores.errors import StoreError
from memory_matrix.stores.postgres.adapter import AsyncPostgresAdapter
from memory_matrix.stores.protocol import Message, Record, Scope, StoreEnv
from memory_matrix.stores.redis import AsyncRedisStore
from memory_matrix.stores.redis.adapter import AsyncRedisAdapter, RedisAdapter
from support.mutants import mutant


@mutant("async_two_loops", "thread_shared_object")
class BelongsToItsLoop(AsyncRedisAdapter):
    """Works on the loop that it was opened on only."""

    def open(self, env: StoreEnv) -> AsyncRedisStore:
        store = super().open(env)
        run, home = store.link.run, asyncio.get_running_loop()

        async def bound(plan: Any) -> Any:
            if asyncio.get_running_loop() is not home:
                plan.close()
                raise StoreError("The store belongs to another event loop.")
            return await run(plan)

        store.link.run = bound  # type: ignore[method-assign]
        return store


@mutant("async_two_loops")
class LeavesItToATask(AsyncRedisAdapter):
    """Acknowledges an append before the task that does it has run."""

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        self.task = asyncio.ensure_future(
            AsyncRedisAdapter.append(self, store, scope, messages, **options)
        )

    async def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        return await super().read(store, scope, **options)


@mutant("async_cancel_mid_call")
class QueuesBehindTheOthers(AsyncRedisAdapter):
    """Waits for the call before, and is cancelled with it."""

    def __init__(self) -> None:
        self.last: asyncio.Task[None] | None = None

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        def call() -> Awaitable[None]:
            return AsyncRedisAdapter.append(self, store, scope, messages, **options)

        self.last = asyncio.create_task(self._after(self.last, call))
        await self.last

    async def _after(
        self, before: asyncio.Task[None] | None, call: Callable[[], Awaitable[None]]
    ) -> None:
        if before is not None:
            await before
        await call()


@mutant("async_cancel_mid_call")
class ReadsLateAnswers(AsyncRedisAdapter):
    """Leaves the answer of a cancelled call to the next one."""

    def __init__(self) -> None:
        self.late: list[Record | None] = []

    async def get(self, store: Any, scope: Scope, record_id: str) -> Record | None:
        asked = asyncio.ensure_future(AsyncRedisAdapter.get(self, store, scope, record_id))
        try:
            found = await asyncio.shield(asked)
        except asyncio.CancelledError:
            self.late.append(await asked)
            raise
        return self.late.pop() if self.late else found


@mutant("async_gather_200")
class GivesAnothersAnswer(AsyncRedisAdapter):
    """Keeps the answer in the object until its caller takes it."""

    async def get(self, store: Any, scope: Scope, record_id: str) -> Record | None:
        store.answer = await super().get(store, scope, record_id)
        await asyncio.sleep(0)
        found: Record | None = store.answer
        return found


@mutant("async_gather_200")
class TurnsCallersAway(AsyncPostgresAdapter):
    """Takes a hundred calls at once, and no more."""

    def __init__(self) -> None:
        self.calls = 0

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        if self.calls >= 100:
            raise StoreError("Too many calls.")
        self.calls += 1
        try:
            await super().append(store, scope, messages, **options)
        finally:
            self.calls -= 1


@mutant("async_close_no_pending_task")
class LeavesItsSweeper(AsyncRedisAdapter):
    """Sweeps for ever, from when it was opened."""

    async def open(self, env: StoreEnv) -> AsyncRedisStore:  # type: ignore[override]
        self.sweeper = asyncio.create_task(asyncio.sleep(600))
        return super().open(env)


@mutant("async_close_no_pending_task")
class LeavesAConnection(AsyncPostgresAdapter):
    """Makes its tables on a connection that it does not close."""

    async def open(self, env: StoreEnv) -> Any:
        connection = psycopg.connect(str(env.postgres_dsn))
        weakref.finalize(self, connection.close)
        return await super().open(env)


@mutant("async_loop_not_blocked")
class WaitsOnTheLoop(AsyncRedisAdapter):
    """Reads by a client that waits."""

    def open(self, env: StoreEnv) -> AsyncRedisStore:
        store = super().open(env)
        store.env = env  # type: ignore[attr-defined]
        return store

    async def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        with RedisAdapter().open(store.env) as plain:
            return plain.read(scope, **options)


class _DropsMetadata(RedisAdapter):
    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        return [replace(each, metadata={}) for each in super().read(store, scope, **options)]


@mutant("async_sync_twin_same_result")
class HasAForgetfulTwin(AsyncRedisAdapter):
    """Its plain twin reads no metadata."""

    twin = _DropsMetadata


class _TakesNul(RedisAdapter):
    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        cleaned = [replace(each, text=each.text.replace("\ud800", "")) for each in messages]
        super().append(store, scope, cleaned, **options)


@mutant("async_sync_twin_same_result")
class HasALenientTwin(AsyncRedisAdapter):
    """Its plain twin cleans what it refuses."""

    twin = _TakesNul


@mutant("async_exception_in_batch_only_its_own")
class FailsTogether(AsyncRedisAdapter):
    """Puts the records of one moment in one batch, all or none."""

    def __init__(self) -> None:
        self.batch: list[Record] = []
        self.flush: asyncio.Task[None] | None = None

    async def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        if self.flush is None or self.flush.done():
            self.flush = asyncio.create_task(self._put(store, scope))
        self.batch.append(record)
        await asyncio.shield(self.flush)

    async def _put(self, store: Any, scope: Scope) -> None:
        await asyncio.sleep(0)
        batch, self.batch = self.batch, []
        await AsyncRedisAdapter.put_many(self, store, scope, batch)


@mutant("thread_shared_object")
class SharesItsAnswer(RedisAdapter):
    """Keeps the answer in the object until its caller takes it."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        store.answer = super().read(store, scope, **options)
        time.sleep(0.005)
        found: list[Message] = store.answer
        return found


@mutant("async_gather_200")
class LeavesTasks(AsyncRedisAdapter):
    """Starts a task for each append, which nobody waits for."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        self.tasks.append(asyncio.create_task(asyncio.sleep(300)))
        await super().append(store, scope, messages, **options)


@mutant("thread_shared_object")
class LeavesThreads(RedisAdapter):
    """Starts a thread for each store object, which nothing ends."""

    def open(self, env: StoreEnv) -> Any:
        threading.Thread(target=time.sleep, args=(60,), daemon=True, name="left-over").start()
        return super().open(env)


@mutant("async_loop_not_blocked")
class ThinksFirst(AsyncRedisAdapter):
    """Blocks the loop before it asks the server."""

    async def get(self, *arguments: Any) -> Record | None:
        time.sleep(0.5)  # noqa: ASYNC251 - which is the fault
        return await super().get(*arguments)
