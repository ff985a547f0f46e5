"""Stores whose writers and readers get in each other's way, and what the cases of group D say of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memory_matrix.stores.errors import ConflictError
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.postgres.plans import Plan, Query, Steps
from memory_matrix.stores.protocol import Message, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant

_LOCK = threading.Lock()
"""One for all stores of this process."""


def _network() -> None:
    """Take as long as the way to a server of another machine, so that a race is likely."""
    time.sleep(0.002)


@mutant("conc_append_8_workers", "conc_append_two_store_objects")
class ReadsThenWrites(RedisAdapter):
    """Appends by writing the whole history anew."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        before = super().read(store, scope)
        _network()
        super().replace(store, scope, [*before, *messages])


@mutant("conc_append_two_store_objects")
class LocksInTheProcess(ReadsThenWrites):
    """The same under a lock, which another process has not."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        with _LOCK:
            super().append(store, scope, messages, **options)


@mutant("conc_append_two_store_objects")
class ReadsItsOwnCopy(RedisAdapter):
    """Keeps the history in the object once it was read, and adds only its own messages."""

    def __init__(self) -> None:
        self.copies: dict[Any, list[Message]] = {}

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        key = id(store), scope
        if key not in self.copies:
            self.copies[key] = super().read(store, scope)
        return list(self.copies[key])

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, messages, **options)
        self.copies.get((id(store), scope), []).extend(messages)


@mutant("conc_append_stale_handle")
class WritesWhatItLoaded(RedisAdapter):
    """Writes the history of the handle and the new messages over what is there."""

    policy = replace(RedisAdapter.policy, conflict="merge")

    def load(self, store: Any, scope: Scope) -> Any:
        return scope, super().read(store, scope)

    def append_with(self, store: Any, handle: Any, messages: Sequence[Message]) -> None:
        scope, history = handle
        super().replace(store, scope, [*history, *messages])


@mutant("conc_append_stale_handle", "conc_late_write_after_delete")
class NeverLooksAtTheHandle(PostgresAdapter):
    """Appends to the session of the handle's name, whatever became of it."""

    def append_with(self, store: Any, handle: Any, messages: Sequence[Message]) -> None:
        super().append(store, handle.scope, messages)


@mutant("conc_refused_writer_is_told", "conc_append_stale_handle", "conc_late_write_after_delete")
class SwallowsConflicts(RedisAdapter):
    """Writes a conflict to its log."""

    def append_with(self, store: Any, handle: Any, messages: Sequence[Message]) -> None:
        with suppress(ConflictError):
            super().append_with(store, handle, messages)


@mutant("conc_refused_writer_is_told")
class RefusesAfterwards(PostgresAdapter):
    """Sees the conflict when the message is written."""

    def append_with(self, store: Any, handle: Any, messages: Sequence[Message]) -> None:
        try:
            super().append_with(store, handle, messages)
        except ConflictError:
            super().append(store, handle.scope, messages)
            raise


@mutant("conc_pop_once")
class LooksThenPops(RedisAdapter):
    """Reads the newest, then writes the history without it."""

    def pop(self, store: Any, scope: Scope) -> Message | None:
        messages = super().read(store, scope)
        _network()
        super().replace(store, scope, messages[:-1])
        return messages[-1] if messages else None


@mutant("conc_pop_once")
class PopsUnderALockOfTheProcess(LooksThenPops):
    """The same under a lock, which another process has not."""

    def pop(self, store: Any, scope: Scope) -> Message | None:
        with _LOCK:
            return super().pop(store, scope)


@mutant("conc_upsert_same_key")
class PutsInTwoSteps(RedisAdapter):
    """Writes the text, and then the metadata."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        super().put(store, scope, replace(record, metadata={}), **options)
        _network()
        super().update(store, scope, record.id, metadata=record.metadata)


@mutant("conc_upsert_same_key")
class MergesInTheClient(RedisAdapter):
    """Reads the metadata, changes it, and writes it back."""

    def update(self, store: Any, scope: Scope, id: str, **changes: Any) -> None:
        found = super().get(store, scope, id)
        assert found is not None
        _network()
        merged = {**found.metadata, **changes["metadata"]}
        super().put(store, scope, replace(found, metadata=merged))


@mutant("conc_state_keys_parallel_sessions")
class KeepsStateInOneValue(RedisAdapter):
    """Reads all keys of a state, and writes all of them."""

    def set_state(
        self, store: Any, handle: Any, delta: Mapping[str, Any], *, level: Any = "session"
    ) -> None:
        scope = getattr(handle, "scope", handle)
        before = self.get_state(store, scope, level=level)
        _network()
        super().set_state(store, handle, {"all": {**before, **delta}}, level=level)

    def get_state(self, store: Any, scope: Scope, *, level: Any = "session") -> dict[str, Any]:
        found: dict[str, Any] = super().get_state(store, scope, level=level).get("all", {})
        return found


@mutant("conc_first_use_8_workers")
class SetsUpWithoutALock(PostgresAdapter):
    """Trusts IF NOT EXISTS, which does not wait for others."""

    def setup(self, store: Any) -> None:
        def steps() -> Steps[None]:
            yield Query(store.plans.statements.tables_ddl)
            yield Query(store.plans.statements.vectors_ddl)
            yield Query("SELECT pg_sleep(0.02)")  # as long as the way to another machine and back

        store.run(Plan(steps, atomic=True, patient=True))


@mutant("conc_first_use_8_workers")
class SetsUpUnderALockOfTheProcess(SetsUpWithoutALock):
    """The same under a lock, which another process has not."""

    def setup(self, store: Any) -> None:
        with _LOCK:
            super().setup(store)


@mutant("conc_read_during_replace")
class ClearsThenAppends(RedisAdapter):
    """Replaces in two steps."""

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> None:
        super().clear(store, scope)
        super().append(store, scope, messages)


@mutant("conc_delete_vs_append")
class AppendsByAndBy(RedisAdapter):
    """Writes each message of a batch by itself, so that a delete comes in between."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        for message in messages:
            super().append(store, scope, [message], **options)
            _network()

    def clear(self, store: Any, scope: Scope) -> None:
        _network()
        super().clear(store, scope)


@mutant("conc_lock_wait_bounded")
class WaitsForLocks(PostgresAdapter):
    """Has no bound of its own."""

    policy = replace(PostgresAdapter.policy, wait=0.3)

    def open(self, env: StoreEnv) -> Any:
        return super().open(replace(env, wait=60.0))
