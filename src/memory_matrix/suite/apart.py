"""Every call on what one name stands for works, and leaves alone what other names stand for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Literal

from memory_matrix.stores.protocol import Compare, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import messages, vector

MANY = 1000
"""More than any case puts: a search for so many finds all."""
_ORDINARY = ("r1", "r2")
_NUMBERS = count()
_TWIN = "twin"
"""A second record with the same value as the one that is changed and deleted."""


class Place(ABC):
    """What one name stands for, filled with things of its own."""

    def __init__(self, memory: Memory, kind: str, name: Any, scope: Scope) -> None:
        self.memory = memory
        self.what = f"{kind} {name!a}"
        self.scope = scope

    @abstractmethod
    def fill(self) -> None:
        """Put this place's own things into it."""

    @abstractmethod
    def check(self, when: str) -> None:
        """Fail unless every call that reads gives just what was filled in."""

    @abstractmethod
    def use(self) -> list[str]:
        """Make every call that changes it, to its emptiness; return their names."""

    @abstractmethod
    def again(self) -> None:
        """Fill it anew, or go on with what is left where it cannot be emptied."""

    @abstractmethod
    def recheck(self, when: str) -> None:
        """Fail unless it holds just what it should, and is listed once."""


class SessionPlace(Place):
    """A session, with two messages or, where there are to be `few`, one."""

    def __init__(
        self, memory: Memory, kind: str, name: Any, scope: Scope, *, few: bool = False
    ) -> None:
        super().__init__(memory, kind, name, scope)
        self._filled = [f"{each} of {self.what}" for each in ("first", "last")[few:]]
        self._texts: list[str] = []
        """What it should hold now."""
        named = "id" in memory.policy.message_fields and memory.policy.message_ids == "caller"
        self._id = f"first {next(_NUMBERS)}" if named else None

    def fill(self) -> None:
        """Append them."""
        self.memory.say(self.scope, *self._filled)
        self._texts = [*self._filled]
        if self.memory.tested.part("state"):
            self.memory.set_state(self._handle(), {"own": self.what})

    def check(self, when: str) -> None:
        """Read and count."""
        self._holds(when)
        if self.memory.offers("count"):
            counted = self.memory.count(self.scope)
            expect.equal(f"the count of {self.what} {when}", counted, len(self._texts))
        if self.memory.offers("read", "limit"):
            newest = self.memory.texts(self.scope, limit=1)
            expect.equal(f"the newest message of {self.what} {when}", newest, self._texts[-1:])
        if self.memory.tested.part("state"):
            state = self.memory.get_state(self.scope)
            expect.equal(f"the state of {self.what} {when}", state, {"own": self.what})

    def recheck(self, when: str) -> None:
        """Read and list."""
        self._holds(when)
        if self.memory.offers("list_sessions"):
            listed = self.memory.all_sessions(self.scope).count(self.scope.session)
            expect.equal(f"how often {self.what} is listed {when}", listed, 1)

    def use(self) -> list[str]:
        """Append, replace, pop, delete and clear; that it was cleared shows when it is filled again."""
        steps = {
            "append": self._append,
            "replace": self._replace,
            "pop": self._pop,
            "delete_message": self._delete_message,
        }
        called = _all_offered(self.memory, steps)
        self._holds(f"after {', '.join(called)}")
        return [*called, *_all_offered(self.memory, {"clear": self._clear})]

    def again(self) -> None:
        """Append anew after a clear."""
        if not self._texts:
            self.fill()

    def _holds(self, when: str) -> None:
        got = self.memory.texts(self.scope)
        expect.equal(f"the messages of {self.what} {when}", got, self._texts)

    def _handle(self) -> Any:
        return self.memory.load(self.scope) if self.memory.offers("load") else self.scope

    def _append(self) -> None:
        self.memory.say(self.scope, "one more")
        self._texts.append("one more")

    def _replace(self) -> None:
        self._texts = ["x", "y", "z"]
        first, *others = messages(self._texts)
        self.memory.replace(self.scope, [replace(first, id=self._id), *others])

    def _pop(self) -> None:
        popped = self.memory.pop(self.scope)
        what = f"what pop of {self.what} gives"
        expect.equal(what, popped and popped.text, self._texts.pop())

    def _delete_message(self) -> None:
        first = self._first()
        if first is not None:
            self.memory.delete_message(self.scope, first)
            del self._texts[0]

    def _first(self) -> str | int | None:
        """Return how the first message is named, where it can be."""
        if self.memory.policy.delete_by == "index":
            return 0
        if self._id is not None and self.memory.offers("replace"):
            return self._id
        return self.memory.read(self.scope)[0].id

    def _clear(self) -> None:
        self.memory.clear(self.scope)
        self._texts = []


class RecordsPlace(Place):
    """The records of a scope, whose ids are the same in every scope.

    The first of `ids` is changed, deleted and looked for; each is also a value of its record's metadata.
    Where there are not to be `few`, another record has the first one's value.
    """

    def __init__(
        self,
        memory: Memory,
        kind: str,
        name: Any,
        scope: Scope,
        ids: Sequence[str] = _ORDINARY,
        *,
        few: bool = False,
    ) -> None:
        super().__init__(memory, kind, name, scope)
        self._own = ids[0]
        # The own one last: what takes it for another one finds the other one first.
        self._records = {
            each: Record(
                each,
                f"{each!a} of {self.what}",
                vector(memory, number),
                {"who": self._own if each == _TWIN else each},
            )
            for number, each in enumerate([*([] if few else [_TWIN]), *ids[1:], ids[0]])
        }
        self._filter = Compare("eq", "who", self._own)
        self._texts: dict[str, str] = {}
        """What it should hold now, by id."""

    def fill(self) -> None:
        """Put them."""
        self.memory.put_all(self.scope, [*self._records.values()])
        self._texts = {each.id: each.text for each in self._records.values()}

    def check(self, when: str) -> None:
        """Get, list and search, by a value too."""
        got = self.memory.get(self.scope, self._own)
        what = f"the record {self._own!a} of {self.what}, by get {when}"
        expect.equal(what, got and got.text, self._texts[self._own])
        if self.memory.offers("search"):
            found = self.memory.found(self.scope, vector(self.memory) or (), MANY)
            what = f"the records of {self.what}, by search {when}"
            expect.contents(what, found, [*self._texts])
        for call, ids in self._filtered():
            what = f"what {call} finds by the value {self._own!a} in {self.what} {when}"
            expect.contents(what, ids, [each for each in (_TWIN, self._own) if each in self._texts])

    def recheck(self, when: str) -> None:
        """List, or get each."""
        if self.memory.offers("list_records"):
            listed = [(each.id, each.text) for each in self.memory.all_records(self.scope)]
            what = f"the records of {self.what}, by list {when}"
            expect.contents(what, listed, [*self._texts.items()])
            return
        for each in self._records:
            got = self.memory.get(self.scope, each)
            what = f"the record {each!a} of {self.what}, by get {when}"
            expect.equal(what, got and got.text, self._texts.get(each))

    def use(self) -> list[str]:
        """Update, delete, delete by value and delete all; that all are gone shows when it is filled again."""
        steps = {
            "update": self._update,
            "delete": self._delete,
            "delete_where": self._delete_where,
            "delete_all": self._delete_all,
        }
        if "eq" not in self.memory.policy.filters:
            del steps["delete_where"]
        called = _all_offered(self.memory, steps)
        if "delete_all" not in called and "delete" in called:
            for each in [*self._texts]:
                self.memory.delete(self.scope, each)
            self._texts = {}
        return called

    def again(self) -> None:
        """Put the first record anew after it was deleted."""
        if self._own not in self._texts:
            self.memory.put(self.scope, self._records[self._own])
            self._texts[self._own] = self._records[self._own].text

    def _filtered(self) -> Iterator[tuple[str, list[str]]]:
        if "eq" not in self.memory.policy.filters:
            return
        if self.memory.offers("list_records", "filter"):
            listed = self.memory.all_records(self.scope, filter=self._filter)
            yield "list_records", [each.id for each in listed]
        if self.memory.offers("search", "filter"):
            query = vector(self.memory) or ()
            yield "search", self.memory.found(self.scope, query, MANY, filter=self._filter)

    def _update(self) -> None:
        self.memory.update(self.scope, self._own, text="updated")
        self._texts[self._own] = "updated"
        self.recheck("after update")

    def _delete(self) -> None:
        self.memory.delete(self.scope, self._own)
        self._forget(self._own)
        self.recheck("after delete")

    def _delete_where(self) -> None:
        self.memory.delete_where(self.scope, self._filter)
        self._forget(self._own, _TWIN)
        self.recheck("after delete_where")

    def _delete_all(self) -> None:
        self.memory.delete_all(self.scope)
        self._forget(*self._records)

    def _forget(self, *ids: str) -> None:
        self._texts = {each: text for each, text in self._texts.items() if each not in ids}


def scope_with(part: str, name: str) -> Scope:
    """Return the usual scope with `name` in the place of one part."""
    return _scope({part: name})


def names_stay_apart(
    memory: Memory, plain: str, *others: str, may_refuse: bool = False, apps: bool = False
) -> None:
    """Fail unless names stand for different things, whichever part of a scope or id they are.

    Every call is made with each name as every part at once, beside places that differ from it in one part
    only, which is `plain`: the name that is most easily taken for the others, or hit by what they look like.

    `may_refuse`: the store need not take them. `apps`: they are names of apps, too.
    """
    names = (plain, *others)
    if memory.tested.part("conversation"):
        sessions = partial(_session_of, memory)
        parts = [part for part in memory.policy.scope_parts if part != "namespace"]
        _parts_stay_apart(sessions, _named(parts, apps), names, may_refuse)
    if memory.tested.part("records"):
        ids = (_ids_taken(memory, names) or _ORDINARY) if may_refuse else names
        records = partial(_records_of, memory, ids)
        parts = _named(memory.policy.record_parts, apps)
        _parts_stay_apart(records, parts, names, may_refuse)
        if not parts:
            record_ids_stay_apart(memory, *ids)


def record_ids_stay_apart(memory: Memory, *names: str) -> None:
    """Fail unless `names` are different records, and different values to filter by."""
    for number, own in enumerate(names):
        scope = Scope(namespace=(f"ids {number}",))
        place = RecordsPlace(memory, "records beside", own, scope, _first(own, names))
        place.fill()
        place.check("after they were put")
        calls = ", ".join(place.use())
        place.recheck(f"after {calls}")


def scopes_stay_apart(
    memory: Memory, part: Literal["conversation", "records"], *scopes: Scope
) -> None:
    """Fail unless the sessions, or the records, of `scopes` are different ones."""
    kind = SessionPlace if part == "conversation" else RecordsPlace
    if memory.tested.part(part):
        stay_apart([kind(memory, "the scope", scope, scope) for scope in scopes])


def stay_apart(
    places: Sequence[Place], *, beside: Sequence[Place] = (), may_refuse: bool = False
) -> None:
    """Fail unless every call works on each of `places`, and leaves alone the others and what is `beside`.

    `may_refuse`: the store need not take them all.
    """
    places, beside = (
        [each for each in some if _fill(each, may_refuse)] for some in (places, beside)
    )
    _are_apart(places, beside)


def _are_apart(places: Sequence[Place], beside: Sequence[Place]) -> None:
    """Fail unless every call works on each of some filled places, and leaves alone the others."""
    when = "after each was filled"
    for place in places:
        place.check(
            when
        )  # so what the calls on those before did to it shows, and in the end the rest
        calls = ", ".join(place.use())
        place.again()
        when = f"after {calls} of {place.what}"
    for place in (*beside, *places):
        place.recheck(f"after every call on each of the others, in the end {when}")


def _parts_stay_apart(
    make: Callable[[Mapping[str, str]], Place],
    parts: Sequence[str],
    names: Sequence[str],
    may_refuse: bool,
) -> None:
    """Fail unless `names` stand for different things as each of some parts of a scope."""
    if not parts:
        return
    plain, *others = names
    base = dict.fromkeys(parts, plain)
    filled: dict[tuple[str, ...], Place] = {}

    def fill(named: Mapping[str, str]) -> bool:
        key = tuple(named.values())
        place = filled.get(key) or make(named)
        if key not in filled and _fill(place, may_refuse):
            filled[key] = place
        return key in filled

    if not fill(base) and len(parts) > 1:  # one of them may be taken on its own
        for part in parts:
            _parts_stay_apart(make, [part], names, may_refuse)
        return
    most = [base]
    for name in others:
        taken = [part for part in parts if fill({**base, part: name})]
        most.append({**base, **dict.fromkeys(taken, name)})
    used = [tuple(each.values()) for each in most if fill(each)]
    for each in most:
        for part in parts:
            fill({**each, part: plain})
    _are_apart(
        [filled[key] for key in dict.fromkeys(used)],
        [place for key, place in filled.items() if key not in used],
    )


def _fill(place: Place, may_refuse: bool) -> bool:
    """Fill a place; return whether the store took it. What it says that it refuses it has to refuse."""
    refused = place.memory.tested.policy.namespace_refuses or ""
    if any(each in refused for part in place.scope.namespace for each in part):
        what = f"to fill {place.what}, whose namespace has one of {refused!a}"
        place.memory.refused(what, place.fill)
        return False
    if may_refuse:
        refusal = place.memory.attempt(place.fill).refusal
        if refusal is not None:
            expect.own_error(f"to fill {place.what}", refusal)
        return refusal is None
    place.fill()
    return True


def _session_of(memory: Memory, named: Mapping[str, str]) -> Place:
    return SessionPlace(memory, "the session", dict(named), _scope(named), few=_mixed(named))


def _records_of(memory: Memory, ids: Sequence[str], named: Mapping[str, str]) -> Place:
    own = next((each for each in ids[1:] if each in named.values()), ids[0])
    scope, own_first = _scope(named), _first(own, ids)
    return RecordsPlace(memory, "the scope", dict(named), scope, own_first, few=_mixed(named))


def _mixed(named: Mapping[str, str]) -> bool:
    """Return whether several names are in it: such places hold less, so that to mix them up shows."""
    return len({*named.values()}) > 1


def _ids_taken(memory: Memory, names: Sequence[str]) -> list[str]:
    """Return those of `names` that can be ids of records."""
    scope = Scope(namespace=("taken",))
    records = [Record(each, "may be refused", vector(memory)) for each in names]
    puts = {each.id: partial(memory.put, scope, each) for each in records}
    return [name for name, put in puts.items() if not memory.attempt(put).refused]


def _first(own: str, ids: Sequence[str]) -> list[str]:
    return [own, *(each for each in ids if each != own)]


def _scope(named: Mapping[str, str]) -> Scope:
    parts: dict[str, Any] = {
        part: (name,) if part == "namespace" else name for part, name in named.items()
    }
    return replace(Scope(), **parts)


def _named(declared: Sequence[str], apps: bool) -> list[str]:
    return [part for part in declared if apps or part != "app"]


def _all_offered(memory: Memory, steps: dict[str, Callable[[], None]]) -> list[str]:
    """Take every step whose call the adapter has; return their names."""
    offered = {name: step for name, step in steps.items() if memory.offers(name)}
    for step in offered.values():
        step()
    return list(offered)
