"""Every call that a store offers, on a session and on records that are there, by the call's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memory_matrix.stores.protocol import Compare, Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.apart import Place, RecordsPlace, SessionPlace
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import messages, plain, plains, record

Calls = Mapping[str, Callable[[], Any]]

TEXTS = ["one", "two"]
"""The messages of a session that was filled."""
GROWING = ("append", "append_with", "replace", "put", "put_many", "update", "set_state")
"""Writes for which a server needs room."""


def fill(memory: Memory, scope: Scope) -> None:
    """Write two messages, two records and a state, as far as the store has them."""
    if memory.tested.part("conversation"):
        memory.append(
            scope, [Message("user", text, id=f"{scope.session}-{text}") for text in TEXTS]
        )
    if memory.tested.part("records"):
        memory.put_all(scope, [record(memory, text, metadata={"of": text}) for text in TEXTS])
    if memory.tested.part("state"):
        memory.set_state(_target(memory, scope), {"one": 1, "two": "two"})


def reads(memory: Memory, scope: Scope) -> Calls:
    """Return the calls that read; each gives plain values, the same as long as nothing changes."""
    query = record(memory, "one").vector or ()
    calls: dict[str, Callable[[], Any]] = {
        "read": lambda: memory.texts(scope),
        "count": lambda: memory.count(scope),
        "list_sessions": lambda: memory.all_sessions(scope).count(scope.session),
        "get": lambda: _plain(memory, scope),
        "list_records": lambda: sorted(plains(memory.all_records(scope)), key=str),
        "list_namespaces": lambda: sorted(memory.list_namespaces(scope, scope.namespace[:1])),
        "search": lambda: memory.found(scope, query, 2),
        "get_state": lambda: memory.get_state(scope),
    }
    return {name: call for name, call in calls.items() if memory.offers(name)}


def seen(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Return what every call that reads gives now."""
    return {name: call() for name, call in reads(memory, scope).items()}


def expect_seen(memory: Memory, when: str, scope: Scope, before: Mapping[str, Any]) -> None:
    """Fail unless every call that reads gives what it gave `before`."""
    for name, call in reads(memory, scope).items():
        expect.equal(f"what {name} gives {when}", call(), before[name])


def writes(memory: Memory, scope: Scope) -> Calls:
    """Return the calls that write, each of which changes what was filled in."""
    three = record(memory, "three")
    calls: dict[str, Callable[[], Any]] = {
        "append": lambda: memory.say(scope, "three"),
        "append_with": lambda: memory.append_with(memory.load(scope), messages(["three"])),
        "replace": lambda: memory.replace(scope, messages(["three"])),
        "pop": lambda: memory.pop(scope),
        "delete_message": lambda: memory.delete_message(scope, _which(memory, scope)),
        "set_state": lambda: memory.set_state(_target(memory, scope), {"three": 3}),
        "clear": lambda: memory.clear(scope),
        "put": lambda: memory.put(scope, three),
        "put_many": lambda: memory.put_many(scope, [three, record(memory, "four")]),
        "update": lambda: memory.update(scope, "one", text="changed"),
        "delete": lambda: memory.delete(scope, "one"),
        "delete_where": lambda: memory.delete_where(scope, Compare("eq", "of", "one")),
        "delete_all": lambda: memory.delete_all(scope),
    }
    offered = {name: call for name, call in calls.items() if memory.offers(name)}
    if "eq" not in memory.policy.filters:
        offered.pop("delete_where", None)
    if not memory.offers("load"):
        offered.pop("append_with", None)
    return offered


def works(memory: Memory, name: str = "works", user: str = Scope().user) -> None:
    """Fail unless every call works, on a session and a namespace called `name`."""
    scope = Scope(session=name, user=user, namespace=(name,))
    places: list[Place] = []
    if memory.tested.part("conversation"):
        places.append(SessionPlace(memory, "session", name, scope))
    if memory.tested.part("records"):
        places.append(RecordsPlace(memory, "namespace", name, scope))
    for place in places:
        place.fill()
        place.check("after it was filled")
        place.use()
        place.again()
        place.recheck("after it was filled again")


def _plain(memory: Memory, scope: Scope) -> Any:
    found = memory.get(scope, "one")
    return found and plain(found)


def _which(memory: Memory, scope: Scope) -> Any:
    if memory.policy.delete_by == "index":
        return 0
    if memory.policy.message_ids == "caller":
        return f"{scope.session}-{TEXTS[0]}"
    return next((each.id for each in memory.read(scope)), "no-such-id")


def _target(memory: Memory, scope: Scope) -> Any:
    return memory.load(scope) if memory.offers("load") else scope
