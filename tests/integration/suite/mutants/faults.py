"""Stores that do not get over what happens to their server, and what the cases of group I say of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg

from memory_matrix.stores.errors import FullError, ReadOnlyError, StoreError, UnreachableError
from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.adapter import PostgresAdapter
from memory_matrix.stores.protocol import Message, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisStore
from memory_matrix.stores.redis.adapter import POLICY, RedisAdapter
from support.mutants import mutant


@mutant("re_backend_killed_once")
class KeepsOneConnection(PostgresAdapter):
    """Connects once, when it is opened."""

    def open(self, env: StoreEnv) -> PostgresStore:
        return self.open_with(env, psycopg.connect(str(env.postgres_dsn), autocommit=True))

    def close(self, store: PostgresStore) -> None:
        super().close(store)
        store._lender._connection.close()  # type: ignore[union-attr]


@mutant("re_backend_killed_under_load")
class TriesAgain(PostgresAdapter):
    """Sends a write again when the connection broke, though it may have been done."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        try:
            super().append(store, scope, messages, **options)
        except UnreachableError:
            super().append(store, scope, messages, **options)


@mutant("re_backend_killed_under_load")
class WritesBehind(RedisAdapter):
    """Acknowledges what it has in its memory, and writes it some at a time."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Scope, Message]] = []

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        self.waiting += [(scope, each) for each in messages]
        while len(self.waiting) > 4:
            self._flush(store, options)

    def _flush(self, store: Any, options: dict[str, Any]) -> None:
        scope, message = self.waiting.pop(0)
        super().append(store, scope, [message], **options)


@mutant("re_server_restart_persistent")
class KeepsNoLog(PostgresAdapter):
    """Makes tables that a crash empties."""

    def setup(self, store: Any) -> None:
        super().setup(store)
        for name in ("records",):
            table = store.plans.layout.table(name)
            with store._lender.lend(5) as connection:
                connection.execute(f'ALTER TABLE "{table}" SET UNLOGGED')


@mutant("re_server_restart_persistent")
class ListsAsTheServerFinds(RedisAdapter):
    """Has an order that the server has in its memory only."""

    def __init__(self) -> None:
        self.runs: dict[str, str] = {}

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        page = super().list_records(store, scope, **options)
        run = store.link.client().info("server")["run_id"]
        first = self.runs.setdefault(scope.user, run)
        return page if run == first else replace(page, items=page.items[::-1])


@mutant("re_restart_does_not_overwrite")
class WritesWholeHistories(RedisAdapter):
    """Keeps each history in its memory from the first use on, and writes all of it each time."""

    def __init__(self) -> None:
        self.histories: dict[tuple[int, Scope], list[Message]] = {}

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        known = self.histories.get((id(store), scope))
        if known is None:
            try:
                known = super().read(store, scope)
            except StoreError:
                known = []
            self.histories[id(store), scope] = known
        super().replace(store, scope, [*known, *messages])
        known += messages


@mutant("re_redis_empty_after_restart")
class MakesItsIndexWhenOpened(RedisAdapter):
    """Finds nothing without an index, which it makes when it is opened."""

    def open(self, env: StoreEnv) -> RedisStore:
        store = super().open(env)
        store.link.client().set(f"{env.prefix}index", "made")
        store.index = f"{env.prefix}index"  # type: ignore[attr-defined]
        return store

    def search(self, store: Any, *arguments: Any, **options: Any) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = super().search(store, *arguments, **options)
        return found if store.link.client().exists(store.index) else []


@mutant("re_server_down_at_open")
class RemembersItsFailure(RedisAdapter):
    """Fails for ever once it could not reach its server."""

    def open(self, env: StoreEnv) -> RedisStore:
        store = super().open(env)
        run = store.link.run
        failures: list[UnreachableError] = []

        def remembering(plan: Any) -> Any:
            if failures:
                raise failures[0]
            try:
                return run(plan)
            except UnreachableError as error:
                failures.append(error)
                raise

        store.link.run = remembering  # type: ignore[method-assign]
        return store


@mutant("re_server_down_at_open")
class WaitsForItsServer(RedisAdapter):
    """Does not come back before the server is there."""

    policy = replace(POLICY, wait=0.1)

    def open(self, env: StoreEnv) -> RedisStore:
        store = super().open(env)
        ends = time.monotonic() + 3
        while time.monotonic() < ends:
            try:
                store.count(Scope())
            except UnreachableError:
                time.sleep(0.1)
            else:
                break
        return store


@mutant("re_read_error_is_not_empty")
class FailedIsEmpty(RedisAdapter):
    """Gives no messages where it cannot read them."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        try:
            return super().read(store, scope, **options)
        except StoreError:
            return []


@mutant("re_read_error_is_not_empty")
class FailedIsMissing(PostgresAdapter):
    """Gives no record where it cannot read it."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        try:
            found: Record | None = super().get(store, scope, id)
        except StoreError:
            return None
        return found


@mutant("re_timeout_bounded")
class WaitsLonger(RedisAdapter):
    """Waits longer than it says."""

    policy = replace(POLICY, wait=0.1)

    def open(self, env: StoreEnv) -> RedisStore:
        return super().open(replace(env, wait=4.0))


@mutant("re_timeout_bounded")
class TakesSilenceForDone(RedisAdapter):
    """Takes a write that is not answered for done."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        with suppress(StoreError):
            super().put(store, scope, record, **options)


@mutant("re_redis_readonly_replica")
class RefusedIsDone(RedisAdapter):
    """Takes a write that a replica refuses for done."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        with suppress(ReadOnlyError):
            super().append(store, scope, messages, **options)


@mutant("re_maxmemory_oom")
class FullIsDone(RedisAdapter):
    """Takes a write for which there is no memory for done."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        with suppress(FullError):
            super().put(store, scope, record, **options)


@mutant("re_disk_full_or_readonly_pg")
class ReadOnlyIsDone(PostgresAdapter):
    """Takes a state that a read-only server refuses for kept."""

    def set_state(self, store: Any, handle: Any, delta: Mapping[str, Any], **options: Any) -> None:
        with suppress(ReadOnlyError):
            super().set_state(store, handle, delta, **options)


@mutant("re_failover_new_primary")
class KeepsItsPrimary(RedisAdapter):
    """Asks the sentinels once, and stays with what they said."""

    def open(self, env: StoreEnv) -> RedisStore:
        return super().open(replace(env, topology="single", nodes=(), primary=None))


@mutant("re_failover_new_primary")
class DeadIsEmpty(RedisAdapter):
    """Knows no sentinels, and takes a server that is gone for an empty one."""

    policy = replace(POLICY, sentinel="no")

    def open(self, env: StoreEnv) -> RedisStore:
        return super().open(replace(env, topology="single", nodes=(), primary=None))

    def count(self, store: Any, scope: Scope) -> int:
        try:
            return super().count(store, scope)
        except StoreError:
            return 0
