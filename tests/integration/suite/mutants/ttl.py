"""Stores that lose, keep or share out times to live as they should not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import change, run
from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.adapter import POLICY as POSTGRES_POLICY
from memory_matrix.stores.postgres.adapter import PostgresAdapter
from memory_matrix.stores.protocol import Message, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisStore
from memory_matrix.stores.redis.adapter import POLICY as REDIS_POLICY
from memory_matrix.stores.redis.adapter import RedisAdapter
from memory_matrix.stores.redis.keys import SessionKeys
from support.mutants import mutant


def _keys(store: RedisStore, scope: Scope) -> SessionKeys:
    return store.parts.keys.session(scope)


@mutant("ttl_set_on_every_key")
class MessagesForEver(RedisAdapter):
    """An append that sets a time to live, but not on the list of messages."""

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        super().append(store, scope, *arguments, **options)
        store.link.client().persist(_keys(store, scope).messages)


@mutant("ttl_set_on_every_key")
class BatchesForEver(PostgresAdapter):
    """A batch that forgets the time to live which single records get."""

    def put_many(
        self, store: Any, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> Any:
        return super().put_many(store, scope, records)


@mutant("ttl_set_on_every_key")
class VectorsForEver(RedisAdapter):
    """A put that writes a second key, without a time to live, of which raw_keys says nothing."""

    def put(self, store: RedisStore, scope: Scope, record: Record, **options: Any) -> None:
        super().put(store, scope, record, **options)
        key = store.parts.keys.records(scope).record(record.id)
        store.link.client().set(key + b":vector", b"...")


class _SeesExpired(PostgresAdapter):
    """A read that leaves expired rows to a sweep."""

    statement = ""

    def open(self, env: StoreEnv) -> PostgresStore:
        store = super().open(env)
        change(store, self.statement, "AND {live}", "")
        return store


@mutant("ttl_expired_not_returned", "ttl_read_does_not_revive")
class GetsExpired(_SeesExpired):
    """By get."""

    statement = "get"


@mutant("ttl_expired_not_returned")
class CountsExpired(_SeesExpired):
    """By count."""

    statement = "count"


@mutant("ttl_expired_not_returned", "ttl_delete_then_ttl_listing")
class ListsExpiredSessions(_SeesExpired):
    """By the listing of sessions."""

    statement = "list_sessions"


@mutant("ttl_delete_then_ttl_listing")
class ListsExpiredNamespaces(_SeesExpired):
    """By the listing of namespaces."""

    statement = "list_namespaces"


_LATER = "SET expires_at = statement_timestamp() + interval '1 hour'"


@mutant("ttl_read_does_not_revive", "ttl_refresh_on_read_as_declared")
class ReadsRevive(PostgresAdapter):
    """Reads that make the time to live start again before they look."""

    def read(self, store: Any, scope: Scope, **options: Any) -> Any:
        where = "WHERE key = %(key)s AND expires_at IS NOT NULL"
        run(store, f"UPDATE {{sessions}} {_LATER} {where}", scope)
        return super().read(store, scope, **options)

    def get(self, store: Any, scope: Scope, id: str) -> Any:
        where = "WHERE collection = %(collection)s AND id = %(id)s AND expires_at IS NOT NULL"
        run(store, f"UPDATE {{records}} {_LATER} {where}", scope, id=id)
        return super().get(store, scope, id)


@mutant("ttl_read_does_not_revive")
class RevivesBeforeASweep(ReadsRevive):
    """The same where what has expired may be shown until it is swept."""

    policy = replace(POSTGRES_POLICY, expiry_read="until-sweep", ttl_refresh="read")


@mutant("ttl_refresh_on_read_as_declared")
class ReadsRefreshOneKey(RedisAdapter):
    """A read that makes the time to live start again, but for the messages only."""

    policy = replace(REDIS_POLICY, ttl_refresh="read")

    def read(self, store: RedisStore, scope: Scope, **options: Any) -> list[Message]:
        store.link.client().expire(_keys(store, scope).messages, 3600)
        return super().read(store, scope, **options)


@mutant("ttl_refresh_on_write")
class AppendsRefreshOneKey(RedisAdapter):
    """An append that makes the time to live of the state go on."""

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        client, state = store.link.client(), _keys(store, scope).state
        left = client.pttl(state)
        super().append(store, scope, *arguments, **options)
        if left > 0:
            client.pexpire(state, left)


@mutant("ttl_kept_on_update")
class UpdatesByPut(RedisAdapter):
    """An update that gets the record and puts it again, for ever."""

    def update(self, store: RedisStore, scope: Scope, record_id: str, **changes: Any) -> None:
        found = store.get(scope, record_id)
        assert found is not None
        store.put(scope, replace(found, **changes))


@mutant("ttl_replace_keeps")
class ReplacedForEver(PostgresAdapter):
    """A replaced history that is written anew, without its time to live."""

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> Any:
        super().replace(store, scope, messages)
        run(store, "UPDATE {sessions} SET expires_at = NULL WHERE key = %(key)s", scope)


@mutant("ttl_replace_keeps")
class ReplacedAsNew(RedisAdapter):
    """A time to live that no write makes start again, but for a replace."""

    policy = replace(REDIS_POLICY, ttl_refresh="never")

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        _append_keeping(self, store, scope, *arguments, **options)


@mutant("ttl_fraction_and_zero")
class WholeSeconds(RedisAdapter):
    """A time to live in whole seconds, of which none means for ever."""

    def put(self, store: RedisStore, scope: Scope, record: Record, **options: Any) -> None:
        ttl = options.pop("ttl", None)
        store.put(scope, record, ttl=int(ttl or 0) or None, **options)


@mutant("ttl_fraction_and_zero")
class UnseenWholeSeconds(WholeSeconds):
    """The same, but that 0 is refused and nobody says which keys there are."""

    raw_keys = expire_now = None  # type: ignore[assignment]

    def put(self, store: RedisStore, scope: Scope, record: Record, **options: Any) -> None:
        if options.get("ttl") == 0:
            raise RefusedError("0 is no time to live.")
        super().put(store, scope, record, **options)


@mutant("ttl_fraction_and_zero")
class ZeroIsForEver(PostgresAdapter):
    """A session's time to live that is tested for truth."""

    def open(self, env: StoreEnv) -> PostgresStore:
        return super().open(replace(env, ttl=env.ttl or None))


@mutant("ttl_none_means_none")
class KeepsOldEnds(RedisAdapter):
    """A put without a time to live that leaves the one of the record before."""

    def put(self, store: RedisStore, scope: Scope, record: Record, **options: Any) -> None:
        key, client = store.parts.keys.records(scope).record(record.id), store.link.client()
        left = client.pttl(key)
        store.put(scope, record, **options)
        if left > 0 and options.get("ttl") is None:
            client.pexpire(key, left)


@mutant("ttl_none_means_none")
class AppendsKeepOldEnds(RedisAdapter):
    """An append without a time to live that leaves the one of the session, against what is declared."""

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        _append_keeping(self, store, scope, *arguments, **options)


@mutant("ttl_none_means_none")
class AppendsKeepSomeEnds(RedisAdapter):
    """The same, of all but the list of messages, and declared."""

    policy = replace(REDIS_POLICY, ttl_on_append="keep")

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        _append_keeping(self, store, scope, *arguments, **options)
        store.link.client().persist(_keys(store, scope).messages)


def _append_keeping(
    adapter: RedisAdapter, store: RedisStore, scope: Scope, *arguments: Any, **options: Any
) -> None:
    """Append, and leave to all keys the time that they had left."""
    client = store.link.client()
    left = {key: client.pttl(key) for key in adapter.raw_keys(store, scope)}
    RedisAdapter.append(adapter, store, scope, *arguments, **options)
    for key, each in left.items():
        if each > 0:
            client.pexpire(key, each)


@mutant("ttl_none_means_none")
class EndsByDefault(PostgresAdapter):
    """Sessions that live for a day where nobody asked for it."""

    def open(self, env: StoreEnv) -> PostgresStore:
        return super().open(replace(env, ttl=86400.0 if env.ttl is None else env.ttl))


@mutant("ttl_rebuild_after_expiry")
class AppendsRevive(PostgresAdapter):
    """An append that makes the time to live start again before it looks."""

    def append(self, store: Any, scope: Scope, *arguments: Any, **options: Any) -> Any:
        where = "WHERE key = %(key)s AND expires_at IS NOT NULL"
        run(store, f"UPDATE {{sessions}} {_LATER} {where}", scope)
        return super().append(store, scope, *arguments, **options)


@mutant("ttl_rebuild_after_expiry")
class KeepsOldMetadata(PostgresAdapter):
    """A put that merges with the metadata of what expired."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> Any:
        old = run(
            store,
            "SELECT metadata FROM {records} WHERE collection = %(collection)s AND id = %(id)s",
            scope,
            id=record.id,
        )
        kept = old[0][0] if old else {}
        merged = replace(record, metadata={**kept, **record.metadata})
        return super().put(store, scope, merged, **options)


@mutant("ttl_part_expired")
class TwoKeys(RedisAdapter):
    """A history of which the first message has one key, and the rest another."""

    def append(
        self, store: RedisStore, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        first = 0 if store.count(scope) else 1
        super().append(store, scope, messages[:first], **options)
        super().append(store, _rest(scope), messages[first:], **options)

    def read(self, store: RedisStore, scope: Scope, **options: Any) -> list[Message]:
        return store.read(scope) + store.read(_rest(scope))

    def raw_keys(self, store: RedisStore, scope: Scope) -> list[bytes]:
        return super().raw_keys(store, scope) + super().raw_keys(store, _rest(scope))


def _rest(scope: Scope) -> Scope:
    return replace(scope, session=f"{scope.session}, the rest")
