"""Keys: ids of any kind stay apart, and what belongs together is on one node of a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from redis.crc import key_slot

from memory_matrix.stores import Message, Record, Scope
from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.redis.keys import Keys, decoded, encoded, namespace_name, namespace_parts
from support.tables import table

ODD = [
    *(
        "",
        " ",
        "a",
        "A",
        "a ",
        " a",
        "a:b",
        "a:",
        ":a",
        "a{b",
        "a}b",
        "{a}",
        "{}",
        "*",
        "a*",
        "a?",
        "[a]",
    ),
    *("a\\", "a'b", 'a"b', "a,b", "a/b", "/", "%", "%61", "a\0", "\0", "é", "e\u0301", "漢", "🧠"),
    *(
        "session",
        "messages",
        "a:messages",
        "index:a",
        "__empty__",
        "\n",
        "x" * 600,
        "x" * 599 + "y",
    ),
]


def keys_of(scope: Scope, keys: Keys) -> set[bytes]:
    return {*keys.session(scope).own, keys.records(scope).index, keys.records(scope).record("r")}


@table("part", ["session", "user", "app", "namespace"])
def test_no_two_ids_share_a_key(part: str) -> None:
    keys = Keys("memory:")
    found: dict[bytes, str] = {}
    for name in ODD:
        value: Any = (name,) if part == "namespace" else name
        scope = replace(Scope(), **{part: value})
        own = {keys.records(scope).index} if part == "namespace" else {*keys.session(scope).own}
        for key in own:
            assert found.setdefault(key, name) == name
    assert len(found) == len(ODD) * (1 if part == "namespace" else 4)


def test_parts_of_a_scope_do_not_run_into_each_other() -> None:
    keys = Keys("memory:")
    scopes = [
        Scope(app="a", user="b:c", session="d"),
        Scope(app="a:b", user="c", session="d"),
        Scope(app="a", user="b", session="c:d"),
        Scope(namespace=("a", "b")),
        Scope(namespace=("a/b",)),
        Scope(namespace=("a", "")),
        Scope(namespace=("a",)),
        Scope(namespace=()),
        Scope(namespace=("",)),
    ]
    own = [frozenset(keys_of(scope, keys)) for scope in scopes]
    assert len(set(own)) == len(scopes)


@table("prefix", ["memory:", "", "a{b", "{tag}", "}{", "é:"])
def test_all_keys_of_a_user_are_in_one_slot(prefix: str) -> None:
    keys = Keys(prefix)
    for name in ODD:
        scope = Scope(app=name, user=name, session=name, namespace=(name,))
        session, records = keys.session(scope), keys.records(scope)
        together = [*session.all, *records.all, records.record(name), keys.user_state(scope)]
        assert len({key_slot(key) for key in together}) == 1
        assert all(key.startswith(prefix.encode()) for key in [*together, keys.app_state(scope)])


def test_users_are_spread_over_the_slots() -> None:
    keys = Keys("memory:")
    slots = {key_slot(keys.session(Scope(user=str(number))).meta) for number in range(100)}
    assert len(slots) > 90


def test_a_prefix_that_would_spread_a_session_is_refused() -> None:
    with pytest.raises(RefusedError, match="hash tags"):
        Keys("a{}b")


def test_what_was_encoded_can_be_decoded() -> None:
    assert [decoded(encoded(name, "an id")) for name in ODD] == ODD
    namespaces = [(name, "b", name) for name in ODD]
    assert [namespace_parts(namespace_name(parts)) for parts in namespaces] == namespaces


@table("name", [None, 1, b"a", "\ud800", ["a"]])
def test_an_id_that_is_no_text_is_refused_in_every_call(store: Any, client: Any, name: Any) -> None:
    for scope in (Scope(session=name), Scope(user=name), Scope(app=name)):
        for call in (
            lambda scope=scope: store.append(scope, [Message("user", "x")]),
            lambda scope=scope: store.read(scope),
            lambda scope=scope: store.clear(scope),
            lambda scope=scope: (
                store.list_sessions(scope) if scope.session == "session" else store.pop(scope)
            ),
        ):
            with pytest.raises(RefusedError):
                call()
    for call in (
        lambda: store.get(Scope(), name),
        lambda: store.put(Scope(), Record(name)),
        lambda: store.delete(Scope(), name),
        lambda: store.delete_all(Scope(namespace=(name,))),
        lambda: store.delete_message(Scope(), name),
    ):
        with pytest.raises(RefusedError):
            call()
    assert client.keys() == []


def test_a_namespace_is_a_tuple_of_parts(store: Any) -> None:
    with pytest.raises(RefusedError, match="tuple"):
        store.list_records(Scope(namespace="ab"))  # type: ignore[arg-type]
