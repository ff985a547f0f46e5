"""Stores of other designs than the reference stores', as right as those: no case finds a fault in them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Compare, Filter, Message, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case
from support.mutations import leaves, of_writes

pytestmark = pytest.mark.integration


class ListsTwenty(RedisAdapter):
    """Lists 20 where nobody says how many, and reads all."""

    policy = replace(RedisAdapter.policy, default_limit=20)

    def list_sessions(
        self, store: Any, scope: Scope, *, limit: int | None = 20, cursor: Any = None
    ) -> Page:
        return super().list_sessions(store, scope, limit=limit or 20, cursor=cursor)

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = 20, **options: Any
    ) -> Page:
        return super().list_records(store, scope, limit=limit or 20, **options)


class ListsTwentyOrAHundred(ListsTwenty):
    """Lists 20 sessions or 100 records, and says so of each."""

    policy = replace(RedisAdapter.policy, default_limit={"list_sessions": 20, "list_records": 100})

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = 100, **options: Any
    ) -> Page:
        return super().list_records(store, scope, limit=limit or 100, **options)


class CountsPuts(RedisAdapter):
    """Numbers what it is given by one counter, which stays when all else is deleted."""

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        store.env = env
        return store

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        store.link.client().incr(f"{store.env.prefix}puts")
        super().put(store, scope, record, **options)

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        store.link.client().incr(f"{store.env.prefix}puts")
        super().put_many(store, scope, records, **options)


class ReadsAHundred(RedisAdapter):
    """Reads the newest 100 messages where nobody says how many, and says so."""

    policy = replace(RedisAdapter.policy, default_limit={"read": 100})

    def read(
        self, store: Any, scope: Scope, *, limit: int | None = 100, **options: Any
    ) -> list[Message]:
        read: list[Message] = super().read(
            store, scope, limit=100 if limit is None else limit, **options
        )
        return read


class PagesByOffset(RedisAdapter):
    """Has pages that begin at an offset, and says so."""

    policy = replace(RedisAdapter.policy, cursor="offset")

    def list_sessions(
        self, store: Any, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        return _from(super().list_sessions(store, scope), limit, cursor)

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        return _from(super().list_records(store, scope), limit, cursor)


def _from(whole: Page, limit: int | None, offset: int | None) -> Page:
    begin = offset or 0
    end = len(whole.items) if limit is None else begin + limit
    return Page(whole.items[begin:end], end if end < len(whole.items) else None)


class PagesByOffsetOfNoOrder(PagesByOffset):
    """The same, without an order of its listings that can be relied on."""

    policy = replace(PagesByOffset.policy, list_order="none")


class NamesMessages(RedisAdapter):
    """Gives each message an id of its own making, whatever it was given."""

    policy = replace(RedisAdapter.policy, message_ids="store")

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().append(store, scope, _unnamed(messages), **options)

    def replace(self, store: Any, scope: Scope, messages: Sequence[Message]) -> None:
        super().replace(store, scope, _unnamed(messages))

    def append_with(self, store: Any, handle: Any, messages: Sequence[Message]) -> None:
        super().append_with(store, handle, _unnamed(messages))


def _unnamed(messages: Sequence[Message]) -> list[Message]:
    return [replace(each, id=None) for each in messages]


class CountsSeconds(RedisAdapter):
    """Shows whole seconds as the times of its records."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:  # noqa: A002
        found: Record | None = super().get(store, scope, id)
        return None if found is None else _in_seconds(found)

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        page: Page = super().list_records(store, scope, **options)
        return replace(page, items=[*map(_in_seconds, page.items)])


class ReadsSeconds(RedisAdapter):
    """Has whole seconds as the times of its messages, also where it is asked for those after a time."""

    store_clock = None

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        untimed = [replace(each, created_at=None) for each in messages]
        super().append(store, scope, untimed, **options)

    def read(
        self,
        store: Any,
        scope: Scope,
        *,
        limit: int | None = None,
        after: dt.datetime | None = None,
    ) -> list[Message]:
        found = [_message_in_seconds(each) for each in super().read(store, scope)]
        if after is not None:
            found = [each for each in found if each.created_at and each.created_at > after]
        return found if limit is None else found[-limit:]


class ListsBySeconds(CountsSeconds):
    """Lists by seconds, and by id what was made in one; tells no time from outside."""

    store_clock = None

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        every = [*super().list_records(store, scope).items]
        every.sort(key=lambda each: (each.created_at, each.id))
        rest = [each for each in every if cursor is None or (each.created_at, each.id) > cursor]
        page = rest[:limit]
        more = len(rest) > len(page)
        return Page(page, (page[-1].created_at, page[-1].id) if more else None)


def _message_in_seconds(message: Message) -> Message:
    assert message.created_at is not None
    return replace(message, created_at=message.created_at.replace(microsecond=0))


class FiltersMetadataAlone(RedisAdapter):
    """Takes each filter for one on the metadata."""

    def delete_where(self, store: Any, scope: Scope, filter: Filter) -> int | None:  # noqa: A002
        if isinstance(filter, Compare):
            filter = replace(filter, own=False)  # noqa: A001
        deleted: int | None = super().delete_where(store, scope, filter)
        return deleted


def _in_seconds(record: Record) -> Record:
    assert record.created_at is not None
    assert record.updated_at is not None
    return replace(
        record,
        created_at=record.created_at.replace(microsecond=0),
        updated_at=record.updated_at.replace(microsecond=0),
    )


class LooksUpItsCollection(PostgresAdapter):
    """Looks up in a table of one row, which has no index, what each search is about."""

    ddl = None

    def open(self, env: StoreEnv) -> Any:
        store = super().open(env)
        store.env = env
        return store

    def setup(self, store: Any) -> None:
        super().setup(store)
        _run(
            store,
            "CREATE TABLE IF NOT EXISTS collections (name text)",
            "INSERT INTO collections SELECT 'mine' WHERE NOT EXISTS (SELECT FROM collections)",
        )

    def search(self, store: Any, *arguments: Any, **options: Any) -> Any:
        _run(store, "SELECT name FROM collections WHERE name = 'mine'")
        return super().search(store, *arguments, **options)


def _run(store: Any, *statements: str) -> None:
    with psycopg.connect(store.env.postgres_dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _decimal(value: Any) -> Any:
    """Return a number as a decimal type shows it: 1.0 is 1, and 1.8e308 has 309 digits."""
    whole = isinstance(value, float) and value.is_integer()
    return int(Decimal(repr(value))) if whole else value


class KeepsDecimals(of_writes(RedisAdapter, metadata=leaves(_decimal))):  # type: ignore[misc]
    """Keeps numbers as decimals, which do not tell 1.0 from 1."""

    policy = replace(RedisAdapter.policy, number_kinds="merge", negative_zero="drop")


@pytest.mark.parametrize(
    ("adapter", "case"),
    [
        (KeepsDecimals, "meta_float_exact"),
        (ListsTwenty, "history_over_1000"),
        (ListsTwenty, "list_limit_default_declared"),
        (ListsTwentyOrAHundred, "history_over_1000"),
        (ListsTwentyOrAHundred, "list_limit_default_declared"),
        (CountsPuts, "del_leaves_no_keys"),
        (ReadsAHundred, "history_over_1000"),
        (ReadsAHundred, "conc_append_8_workers"),
        (PagesByOffset, "list_pages_under_inserts"),
        (PagesByOffset, "list_pages_cover_all_once"),
        (PagesByOffset, "list_page_past_end"),
        (PagesByOffsetOfNoOrder, "list_pages_under_inserts"),
        (NamesMessages, "tool_call_fields_kept"),
        (NamesMessages, "meta_reserved_key_names"),
        (NamesMessages, "order_after_delete_middle"),
        (NamesMessages, "del_missing_is_quiet"),
        (NamesMessages, "iso_backslash_and_quote"),
        (NamesMessages, "re_redis_readonly_replica"),
        (CountsSeconds, "update_keeps_created_changes_updated"),
        (FiltersMetadataAlone, "vec_delete_leaves_index"),
        (LooksUpItsCollection, "idx_used_for_search"),
        (ReadsSeconds, "time_after_filter_inclusive"),
        (ListsBySeconds, "list_stable_order"),
        (ListsBySeconds, "list_sort_by_time_with_ties"),
    ],
)
def test_no_case_finds_a_fault_in_a_right_store_of_another_design(
    adapter: Any, case: str, suite_worker: Worker
) -> None:
    assert try_case(suite_worker, adapter, case) is None
