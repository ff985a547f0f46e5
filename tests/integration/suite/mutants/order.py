"""Stores that lose or shuffle messages, and what the cases of group C say of them."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import change
from memory_matrix.stores.errors import CorruptError
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Message, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant

_ORDER = "ORDER BY position DESC"


@mutant("order_one_batch_same_clock")
class OneKeyPerTick(RedisAdapter):
    """Keeps messages under the time of their writing."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        messages = super().read(store, scope, **options)
        return list({message.created_at: message for message in messages}.values())


@mutant("order_one_batch_same_clock", "order_clock_step_back")
class SortedByClock(RedisAdapter):
    """Sorts by the clock, and by a random id where that is the same."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        messages = super().read(store, scope, **options)
        return sorted(messages, key=lambda each: (each.created_at, _digest(each.text)))


@mutant("order_many_batches", "order_one_batch_same_clock")
class PushesBatchesReversed(PostgresAdapter):
    """Writes the items of a batch from the last to the first."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, list(messages)[::-1], **options)


@mutant("order_many_batches")
class PutsBatchesInFront(RedisAdapter):
    """Puts a batch in front of the one before."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().replace(store, scope, [*messages, *super().read(store, scope)])


@mutant("order_survives_row_rewrite")
class InOrderOfPages(PostgresAdapter):
    """Reads the rows as they lie, which is their order until they are moved."""

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        change(store, "read", _ORDER, "ORDER BY m.ctid DESC")
        return store


@mutant("order_limit_n_newest")
class LimitGivesOldest(RedisAdapter):
    """Puts the limit on the order of writing."""

    def read(
        self, store: Any, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        return super().read(store, scope, after=after)[:limit]


@mutant("order_limit_n_newest")
class LimitGivesNewestFirst(PostgresAdapter):
    """Forgets to turn the newest round."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        messages: list[Message] = super().read(store, scope, **options)
        return messages[::-1] if "limit" in options else messages


@mutant("order_limit_0_and_negative")
class ZeroIsNoLimit(RedisAdapter):
    """Asks whether the limit is true."""

    def read(self, store: Any, scope: Scope, *, limit: int | None = None, **options: Any) -> Any:
        return super().read(store, scope, limit=limit or None, **options)


@mutant("order_limit_0_and_negative")
class NegativeIsAPlace(PostgresAdapter):
    """Cuts lists, where -1 means all but the last."""

    def read(self, store: Any, scope: Scope, *, limit: int | None = None, **options: Any) -> Any:
        if limit is not None and limit < 0:
            return super().read(store, scope, **options)[:limit]
        return super().read(store, scope, limit=limit, **options)


@mutant("order_limit_beyond_length")
class CutsBeyondTheBeginning(RedisAdapter):
    """Begins at the length less the limit, which may be negative."""

    def read(self, store: Any, scope: Scope, *, limit: int | None = None, **options: Any) -> Any:
        messages = super().read(store, scope, **options)
        return messages if limit is None else messages[len(messages) - limit :]


@mutant("order_two_writers_interleaved")
class WritesBehind(RedisAdapter):
    """Holds messages back until there are four of them, or somebody reads with the same object."""

    def __init__(self) -> None:
        self.held: defaultdict[Any, list[Message]] = defaultdict(list)

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        self.held[id(store), scope] += messages
        if len(self.held[id(store), scope]) >= 4:
            self._flush(store, scope)

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        self._flush(store, scope)
        return super().read(store, scope, **options)

    def _flush(self, store: Any, scope: Scope) -> None:
        super().append(store, scope, self.held.pop((id(store), scope), []))


@mutant("order_after_delete_middle")
class FillsTheHole(RedisAdapter):
    """Moves the last message to where one was deleted."""

    def delete_message(self, store: Any, scope: Scope, which: str) -> None:
        messages = super().read(store, scope)
        at = [message.id for message in messages].index(which)
        messages[at] = messages[-1]
        super().replace(store, scope, messages[:-1])


@mutant("order_after_delete_middle")
class CountsForPositions(PostgresAdapter):
    """Gives a new message the count as its position, which is another's after a delete."""

    def __init__(self) -> None:
        self.deleted: Counter[Scope] = Counter()

    def delete_message(self, store: Any, scope: Scope, which: str) -> Any:
        self.deleted[scope] += 1
        return super().delete_message(store, scope, which)

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        there = super().read(store, scope)
        at = max(len(there) - self.deleted[scope], 0)
        super().replace(store, scope, [*there[:at], *messages, *there[at:]])


@mutant("order_delete_only_message")
class KeepsTheLastOne(RedisAdapter):
    """Writes what is left of the history, if anything is."""

    def delete_message(self, store: Any, scope: Scope, which: str) -> None:
        rest = [each for each in super().read(store, scope) if each.id != which]
        if rest:
            super().replace(store, scope, rest)


@mutant("order_pop_is_last")
class PopsTheOldest(RedisAdapter):
    """Pops at the wrong end."""

    def pop(self, store: Any, scope: Scope) -> Message | None:
        messages = super().read(store, scope)
        if not messages:
            return None
        super().replace(store, scope, messages[1:])
        return messages[0]


@mutant("order_pop_is_last")
class PopOnlyLooks(PostgresAdapter):
    """Gives the newest message and leaves it there."""

    def pop(self, store: Any, scope: Scope) -> Message | None:
        newest: list[Message] = super().read(store, scope, limit=1)
        return newest[0] if newest else None


@mutant("count_matches_list")
class CountsAppends(RedisAdapter):
    """Counts what was appended, and never less."""

    def __init__(self) -> None:
        self.appended: Counter[Scope] = Counter()

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, messages, **options)
        self.appended[scope] += len(messages)

    def count(self, store: Any, scope: Scope) -> int:
        return self.appended[scope]


@mutant("history_over_1000")
class ReadsAThousand(RedisAdapter):
    """Has a limit of its own, and gives the oldest."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        return super().read(store, scope, **options)[:1000]


@mutant("corrupt_record_skipped_not_counted")
class CountsTheUnreadable(PostgresAdapter):
    """Takes the newest n, and then leaves out those that cannot be read."""

    policy = replace(PostgresAdapter.policy, corrupt="skip")

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        decode = store.plans._message

        def message(*arguments: Any) -> Message | None:
            with suppress(CorruptError):
                found: Message = decode(*arguments)
                return found
            return None

        store.plans._message = message
        return store

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        return [each for each in super().read(store, scope, **options) if each is not None]


@mutant("corrupt_record_skipped_not_counted")
class CorruptIsEmpty(RedisAdapter):
    """Takes a history that cannot be read for none."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        try:
            return super().read(store, scope, **options)
        except CorruptError:
            return []


@mutant("corrupt_record_skipped_not_counted")
class SaysNotWhichIsCorrupt(RedisAdapter):
    """Says of a history that it cannot be read, and not what of which."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        try:
            return super().read(store, scope, **options)
        except CorruptError:
            raise CorruptError("Something went wrong.") from None


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode()).digest()


@mutant("order_delete_only_message")
class LogsInsteadOfRaising(RedisAdapter):
    """Writes to its log that it found nothing, and gives nothing."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        found: list[Message] = super().read(store, scope, **options)
        if not found:
            logging.getLogger("a-store").error("no messages of %s", scope.session)
        return found
