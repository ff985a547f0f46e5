"""Stores that change the times which they are given, or tell them wrongly."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.adapter import PostgresAdapter
from memory_matrix.stores.protocol import Compare, Filter, Message, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import AsyncRedisStore, RedisStore
from memory_matrix.stores.redis.adapter import AsyncRedisAdapter, RedisAdapter
from support.mutants import mutant

UTC = dt.timezone.utc


class _GivesTimes(RedisAdapter):
    """A store that gives back another time than it holds."""

    def given(self, at: dt.datetime | None) -> dt.datetime | None:
        """Return what is given for a time."""
        raise NotImplementedError

    def read(self, store: RedisStore, scope: Scope, **options: Any) -> list[Message]:
        found = super().read(store, scope, **options)
        return [replace(each, created_at=self.given(each.created_at)) for each in found]

    def get(self, store: RedisStore, scope: Scope, record_id: str) -> Record | None:
        found = super().get(store, scope, record_id)
        return found and self._record(found)

    def list_records(self, store: RedisStore, scope: Scope, **options: Any) -> Page:
        page = super().list_records(store, scope, **options)
        return replace(page, items=tuple(map(self._record, page.items)))

    def _record(self, found: Record) -> Record:
        times = (self.given(found.created_at), self.given(found.updated_at))
        return replace(found, created_at=times[0], updated_at=times[1])


@mutant("time_utc_aware")
class NaiveTimes(_GivesTimes):
    """Times without their zone."""

    def given(self, at: dt.datetime | None) -> dt.datetime | None:
        return at and at.replace(tzinfo=None)


@mutant("time_utc_aware")
class OtherZone(_GivesTimes):
    """Times in a zone that nobody declared."""

    def given(self, at: dt.datetime | None) -> dt.datetime | None:
        return at and at.astimezone(dt.timezone(dt.timedelta(hours=1)))


class _TakesTimes(RedisAdapter):
    """A store that takes another time than it was given, wherever one is given."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        """Return what is taken for a time."""
        raise NotImplementedError

    def append(
        self, store: RedisStore, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        taken = [replace(each, created_at=self._taken(each.created_at)) for each in messages]
        super().append(store, scope, taken, **options)

    def put(self, store: RedisStore, scope: Scope, record: Record, **options: Any) -> None:
        taken = replace(record, created_at=self._taken(record.created_at))
        super().put(store, scope, taken, **options)

    def read(
        self, store: RedisStore, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        after = self._taken(after) if isinstance(after, dt.datetime) else after
        return super().read(store, scope, limit=limit, after=after)

    def store_clock(self, store: RedisStore, now: Callable[[], dt.datetime]) -> None:
        super().store_clock(store, lambda: self._taken(now()) or dt.datetime.now(UTC))

    def _taken(self, at: dt.datetime | None) -> dt.datetime | None:
        return None if at is None else self.taken(at)


@mutant("time_host_zone_kolkata")
class LocalClock(RedisAdapter):
    """A store that takes the host's local time for UTC."""

    def open(self, env: StoreEnv) -> RedisStore:
        store = super().open(env)
        store.use_clock(lambda: dt.datetime.now().replace(tzinfo=UTC))  # noqa: DTZ005 - the fault
        return store


@mutant("time_host_zone_kolkata")
class LocalTimes(_GivesTimes):
    """Times in the host's zone, whose zone is then taken off."""

    def given(self, at: dt.datetime | None) -> dt.datetime | None:
        return at and at.astimezone().replace(tzinfo=UTC)


@mutant("time_pg_timezone_setting")
class ServersTime(PostgresAdapter):
    """Times in the server's TimeZone that are taken for UTC."""

    def open(self, env: StoreEnv) -> PostgresStore:
        store = super().open(env)
        statements: Any = store.plans.statements
        statements.get = statements.get.replace("AT TIME ZONE 'UTC'", "::timestamp")
        return store


@mutant("time_naive_input")
class NaiveIsLocal(_TakesTimes):
    """A time without a zone that is taken for local time."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        return at.astimezone()


@mutant("time_naive_input")
class NaiveIsLocalThoughDeclared(NaiveIsLocal):
    """The same in a store that declares to take it for UTC."""

    policy = replace(RedisAdapter.policy, naive_time="utc")


@mutant("time_aware_on_every_driver", "time_dst_gap_and_fold")
class DropsTheZone(_TakesTimes):
    """A time of which only the face of the clock is kept."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        return at.replace(tzinfo=UTC)


@mutant("time_aware_on_every_driver")
class TwinDropsTheZone(AsyncRedisAdapter):
    """A store that is right, with a twin that is not."""

    twin = DropsTheZone


@mutant("time_aware_on_every_driver", raises=True)
class RefusesOtherZones(AsyncRedisAdapter):
    """A store that reads after times in UTC only."""

    async def read(
        self, store: AsyncRedisStore, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        if isinstance(after, dt.datetime) and after.utcoffset():
            raise ValueError("cannot subtract times of different zones")
        return await super().read(store, scope, limit=limit, after=after)


@mutant("time_microseconds_kept")
class Milliseconds(_TakesTimes):
    """Times in milliseconds."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        return at.replace(microsecond=at.microsecond // 1000 * 1000)


@mutant("time_dst_gap_and_fold")
class NoFold(_TakesTimes):
    """Times that lose their fold before they are turned to UTC."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        return at.replace(fold=0)


@mutant("time_after_filter_inclusive")
class AfterHasItsBound(RedisAdapter):
    """A bound that is in the answer, though it is declared to be out."""

    def read(
        self, store: RedisStore, scope: Scope, *, limit: int | None = None, after: Any = None
    ) -> list[Message]:
        if isinstance(after, dt.datetime):
            after -= dt.timedelta(microseconds=1)
        return super().read(store, scope, limit=limit, after=after)


@mutant("time_after_filter_inclusive")
class OldestAfter(PostgresAdapter):
    """The oldest messages after a bound, where a limit asks for the newest."""

    def read(self, store: Any, scope: Scope, *, limit: int | None = None, after: Any = None) -> Any:
        if after is None:
            return super().read(store, scope, limit=limit)
        return super().read(store, scope, after=after)[:limit]


@mutant("time_after_filter_inclusive")
class FilterWithoutItsBound(RedisAdapter):
    """A filter by time that leaves out its bound, though it is declared to be in."""

    def list_records(
        self,
        store: RedisStore,
        scope: Scope,
        *,
        filter: Filter | None = None,
        **options: Any,
    ) -> Page:
        strict: dict[str, Any] = {"lte": "lt", "gte": "gt"}
        if isinstance(filter, Compare) and filter.own:
            filter = replace(filter, op=strict.get(filter.op, filter.op))  # noqa: A001
        return super().list_records(store, scope, filter=filter, **options)


@mutant("time_float_epoch_precision")
class ShortFloats(PostgresAdapter):
    """Floats of metadata that are kept in 32 bits."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> Any:
        short = {name: _short(value) for name, value in record.metadata.items()}
        return super().put(store, scope, replace(record, metadata=short), **options)


def _short(value: Any) -> Any:
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


@mutant("time_float_epoch_precision")
class MillisecondsInMessages(RedisAdapter):
    """Floats in the metadata of messages that are rounded to three places."""

    def append(
        self, store: RedisStore, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        rounded = [
            replace(
                each,
                metadata={
                    name: round(value, 3) if isinstance(value, float) else value
                    for name, value in each.metadata.items()
                },
            )
            for each in messages
        ]
        super().append(store, scope, rounded, **options)


@mutant("time_future_and_1970")
class EpochIsNoTime(_TakesTimes):
    """A time that is tested for truth as the seconds that it is."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        return at if at.timestamp() else None


@mutant("time_future_and_1970")
class UntilTwentyThirtyEight(_TakesTimes):
    """Seconds in 32 bits."""

    def taken(self, at: dt.datetime) -> dt.datetime | None:
        latest = dt.datetime.fromtimestamp(2**31 - 1, UTC)
        return min(at.astimezone(UTC), latest)


@mutant("time_aware_on_every_driver")
class HasADriverWithoutZones(RedisAdapter):
    """On one of its drivers drops the zone of what it reads."""

    drivers = ("zoned", "zoneless")

    def __init__(self) -> None:
        self.zoneless: set[int] = set()

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        if env.options.get("driver") == "zoneless":
            self.zoneless.add(id(store))
        return store

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        found: list[Message] = super().read(store, scope, **options)
        if id(store) not in self.zoneless:
            return found
        return [replace(each, created_at=_without_zone(each.created_at)) for each in found]


def _without_zone(at: dt.datetime | None) -> dt.datetime | None:
    return None if at is None else at.replace(tzinfo=None)
