"""Group F: what one id stands for, whatever the id is made of, is apart from all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memory_matrix.isolation.redis import with_database
from memory_matrix.stores.protocol import Combine, Compare, Filter, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.apart import (
    Place,
    RecordsPlace,
    SessionPlace,
    names_stay_apart,
    record_ids_stay_apart,
    scope_with,
    scopes_stay_apart,
    stay_apart,
)
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.parts import cover
from memory_matrix.suite.samples import messages, vector

GROUP = "F"

SCOPE = Scope()

COLOURS = {"r1": "red", "r2": "red", "r3": "green", "r4": None, "r5": "", "r6": "re%"}
"""What records are tried with that some filter deletes."""


def test_iso_prefix_user1_user10(memory: Memory) -> None:
    """Every call on 'user:1' leaves 'user:10' alone."""
    names_stay_apart(memory, "user:10", "user:1", "user:", apps=True)


def test_iso_prefix_namespace_part(memory: Memory) -> None:
    """Namespaces are matched by whole parts: ('a',) is not ('ab',); ('a', 'b') is not ('a.b',), if there can be that."""
    memory.require("put", "get")
    if "namespace" not in memory.policy.record_parts:
        memory.not_offered("policy record_parts has no namespace")
    _namespaces_stay_apart(memory, ("a", "b"), ("ab",), ("a", "bc"), ("abc", "c"))
    joined = ("c.d",), ("c/d",), ("c:d",), ("c,d",)
    _namespaces_stay_apart(memory, ("c", "d"), beside=joined, may_refuse=True)
    if memory.policy.namespaces == "exact":
        _namespaces_stay_apart(memory, ("n",), beside=(("n", "b"), ("nb",)))
    else:
        _longer_namespaces_are_listed(memory)


def test_iso_sql_underscore_percent(memory: Memory) -> None:
    """'john_doe' is not 'john-doe', and 'a%' is not 'abc'."""
    names_stay_apart(memory, "john-doe", "john_doe")
    names_stay_apart(memory, "abc", "a%", "%")


def test_iso_backslash_and_quote(memory: Memory) -> None:
    """Ids with quotes and backslashes work in every call."""
    names_stay_apart(memory, "ab", "o'brien", "a\\b", 'a"b')


def test_iso_glob_star_question_bracket(memory: Memory) -> None:
    """'u*', 'u?' and 'u[1]' are not 'u1'."""
    names_stay_apart(memory, "u1", "u*", "u?", "u[1]")


def test_iso_key_separator(memory: Memory) -> None:
    """'a:b' is not 'a' with 'b' below it; 'x' is not 'x:messages' nor 'x:counter'."""
    names_stay_apart(memory, "x", "x:messages", "x:counter")
    _scopes_stay_apart(
        memory,
        Scope(user="a", session="b:c", namespace=("b:c",)),
        Scope(user="a:b", session="c", namespace=("c",)),
    )
    if memory.tested.part("records") and "namespace" in memory.policy.record_parts:
        spelled = [("c", ("s", "b")), ("c", ("s:b",))]
        if memory.policy.namespaces == "exact":  # else ("s",) lists what is in ("s", "b")
            spelled.append(("b:c", ("s",)))
        stay_apart(
            [
                RecordsPlace(memory, f"record in {below}", name, Scope(namespace=below), [name])
                for name, below in spelled
            ]
        )


def test_iso_internal_names(memory: Memory) -> None:
    """'index:x', 'meta', '__empty__' and 'latest' are ordinary ids."""
    names_stay_apart(memory, "index:x", "meta", "__empty__", "latest")
    names_stay_apart(memory, "None", "null")


def test_iso_search_syntax(memory: Memory) -> None:
    """Characters that a search language knows, and UUIDs, work in every call."""
    everything = "-@a:{b|c} #d/e ~(f)=>[g]$h&i;j!k^l+m"
    names_stay_apart(memory, "a-b", "a.b", everything, "12345678-1234-5678-1234-567812345678")


def test_iso_case(memory: Memory) -> None:
    """'Ann' is not 'ann'."""
    names_stay_apart(memory, "ann", "Ann")
    names_stay_apart(memory, "strasse", "stra\u00dfe")


def test_iso_comma(memory: Memory) -> None:
    """'a,b' is neither 'a' nor 'b'."""
    names_stay_apart(memory, "a,b", "a", "b")


def test_iso_leading_trailing_space(memory: Memory) -> None:
    """'x' is not 'x ' nor ' x'; '' is refused or an ordinary id."""
    names_stay_apart(memory, "x", "x ", " x")
    names_stay_apart(memory, " ", "", may_refuse=True)


def test_iso_numeric_looking(memory: Memory) -> None:
    """'10', '010', '1e1', '10.0', '1_0' and 'nan' are different ids, as values to filter by too."""
    names_stay_apart(memory, "10", "010", "1e1")
    if memory.tested.part("records"):
        record_ids_stay_apart(memory, "10", "010", "1e1", "10.0", "1_0", "nan", "+10")


def test_iso_long_id_600(memory: Memory) -> None:
    """An id of 600 characters works or is refused; two equal in the first 255 stay apart."""
    long, first = "k" * 600, "k" * 255
    names_stay_apart(memory, long, long[:-1] + "x", may_refuse=True)
    names_stay_apart(memory, first + "a", first + "b", may_refuse=True)


def test_iso_same_record_id_two_collections(memory: Memory) -> None:
    """One record id in two collections is two records."""
    memory.require("put", "get")
    parts = memory.policy.record_parts
    if not parts:
        memory.not_offered("policy record_parts is empty")
    for part in parts:
        places = [
            RecordsPlace(memory, part, name, scope_with(part, name)) for name in ("one", "two")
        ]
        stay_apart(places)


def test_iso_two_key_prefixes(memory: Memory) -> None:
    """Two stores with different key prefixes on one server never meet."""
    memory.require_kind("redis")
    memory.require_policy(key_prefix="yes")
    prefixes = [f"{memory.env.prefix}{rest}" for rest in ("x", "xy", "x*", "x:memories")]
    stores = {"the shortest": memory}
    stores |= {f"{prefix!r}": memory.another(prefix=prefix) for prefix in prefixes}
    _stores_stay_apart(stores, "the store with prefix")


def test_iso_two_schemas_or_databases(memory: Memory) -> None:
    """Two stores in different schemas, or on different databases of one Redis, never meet."""
    if "postgres" in memory.tested.needs:
        stores = {"one": memory, "other": memory.next_door()}
        _stores_stay_apart(stores, "the store in schema")
    if "redis" in memory.tested.needs:
        if memory.tested.own_database:
            memory.not_offered("the store needs the first database of a Redis")
        first, _ = memory.on_own_server("redis")
        second = first.another(redis_url=with_database(str(first.env.redis_url), 1))
        _stores_stay_apart({"0": first, "1": second}, "the store in database")


def test_iso_user_and_session(memory: Memory) -> None:
    """The same session id under two users is two sessions, or is refused."""
    memory.require("append", "read")
    if "user" not in memory.policy.scope_parts:
        memory.not_offered("policy scope_parts has no user")
    users = {name: replace(SCOPE, user=name, session="shared") for name in ("ann", "bob", "an")}
    stay_apart(
        [SessionPlace(memory, "session of user", name, scope) for name, scope in users.items()],
        may_refuse=True,
    )


def test_iso_clear_scope(memory: Memory) -> None:
    """Clear, delete_all and a delete with a filter touch only what they name."""
    cover(
        memory,
        {
            ("put", "get", "delete_where"): _filters_delete_what_they_match,
            ("put", "get", "delete_all"): _delete_all_is_of_one_scope,
            ("append", "read", "clear"): _clear_is_of_one_session,
        },
    )


def test_iso_none_id(memory: Memory) -> None:
    """None as an id is refused, and never stands for all."""
    cover(
        memory,
        {("append", "read"): _no_session_is_none, ("put", "get"): _no_record_is_none},
    )


def _scopes_stay_apart(memory: Memory, *scopes: Scope) -> None:
    """Fail unless scopes that differ by more than one part are apart, where the store has these parts."""
    if {"user", "session"} <= {*memory.policy.scope_parts}:
        scopes_stay_apart(memory, "conversation", *scopes)
    if {"user", "namespace"} <= {*memory.policy.record_parts}:
        scopes_stay_apart(memory, "records", *scopes)


def _namespaces_stay_apart(
    memory: Memory,
    *namespaces: tuple[str, ...],
    beside: Sequence[tuple[str, ...]] = (),
    may_refuse: bool = False,
) -> None:
    """Fail unless calls on `namespaces` leave alone each other and those `beside`."""
    used, others = (
        [RecordsPlace(memory, "namespace", each, Scope(namespace=each)) for each in some]
        for some in (namespaces, beside)
    )
    stay_apart(used, beside=others, may_refuse=may_refuse)


def _longer_namespaces_are_listed(memory: Memory) -> None:
    """Fail unless a namespace lists its own records and those below it, by whole parts."""
    memory.require("list_records")
    for namespace in (("n",), ("n", "b"), ("nb",)):
        memory.put(Scope(namespace=namespace), _record(memory, "/".join(namespace), "text"))
    dotted = Scope(namespace=("n.b",))  # which may be refused
    memory.attempt(partial(memory.put, dotted, _record(memory, "n.b", "text")))
    listed = [each.id for each in memory.all_records(Scope(namespace=("n",)))]
    expect.contents("the records at and below the namespace n", listed, ["n", "n/b"])


def _stores_stay_apart(stores: Mapping[str, Memory], kind: str) -> None:
    """Fail unless the same scopes in several stores are different ones."""
    kinds: dict[str, Callable[[Memory, str], Place]] = {
        "conversation": lambda memory, name: SessionPlace(memory, kind, name, SCOPE),
        "records": lambda memory, name: RecordsPlace(memory, kind, name, SCOPE),
    }
    for part, place in kinds.items():
        if all(each.tested.part(part) for each in stores.values()):
            stay_apart([place(each, name) for name, each in stores.items()])


def _record(memory: Memory, name: str, text: str, **metadata: Any) -> Record:
    return Record(name, text, vector(memory), metadata)


# ---- what a clear or a delete is of -----------------------------------------------------------


def _filters_delete_what_they_match(memory: Memory) -> None:
    """Fail unless filters delete what they match, in one namespace; what matches nothing deletes nothing."""
    other = Scope(namespace=("other",))
    filters: list[tuple[Filter, set[str]]] = [
        (Compare("eq", "colour", "nobody's"), set()),
        (Compare("eq", "nobody's", "red"), set()),
        (Compare("in", "colour", []), set()),
        (Compare("eq", "colour", "re%"), {"r6"}),
        (Compare("eq", "colour", ""), {"r5"}),
        (Compare("eq", "colour", None), {"r4"}),
        (Compare("in", "colour", ["green", "blue"]), {"r3"}),
        (Combine("and", (Compare("eq", "colour", "red"), Compare("eq", "number", 2))), {"r2"}),
    ]
    for scope in (SCOPE, other):
        for number, (name, colour) in enumerate(COLOURS.items(), start=1):
            memory.put(scope, _record(memory, name, "text", colour=colour, number=number))
    left = set(COLOURS)
    for each, matched in filters:
        if _operators(each) <= {*memory.policy.filters}:
            memory.delete_where(SCOPE, each)
            left -= matched
            _are_there(memory, SCOPE, left, f"after delete_where {each!r}")
    _are_there(memory, other, set(COLOURS), "of another namespace, after delete_where")


def _operators(wanted: Filter) -> set[str]:
    below = wanted.filters if isinstance(wanted, Combine) else ()
    return {wanted.op}.union(*map(_operators, below))


def _are_there(memory: Memory, scope: Scope, wanted: set[str], when: str) -> None:
    there = [name for name in COLOURS if memory.get(scope, name) is not None]
    expect.contents(f"the records {when}", there, wanted)
    if memory.offers("search"):
        found = memory.found(scope, vector(memory) or (), 2 * len(COLOURS))
        gone = [name for name in found if name not in wanted]
        expect.true(not gone, f"the records {when}: {gone}, which are gone, are found by search")


def _delete_all_is_of_one_scope(memory: Memory) -> None:
    scopes = [SCOPE, *_other_scopes(memory.policy.record_parts)]
    for scope in scopes:
        memory.put(scope, _record(memory, "r1", "text"))
    if memory.tested.part("conversation"):
        memory.say(SCOPE, "hello")
    memory.delete_all(SCOPE)
    expect.equal("a record after delete_all", memory.get(SCOPE, "r1"), None)
    for scope in scopes[1:]:
        expect.true(memory.get(scope, "r1"), f"delete_all of {SCOPE} deleted a record of {scope}")
    if memory.tested.part("conversation"):
        expect.equal("the messages after delete_all of records", memory.texts(SCOPE), ["hello"])


def _clear_is_of_one_session(memory: Memory) -> None:
    scopes = [SCOPE, *_other_scopes(memory.policy.scope_parts)]
    for scope in scopes:
        memory.say(scope, "hello")
    if memory.tested.part("records"):
        memory.put(SCOPE, _record(memory, "r1", "text"))
    memory.clear(SCOPE)
    expect.equal("the messages after clear", memory.texts(SCOPE), [])
    for scope in scopes[1:]:
        expect.equal(f"the messages of {scope} after clear", memory.texts(scope), ["hello"])
    if memory.tested.part("records") and "session" not in memory.policy.record_parts:
        expect.true(memory.get(SCOPE, "r1"), "clear of a session deleted a record of its user")


def _other_scopes(parts: tuple[str, ...]) -> list[Scope]:
    """Return scopes that differ from the usual one in one part each."""
    other: dict[str, Any] = {part: ("other",) if part == "namespace" else "other" for part in parts}
    return [replace(SCOPE, **{part: value}) for part, value in other.items()]


# ---- None as an id ----------------------------------------------------------------------------


def _no_session_is_none(memory: Memory) -> None:
    memory.say(SCOPE, "one", "two")
    for part in ("session", "user", "app"):
        if part in memory.policy.scope_parts:
            nobody = replace(SCOPE, **_none(part))
            calls: dict[str, Callable[[], Any]] = {
                "append": partial(memory.say, nobody, "lost"),
                "read": partial(memory.read, nobody),
                "replace": partial(memory.replace, nobody, []),
                "pop": partial(memory.pop, nobody),
                "count": partial(memory.count, nobody),
                "clear": partial(memory.clear, nobody),
                **_more_of_sessions(memory, nobody, part),
            }
            _are_refused(memory, calls, f"with None as {part}")
    nothing: Any = None
    calls = {"delete_message": partial(memory.delete_message, SCOPE, nothing)}
    _are_refused(memory, calls, "with None as the message")
    expect.equal("the messages after calls with None as id", memory.texts(SCOPE), ["one", "two"])


def _more_of_sessions(memory: Memory, nobody: Scope, part: str) -> dict[str, Callable[[], Any]]:
    """Return the calls on a scope without `part` that go by a handle, are of its state or list sessions."""
    calls: dict[str, Callable[[], Any]] = {}
    loads = memory.offers("load")
    if part != "session":
        calls["list_sessions"] = partial(memory.all_sessions, nobody)
    if loads and memory.offers("append_with"):
        more = messages(["lost"])
        calls["append_with"] = lambda: memory.append_with(memory.load(nobody), more)
    if memory.tested.part("state"):
        level: dict[str, Any] = {"level": part} if memory.offers("get_state", "level") else {}
        calls["get_state"] = partial(memory.get_state, nobody, **level)
        calls["set_state"] = lambda: memory.set_state(
            memory.load(nobody) if loads else nobody, {"lost": 1}, **level
        )
    return calls


def _no_record_is_none(memory: Memory) -> None:
    memory.put(SCOPE, _record(memory, "r1", "one", of="one"))
    nothing: Any = None
    calls: dict[str, Callable[[], Any]] = {
        "get": partial(memory.get, SCOPE, nothing),
        "put": partial(memory.put, SCOPE, _record(memory, nothing, "lost")),
        "update": partial(memory.update, SCOPE, nothing, text="changed"),
        "delete": partial(memory.delete, SCOPE, nothing),
        "put_many": partial(memory.put_many, SCOPE, [_record(memory, nothing, "lost")]),
    }
    _are_refused(memory, calls, "with None as record id")
    calls = {"list_namespaces": partial(memory.list_namespaces, SCOPE, (nothing,))}
    _are_refused(memory, calls, "with None as part of a prefix")
    for part in memory.policy.record_parts:
        nobody = replace(SCOPE, **_none(part))
        calls = {
            "put": partial(memory.put, nobody, _record(memory, "r2", "lost")),
            "get": partial(memory.get, nobody, "r1"),
            "list_records": partial(memory.list_records, nobody),
            "search": partial(memory.search, nobody, vector(memory) or (), 5),
            "delete": partial(memory.delete, nobody, "r1"),
            "delete_all": partial(memory.delete_all, nobody),
            "put_many": partial(memory.put_many, nobody, [_record(memory, "r2", "lost")]),
            "update": partial(memory.update, nobody, "r1", text="changed"),
        }
        if "eq" in memory.policy.filters:
            everywhere = Compare("eq", "of", "one")
            calls["delete_where"] = partial(memory.delete_where, nobody, everywhere)
        if part != "namespace":
            calls["list_namespaces"] = partial(memory.list_namespaces, nobody, SCOPE.namespace)
        _are_refused(memory, calls, f"with None as {part}")
    got = memory.get(SCOPE, "r1")
    expect.equal("the record after calls with None as id", got and got.text, "one")


def _none(part: str) -> dict[str, Any]:
    return {part: None}


def _are_refused(memory: Memory, calls: Mapping[str, Callable[[], Any]], how: str) -> None:
    for name, call in calls.items():
        if memory.offers(name):
            memory.refused(f"{name} {how}", call)
