"""Every call on what one name stands for works, and leaves alone what other names stand for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from memory_matrix.stores.protocol import Compare, Message, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import vector

MANY = 1000
"""More than any case puts: a search for so many finds all."""


class Place(ABC):
    """What one name stands for, filled with things of its own."""

    def __init__(self, memory: Memory, kind: str, name: Any) -> None:
        self.memory = memory
        self.what = f"{kind} {name!a}"
        self.own = ascii(name)

    @property
    def _query(self) -> Any:
        return vector(self.memory)

    @abstractmethod
    def fill(self) -> None:
        """Put this place's own things into it."""

    @abstractmethod
    def glance(self, when: str) -> None:
        """Fail unless it holds just what was filled in, by one call that reads."""

    @abstractmethod
    def check(self, when: str) -> None:
        """Fail unless every call that reads gives just what was filled in."""

    def recheck(self, when: str) -> None:
        """Fail unless it holds what was filled in once more."""
        self.glance(when)

    @abstractmethod
    def use(self) -> list[str]:
        """Make every call that changes it, to its emptiness; return their names."""

    def again(self) -> None:
        """Fill it anew after its use."""
        self.fill()


class SessionPlace(Place):
    """A session, with two messages."""

    def __init__(self, memory: Memory, kind: str, name: Any, scope: Scope) -> None:
        super().__init__(memory, kind, name)
        self.scope = scope
        self.texts = [f"first of {self.own}", f"last of {self.own}"]

    def fill(self) -> None:
        """Append them."""
        self.memory.say(self.scope, *self.texts)
        if self.memory.tested.part("state"):
            self.memory.set_state(self._handle(), {"own": self.own})

    def glance(self, when: str) -> None:
        """Read."""
        self._holds(self.texts, when)

    def check(self, when: str) -> None:
        """Read, count and list."""
        self.glance(when)
        if self.memory.offers("count"):
            count = self.memory.count(self.scope)
            expect.equal(f"the count of {self.what} {when}", count, len(self.texts))
        if self.memory.offers("read", "limit"):
            newest = self.memory.texts(self.scope, limit=1)
            expect.equal(f"the newest message of {self.what} {when}", newest, self.texts[-1:])
        self._is_listed(when)
        if self.memory.tested.part("state"):
            state = self.memory.get_state(self.scope)
            expect.equal(f"the state of {self.what} {when}", state, {"own": self.own})

    def recheck(self, when: str) -> None:
        """Read and list."""
        self.glance(when)
        self._is_listed(when)

    def use(self) -> list[str]:
        """Append, replace, pop, delete and clear."""
        self.memory.say(self.scope, "one more")
        steps = {
            "replace": self._replace,
            "pop": self._pop,
            "delete_message": self._delete_message,
            "clear": self._clear,
        }
        return ["append", *_all_offered(self.memory, steps)]

    def again(self) -> None:
        """Fill it anew, or go on with what is left where it cannot be emptied."""
        if self.memory.offers("clear"):
            self.fill()
        else:
            self.texts = self.memory.texts(self.scope)

    def _holds(self, texts: list[str], when: str) -> None:
        got = self.memory.texts(self.scope)
        expect.equal(f"the messages of {self.what} {when}", got, texts)

    def _is_listed(self, when: str) -> None:
        if self.memory.offers("list_sessions"):
            listed = self.memory.all_sessions(self.scope).count(self.scope.session)
            expect.equal(f"how often {self.what} is listed {when}", listed, 1)

    def _handle(self) -> Any:
        return self.memory.load(self.scope) if self.memory.offers("load") else self.scope

    def _replace(self) -> None:
        self.memory.replace(self.scope, [Message("user", each) for each in ("x", "y", "z")])
        self._holds(["x", "y", "z"], "after replace")

    def _pop(self) -> None:
        before = self.memory.texts(self.scope)
        popped = self.memory.pop(self.scope)
        expect.equal(f"what pop of {self.what} gives", popped and popped.text, before[-1])
        self._holds(before[:-1], "after pop")

    def _delete_message(self) -> None:
        before = self.memory.read(self.scope)
        which = before[0].id if self.memory.policy.delete_by == "id" else 0
        if which is not None:
            self.memory.delete_message(self.scope, which)
            self._holds([each.text for each in before[1:]], "after delete_message")

    def _clear(self) -> None:
        self.memory.clear(self.scope)
        self._holds([], "after clear")


class RecordsPlace(Place):
    """The records of a scope, whose ids are the same in every scope."""

    def __init__(self, memory: Memory, kind: str, name: Any, scope: Scope) -> None:
        super().__init__(memory, kind, name)
        self.scope = scope
        self.texts = {"r1": f"first of {self.own}", "r2": f"last of {self.own}"}

    def fill(self) -> None:
        """Put two records."""
        self.memory.put_all(
            self.scope, [self._record(each, self.texts[each]) for each in self.texts]
        )

    def glance(self, when: str) -> None:
        """List, or get each."""
        if self.memory.offers("list_records"):
            self._lists(self.texts, when)
        else:
            self._gives(when)

    def check(self, when: str) -> None:
        """Get, list and search."""
        self._gives(when)
        self._lists(self.texts, when)
        if self.memory.offers("search"):
            found = self.memory.found(self.scope, self._query, MANY)
            expect.contents(f"the records of {self.what}, by search {when}", found, [*self.texts])

    def use(self) -> list[str]:
        """Put, update, delete, and delete all."""
        self.memory.put(self.scope, self._record("r3", "one more"))
        self._lists({**self.texts, "r3": "one more"}, "after put")
        steps = {
            "update": self._update,
            "delete": self._delete,
            "delete_where": self._delete_where,
            "delete_all": self._delete_all,
        }
        called = ["put", *_all_offered(self.memory, steps)]
        if "delete_all" not in called and "delete" in called:
            for each in ("r1", "r2", "r3"):
                self.memory.delete(self.scope, each)
        return called

    def again(self) -> None:
        """Fill it anew; where nothing can be deleted, more is left than there was."""
        self.fill()
        left = self.memory.get(self.scope, "r3")
        if left is not None:
            self.texts["r3"] = left.text

    def _record(self, name: str, text: str) -> Record:
        return Record(name, text, vector(self.memory, int(name[1:])), {"kind": name})

    def _gives(self, when: str) -> None:
        got = [self.memory.get(self.scope, each) for each in self.texts]
        texts = [each and each.text for each in got]
        expect.equal(f"the records of {self.what}, by get {when}", texts, [*self.texts.values()])

    def _lists(self, texts: dict[str, str], when: str) -> None:
        if self.memory.offers("list_records"):
            got = {each.id: each.text for each in self.memory.all_records(self.scope)}
            expect.equal(f"the records of {self.what}, by list {when}", got, texts)

    def _update(self) -> None:
        self.memory.update(self.scope, "r1", text="updated")
        got = self.memory.get(self.scope, "r1")
        expect.equal(f"the text of an updated record of {self.what}", got and got.text, "updated")

    def _delete(self) -> None:
        self.memory.delete(self.scope, "r2")
        got = self.memory.get(self.scope, "r2")
        expect.equal(f"a deleted record of {self.what}", got, None)

    def _delete_where(self) -> None:
        if "eq" in self.memory.policy.filters:
            self.memory.delete_where(self.scope, Compare("eq", "kind", "r1"))
            expect.equal(
                f"a deleted record of {self.what}", self.memory.get(self.scope, "r1"), None
            )

    def _delete_all(self) -> None:
        self.memory.delete_all(self.scope)
        self._lists({}, "after delete_all")


class RecordPlace(Place):
    """One record among others of its scope; its id is also a value of its metadata."""

    def __init__(
        self, memory: Memory, name: str, number: int, namespace: tuple[str, ...] = ("by id",)
    ) -> None:
        super().__init__(memory, f"record in {namespace}", name)
        self.scope = Scope(namespace=namespace)
        self.record = Record(name, self.own, vector(memory, number), {"who": name})
        self.filter = Compare("eq", "who", name)

    def fill(self) -> None:
        """Put it."""
        self.memory.put(self.scope, self.record)

    def glance(self, when: str) -> None:
        """Get it."""
        self._text_is(self.own, when)

    def check(self, when: str) -> None:
        """Get it; list and search for it by its value."""
        self.glance(when)
        for call, ids in self._filtered():
            what = f"what {call} finds where the value is that of {self.what} {when}"
            expect.equal(what, ids, [self.record.id])
        if self.memory.offers("list_records"):
            ids = [each.id for each in self.memory.all_records(self.scope)]
            expect.equal(f"how often {self.what} is listed {when}", ids.count(self.record.id), 1)

    def use(self) -> list[str]:
        """Update it, delete it by its value, put it again and delete it."""
        steps = {
            "update": self._update,
            "delete_where": self._delete_where,
            "delete": self._delete,
        }
        return _all_offered(self.memory, steps)

    def _filtered(self) -> Iterator[tuple[str, list[str]]]:
        if "eq" not in self.memory.policy.filters:
            return
        if self.memory.offers("list_records", "filter"):
            listed = self.memory.all_records(self.scope, filter=self.filter)
            yield "list_records", [each.id for each in listed]
        if self.memory.offers("search", "filter"):
            query = self._query
            yield "search", self.memory.found(self.scope, query, MANY, filter=self.filter)

    def _update(self) -> None:
        self.memory.update(self.scope, self.record.id, text="updated")
        self._text_is("updated", "after update")

    def _delete(self) -> None:
        self.memory.delete(self.scope, self.record.id)
        self._text_is(None, "after delete")

    def _delete_where(self) -> None:
        if "eq" in self.memory.policy.filters:
            self.memory.delete_where(self.scope, self.filter)
            self._text_is(None, "after delete_where")
            self.fill()

    def _text_is(self, wanted: str | None, when: str) -> None:
        got = self.memory.get(self.scope, self.record.id)
        expect.equal(f"the text of {self.what} {when}", got and got.text, wanted)


def scope_with(part: str, name: str) -> Scope:
    """Return the usual scope with `name` in the place of one part."""
    changed: dict[str, Any] = {part: (name,) if part == "namespace" else name}
    return replace(Scope(), **changed)


def names_stay_apart(
    memory: Memory, *names: str, may_refuse: bool = False, apps: bool = False
) -> None:
    """Fail unless `names` stand for different things, whichever part of a scope or id they are.

    `may_refuse`: the store need not take them all. `apps`: they are names of apps, too.
    """
    for places in _places(memory, names, apps):
        stay_apart(places, may_refuse=may_refuse)


def record_ids_stay_apart(memory: Memory, *names: str) -> None:
    """Fail unless `names` are different records, and different values to filter by."""
    stay_apart([RecordPlace(memory, name, number) for number, name in enumerate(names)])


def scopes_stay_apart(
    memory: Memory, part: Literal["conversation", "records"], *scopes: Scope
) -> None:
    """Fail unless the sessions, or the records, of `scopes` are different ones."""
    kind = SessionPlace if part == "conversation" else RecordsPlace
    if memory.tested.part(part):
        stay_apart([kind(memory, f"the {part} of", scope, scope) for scope in scopes])


def stay_apart(places: Sequence[Place], *, may_refuse: bool = False) -> None:
    """Fail unless every call works on each of `places`, and leaves the others alone."""
    if may_refuse:
        memory = places[0].memory
        places = [place for place in places if not memory.attempt(place.fill).refused]
    else:
        for place in places:
            place.fill()
    for place in places:
        place.check("after each was filled")
    for place in places:
        calls = ", ".join(place.use())
        for other in places:
            if other is not place:
                other.glance(f"after {calls} of {place.what}")
        place.again()
    for place in places:
        place.recheck("after each was emptied and filled again")


def _places(memory: Memory, names: Sequence[str], apps: bool) -> Iterator[list[Place]]:
    policy = memory.policy
    if memory.tested.part("conversation"):
        for part in _parts(policy.scope_parts, apps):
            if part != "namespace":
                yield [SessionPlace(memory, part, name, scope_with(part, name)) for name in names]
    if memory.tested.part("records"):
        for part in _parts(policy.record_parts, apps):
            yield [RecordsPlace(memory, part, name, scope_with(part, name)) for name in names]
        yield [RecordPlace(memory, name, number) for number, name in enumerate(names)]


def _parts(declared: tuple[str, ...], apps: bool) -> list[str]:
    return [part for part in declared if apps or part != "app"]


def _all_offered(memory: Memory, steps: dict[str, Callable[[], None]]) -> list[str]:
    """Take every step whose call the adapter has; return their names."""
    offered = {name: step for name, step in steps.items() if memory.offers(name)}
    for step in offered.values():
        step()
    return list(offered)
