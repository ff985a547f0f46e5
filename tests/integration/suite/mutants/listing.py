"""Stores whose listings lack something, have it twice, or have what is not theirs."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import change, run
from memory_matrix.stores.errors import NotFoundError
from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.adapter import PostgresAdapter
from memory_matrix.stores.protocol import Filter, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisStore
from memory_matrix.stores.redis.adapter import RedisAdapter
from support.mutants import mutant


class _Paged(RedisAdapter):
    """Listings whose pages are cut from the whole by a rule of the mutant's own."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        """Return a page of what there is."""
        raise NotImplementedError

    def list_sessions(
        self, store: RedisStore, scope: Scope, *, limit: int | None = None, cursor: Any = None
    ) -> Page:
        return self.page(list(store.list_sessions(scope).items), limit, cursor)

    def list_records(
        self,
        store: RedisStore,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: Any = None,
    ) -> Page:
        whole = store.list_records(scope, condition=filter).items
        return self.page(list(whole), limit, cursor)


def _from(whole: list[Any], limit: int | None, offset: int, *, step: int = 0) -> Page:
    """Return `limit` items from `offset` on; the next page is `step` further than it should be."""
    end = len(whole) if limit is None else offset + limit
    return Page(whole[offset:end], end + step if end < len(whole) else None)


@mutant("list_stable_order")
class OrderOfDigests(_Paged):
    """The order in which a set happens to hold its members."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        whole.sort(key=lambda item: hashlib.md5(repr(item).encode()).digest())
        return _from(whole, limit, cursor or 0)


@mutant("list_stable_order")
class OrderOfRows(PostgresAdapter):
    """The order of the rows in the table, which moves with them."""

    def open(self, env: StoreEnv) -> PostgresStore:
        store = super().open(env)
        change(store, "list_sessions", "ORDER BY number", "ORDER BY ctid")
        return store


@mutant("list_stable_order")
class OrderOfIds(RedisAdapter):
    """The order of the ids, under the name of that of the times, with a clock that nobody can set."""

    store_clock = None

    def list_records(self, store: Any, scope: Scope, **options: Any) -> Page:
        page: Page = super().list_records(store, scope, **options)
        return replace(page, items=sorted(page.items, key=lambda each: str(each.id)))


@mutant("list_pages_cover_all_once")
class SkipsOne(_Paged):
    """A cursor that is one too far."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        return _from(whole, limit, cursor or 0, step=1)


@mutant("list_pages_cover_all_once")
class OneTooMany(_Paged):
    """Pages of one more than was asked for, to see whether there are more."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        return _from(whole, None if limit is None else limit + 1, cursor or 0)


@mutant("list_pages_under_inserts")
class Offsets(_Paged):
    """A cursor that counts what came before."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        return _from(whole, limit, cursor or 0)


@mutant("list_pages_under_inserts")
class OffsetsOfTheFirstLook(_Paged):
    """Pages, by an offset as declared, of what was there when the first was asked for."""

    policy = replace(RedisAdapter.policy, cursor="offset")

    def __init__(self) -> None:
        self._first: list[Any] = []

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        if cursor is None:
            self._first = whole
        return _from(self._first, limit, cursor or 0)


@mutant("list_page_past_end")
class BeginsAgain(_Paged):
    """A full last page that promises another, which is the first."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        offset = cursor or 0
        if offset >= len(whole):
            return Page(whole[:limit])
        items = whole[offset : None if limit is None else offset + limit]
        return Page(items, offset + len(items) if len(items) == limit else None)


@mutant("list_page_past_end", raises=True)
class NeedsItsLastItem(_Paged):
    """A cursor that is lost with the item that it names."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        names = [item.id if isinstance(item, Record) else item for item in whole]
        if cursor is not None and cursor not in names:
            raise NotFoundError(f"There is no {cursor} to go on from.")
        page = _from(whole, limit, 0 if cursor is None else names.index(cursor) + 1)
        return Page(page.items, None if page.cursor is None else names[page.cursor - 1])


@mutant("list_limit_default_declared")
class CutsAtAThousand(_Paged):
    """A limit that nobody declared, and no way past it."""

    most = 1000

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        page = _from(whole, self.most if limit is None else limit, cursor or 0)
        return page if limit is not None else Page(page.items)


@mutant("list_limit_default_declared")
class TenByDefault(CutsAtAThousand):
    """The same with a number that sessions reach too."""

    most = 10


@mutant("list_limit_default_declared")
class DeclaresButCuts(TenByDefault):
    """A limit that is declared, with a page that does not say how to go on."""

    policy = replace(RedisAdapter.policy, default_limit=10)


@mutant("list_filter_user")
class UsersByPattern(PostgresAdapter):
    """Sessions of all users whose id begins with that of the user, in which `_` and `%` stand for any."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Any:
        where = "WHERE user_id LIKE %(user)s || '%%' AND {live} ORDER BY number"
        found = run(store, f"SELECT session FROM {{sessions}} {where}", scope)
        return Page([session for (session,) in found])


@mutant("list_filter_user")
class UsersInAnyCase(PostgresAdapter):
    """Sessions of all users whose id is the same in small letters."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Any:
        where = "WHERE lower(user_id) = lower(%(user)s) AND {live} ORDER BY number"
        found = run(store, f"SELECT session FROM {{sessions}} {where}", scope)
        return Page([session for (session,) in found])


@mutant("list_total_count")
class TotalOfThePage(_Paged):
    """A total that counts the page."""

    def page(self, whole: list[Any], limit: int | None, cursor: Any) -> Page:
        page = _from(whole, limit, cursor or 0)
        return replace(page, total=len(page.items))


@mutant("list_total_count")
class TotalOfAll(RedisAdapter):
    """A total that does not look at the filter."""

    def list_records(self, store: RedisStore, scope: Scope, **options: Any) -> Page:
        total = len(store.list_records(scope).items)
        return replace(super().list_records(store, scope, **options), total=total)


@mutant("list_total_count")
class CountsEverybody(PostgresAdapter):
    """A count of the messages of all sessions."""

    def count(self, store: Any, scope: Scope) -> Any:
        return run(store, "SELECT count(*) FROM {messages}", scope)[0][0]


@mutant("list_sort_by_time_with_ties")
class PagesByTimeAlone(PostgresAdapter):
    """A cursor that is the time of the last record, where others have the same."""

    def list_records(
        self,
        store: Any,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: Any = None,
    ) -> Any:
        whole = store.list_records(scope, filter=filter).items
        rest = [each for each in whole if cursor is None or each.created_at > cursor]
        page = _from(rest, limit, 0)
        return page if page.cursor is None else replace(page, cursor=page.items[-1].created_at)


@mutant("list_namespaces_prefix")
class NamespacesAsText(PostgresAdapter):
    """Namespaces that are compared as text with dots between the parts."""

    def list_namespaces(self, store: Any, scope: Scope, prefix: Any) -> Any:
        found = run(
            store,
            "SELECT DISTINCT namespace FROM {records} WHERE owner = %(owner)s AND {live}"
            " AND array_to_string(namespace, '.') LIKE %(begins)s",
            scope,
            begins=f"{'.'.join(prefix)}%",
        )
        return [tuple(namespace) for (namespace,) in found]


@mutant("list_namespaces_prefix")
class StarsAreWildcards(RedisAdapter):
    """A star in a prefix that stands for any part, though nobody declared it."""

    def list_namespaces(self, store: RedisStore, scope: Scope, prefix: Any) -> Any:
        return [
            name
            for name in store.list_namespaces(scope, ())
            if len(name) >= len(prefix)
            and all(wanted in {part, "*"} for part, wanted in zip(name, prefix, strict=False))
        ]


@mutant("list_limit_default_declared")
class ListsFourHundred(RedisAdapter):
    """Has a limit of its own, which nobody is told of."""

    def list_sessions(self, store: Any, scope: Scope, **options: Any) -> Page:
        page = super().list_sessions(store, scope, **options)
        return replace(page, items=page.items[:400])
