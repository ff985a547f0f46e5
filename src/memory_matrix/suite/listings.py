"""The listings that a store has, of sessions and of records, as one thing to try cases on."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory_matrix.stores.protocol import Page, Scope
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.samples import record


@dataclass(frozen=True)
class Listing(ABC):
    """One listing, whose entries are told apart by names."""

    memory: Memory
    scope: Scope
    kind: str
    call: str

    def page(self, **options: Any) -> Page:
        """Return a page of names; options `limit` and `cursor`."""
        page = self._page(**options)
        return Page([self._name(item) for item in page.items], page.cursor, page.total)

    def names(self) -> list[str]:
        """Return the names that are listed where nobody asks for pages."""
        return list(self.page().items)

    def pages(self, limit: int | None) -> Iterator[list[str]]:
        """Yield the names of each page of at most `limit`, or as many as the store gives by itself.

        What is done between two pages is seen by the next.

        Raises:
            CaseFailed: the pages do not end.
        """
        cursor = None
        for _ in range(1000):
            page = self.page(limit=limit, cursor=cursor)
            yield list(page.items)
            cursor = page.cursor
            if cursor is None:
                return
        raise CaseFailed(f"the {self.kind} listed in pages do not end after 1,000 of them")

    def times(self) -> list[dt.datetime]:
        """Return the times that a listing by time shows of its entries, in its order."""
        shown = (getattr(item, f"{self.order}_at", None) for item in self._page().items)
        return [time for time in shown if time is not None]

    def in_pages(self, limit: int | None) -> list[str]:
        """Return the names from all pages."""
        return [name for page in self.pages(limit) for name in page]

    def seen_by(self, memory: Memory) -> Listing:
        """Return the same listing as another store object gives it."""
        return type(self)(memory, self.scope, self.kind, self.call)

    @property
    def order(self) -> str:
        """The declared order."""
        return self.memory.policy.list_order

    @property
    def pages_offered(self) -> bool:
        """Whether it can be had in pages."""
        return self.memory.offers(self.call, "limit", "cursor")

    @abstractmethod
    def add(self, names: Sequence[str]) -> None:
        """Make new entries, one after the other."""

    @abstractmethod
    def touch(self, name: str) -> bool:
        """Change an entry; return whether the store can."""

    @abstractmethod
    def remove(self, name: str) -> bool:
        """Delete an entry; return whether the store can."""

    @abstractmethod
    def keys(self) -> list[str]:
        """Return the Redis keys of all entries."""

    @abstractmethod
    def _page(self, **options: Any) -> Page: ...

    @abstractmethod
    def _name(self, item: Any) -> str: ...


class SessionListing(Listing):
    """The sessions of one user."""

    def add(self, names: Sequence[str]) -> None:
        for name in names:
            self.memory.say(self._of(name), "a")

    def touch(self, name: str) -> bool:
        self.memory.say(self._of(name), "b")
        return True

    def remove(self, name: str) -> bool:
        if self.memory.offers("clear"):
            self.memory.clear(self._of(name))
        return self.memory.offers("clear")

    def keys(self) -> list[str]:
        return [key for name in self.names() for key in self.memory.raw_keys(self._of(name))]

    def _page(self, **options: Any) -> Page:
        return self.memory.list_sessions(self.scope, **options)

    def _name(self, item: Any) -> str:
        return str(item)

    def _of(self, name: str) -> Scope:
        return Scope(session=name, user=self.scope.user)


class RecordListing(Listing):
    """The records of one namespace."""

    def add(self, names: Sequence[str]) -> None:
        for name in names:
            self.memory.put(self.scope, record(self.memory, name))

    def add_at_once(self, names: Sequence[str]) -> None:
        """Make new entries in one call, where the store has one."""
        self.memory.put_all(self.scope, [record(self.memory, name) for name in names])

    def touch(self, name: str) -> bool:
        if self.memory.offers("update"):
            self.memory.update(self.scope, name, text="changed")
        return self.memory.offers("update")

    def remove(self, name: str) -> bool:
        if self.memory.offers("delete"):
            self.memory.delete(self.scope, name)
        return self.memory.offers("delete")

    def keys(self) -> list[str]:
        return self.memory.raw_keys(self.scope)

    def _page(self, **options: Any) -> Page:
        return self.memory.list_records(self.scope, **options)

    def _name(self, item: Any) -> str:
        return str(item.id)


def session_listing(memory: Memory, scope: Scope) -> SessionListing:
    """Return the listing of the sessions of a user."""
    return SessionListing(memory, scope, "sessions", "list_sessions")


def record_listing(memory: Memory, scope: Scope) -> RecordListing:
    """Return the listing of the records of a scope."""
    return RecordListing(memory, scope, "records", "list_records")


def listings(memory: Memory, scope: Scope, *, pages: bool = False) -> list[Listing]:
    """Return the listings that the store has; with `pages`, those that can be had in pages.

    The case ends as not offered if there is none.
    """
    both = [session_listing(memory, scope), record_listing(memory, scope)]
    found = [each for each in both if memory.offers(each.call)]
    if not found:
        memory.not_offered("the adapter has neither list_sessions nor list_records")
    if not pages:
        return found
    paged = [each for each in found if each.pages_offered]
    if not paged:
        memory.not_offered("the adapter's listings take no `limit` with `cursor`")
    return paged
