"""Sessions: messages, handles, states, what expires and what is damaged."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from memory_matrix.stores import Message, Scope
from memory_matrix.stores.errors import (
    ConflictError,
    CorruptError,
    NotFoundError,
    RefusedError,
    SchemaError,
    StoreError,
)
from memory_matrix.stores.redis import inspection
from support.tables import table

SCOPE = Scope()
NOW = dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.timezone.utc)


def said(*texts: str) -> list[Message]:
    return [Message("user", text) for text in texts]


def texts(store: Any, scope: Scope = SCOPE, **options: Any) -> list[str]:
    return [message.text for message in store.read(scope, **options)]


def test_a_message_comes_back_as_it_was(store: Any) -> None:
    message = Message(
        "tool",
        "a\0b é 漢 {}",
        "the id: ü *",
        {"n": 2**63 + 5, "f": 1.0, "z": -0.0, "none": None, "deep": [{"b": True}]},
        {"name": "search", "arguments": {"q": "x"}},
        NOW,
    )
    store.append(SCOPE, [message])

    assert store.read(SCOPE) == [message]
    assert repr(store.read(SCOPE)[0].metadata["z"]) == "-0.0"


def test_time_and_id_are_given_to_a_message_that_has_none(store: Any) -> None:
    store.use_clock(lambda: NOW)
    store.append(SCOPE, said("a", "b"))

    first, second = store.read(SCOPE)
    assert first.created_at == second.created_at == NOW
    assert first.id != second.id


def test_limit_gives_the_newest_in_their_order(store: Any) -> None:
    store.append(SCOPE, said("a", "b", "c"))

    assert texts(store, limit=2) == ["b", "c"]
    assert texts(store, limit=0) == []
    assert texts(store, limit=10**30) == ["a", "b", "c"]


def test_after_gives_what_follows_a_message_or_a_time(store: Any) -> None:
    later = NOW + dt.timedelta(microseconds=1)
    store.append(SCOPE, [Message("user", "a", "1", created_at=NOW), Message("user", "b", "2")])
    store.append(SCOPE, [Message("user", "c", "3", created_at=later)])

    assert texts(store, after="2") == ["c"]
    assert texts(store, after=NOW) == ["b", "c"]
    assert texts(store, after="1", limit=1) == ["c"]
    with pytest.raises(NotFoundError, match="no message 'gone'"):
        store.read(SCOPE, after="gone")


@table("limit", [-1, True, 1.5, "1"])
def test_a_limit_that_means_nothing_is_refused(store: Any, limit: Any) -> None:
    for call in (store.read, store.list_sessions, store.list_records):
        with pytest.raises(RefusedError, match="limit"):
            call(SCOPE, limit=limit)


@table(
    "message",
    [
        Message("user", "\ud800"),
        Message("user", "x", metadata={"\ud800": 1}),
        Message("user", "x", metadata={"a": [float("nan")]}),
        Message("user", "x", metadata={1: "x"}),  # type: ignore[dict-item]
        Message("user", "x", metadata={"a": (1,)}),
        Message("user", "x", created_at=dt.datetime(2026, 1, 1)),  # noqa: DTZ001
        Message("user", None),  # type: ignore[arg-type]
        Message("user", "x", tool={"a": {1}}),
        Message("user", "x", metadata={"n": 10**5000}),
    ],
)
def test_a_batch_with_one_bad_message_leaves_all_as_it_was(store: Any, message: Message) -> None:
    store.replace(SCOPE, said("before"))
    for call in (store.append, store.replace):
        with pytest.raises(RefusedError):
            call(SCOPE, [*said("good"), message, *said("good")])

    assert texts(store) == ["before"]


def test_an_empty_batch_makes_no_session(store: Any, client: Any) -> None:
    store.append(SCOPE, [])
    store.replace(SCOPE, [])
    store.append_with(store.load(SCOPE), [])
    store.set_state(SCOPE, {})

    assert client.keys() == []


def test_replacing_by_nothing_leaves_an_empty_session(store: Any) -> None:
    store.append(SCOPE, said("a"))
    store.replace(SCOPE, [])

    assert texts(store) == []
    assert store.list_sessions(SCOPE).items == ("session",)


def test_pop_gives_the_newest_and_none_where_there_is_none(store: Any) -> None:
    assert store.pop(SCOPE) is None
    store.append(SCOPE, said("a", "b"))

    assert [store.pop(SCOPE).text, store.pop(SCOPE).text, store.pop(SCOPE)] == ["b", "a", None]
    assert store.count(SCOPE) == 0


def test_all_messages_of_an_id_are_deleted_and_no_others(store: Any) -> None:
    ids = ["x", "xy", "x y", "", "{", "x", "%78"]
    store.append(SCOPE, [Message("user", name, name) for name in ids])
    store.delete_message(SCOPE, "x")
    store.delete_message(SCOPE, "not there")
    store.delete_message(SCOPE, "")

    assert texts(store) == ["xy", "x y", "{", "%78"]


def test_a_write_id_is_done_once(store: Any) -> None:
    for _ in range(3):
        store.append(SCOPE, said("a"), write_id="w")
    store.append(SCOPE, said("b"), write_id="v")
    store.append(SCOPE, said("a"), write_id="w")

    assert texts(store) == ["a", "b"]


def test_the_same_call_sent_again_is_done_once(store: Any) -> None:
    call = next(store.store.parts.conversations.append(SCOPE, said("a")))
    for _ in range(2):
        store.run(_once(call))

    assert texts(store) == ["a"]


def test_a_popped_message_is_not_popped_again_by_the_same_call(store: Any) -> None:
    store.append(SCOPE, said("a", "b"))
    plan = store.store.parts.conversations.pop(SCOPE)
    call = next(plan)
    store.run(_once(call))
    repeated = store.run(_once(call))

    with pytest.raises(StoreError, match="broke before it arrived"):
        plan.send(repeated)
    assert texts(store) == ["a"]


@pytest.mark.large
def test_write_ids_are_remembered_within_a_bound(store: Any, client: Any) -> None:
    store.append(SCOPE, said("a"), write_id="first")
    older = {f"c{number}": 1e15 + number for number in range(1999)}
    client.zadd("memory:{app:user}:writes:session", older)
    client.hset("memory:{app:user}:session:session", "writes", 2000)
    for write_id in ("second", "second"):
        store.append(SCOPE, said("b"), write_id=write_id)

    assert client.zcard("memory:{app:user}:writes:session") == 2000
    assert texts(store) == ["a", "b"]


def test_a_handle_moves_on_with_its_own_writes(store: Any) -> None:
    handle = store.load(SCOPE)
    store.append_with(handle, said("a"))
    store.append_with(handle, said("b"))

    assert texts(store) == ["a", "b"]


@pytest.mark.parametrize("change", ["append", "replace", "pop", "delete", "clear", "again"])
def test_a_handle_that_is_out_of_date_writes_nothing(store: Any, change: str) -> None:
    store.append(SCOPE, [Message("user", "a", "a")])
    handle = store.load(SCOPE)
    if change == "append":
        store.append(SCOPE, said("b"))
    elif change == "replace":
        store.replace(SCOPE, said("b"))
    elif change == "pop":
        store.pop(SCOPE)
    elif change == "delete":
        store.delete_message(SCOPE, "a")
    else:
        store.clear(SCOPE)
    if change == "again":
        store.append(SCOPE, said("a"))
    before = texts(store)

    with pytest.raises(ConflictError, match="deleted" if change == "clear" else "changed"):
        store.append_with(handle, said("late"))
    assert texts(store) == before


def test_a_handle_on_no_session_finds_that_there_is_one_now(store: Any) -> None:
    handle = store.load(SCOPE)
    store.append(SCOPE, said("a"))

    with pytest.raises(ConflictError):
        store.append_with(handle, said("late"))


def test_state_is_merged_key_by_key_at_its_level(store: Any) -> None:
    other = Scope(session="other")
    store.set_state(SCOPE, {"a": 1, "b": None})
    store.set_state(SCOPE, {"a": [2.0]})
    store.set_state(other, {"u": 1}, level="user")
    store.set_state(Scope(user="else"), {"p": 1}, level="app")

    assert store.get_state(SCOPE) == {"a": [2.0], "b": None}
    assert store.get_state(other) == {}
    assert store.get_state(SCOPE, level="user") == {"u": 1}
    assert store.get_state(SCOPE, level="app") == {"p": 1}
    with pytest.raises(RefusedError, match="session, user and app"):
        store.get_state(SCOPE, level="world")


def test_a_bad_value_in_a_state_leaves_all_as_it_was(store: Any) -> None:
    for level in ("session", "user", "app"):
        with pytest.raises(RefusedError):
            store.set_state(SCOPE, {"good": 1, "bad": {1, 2}}, level=level)
        assert store.get_state(SCOPE, level=level) == {}


def test_a_handle_from_before_the_deletion_sets_no_state(store: Any) -> None:
    store.append(SCOPE, said("a"))
    handle = store.load(SCOPE)
    store.set_state(handle, {"a": 1})
    store.clear(SCOPE)

    with pytest.raises(ConflictError):
        store.set_state(handle, {"b": 1})
    assert store.get_state(SCOPE) == {}


def test_clear_leaves_no_key_but_what_sessions_share(store: Any, client: Any) -> None:
    store.append(SCOPE, said("a"), write_id="w")
    store.set_state(SCOPE, {"a": 1})
    store.set_state(SCOPE, {"a": 1}, level="user")
    store.clear(SCOPE)
    store.clear(SCOPE)

    assert client.keys() == [b"memory:{app:user}:user-state"]


def test_pages_hold_every_session_once_in_the_order_of_creation(store: Any) -> None:
    names = [f"s{number % 7}-{number}" for number in range(20)]
    for name in names:
        store.append(Scope(session=name), said("a"))

    found, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = store.list_sessions(SCOPE, limit=7, cursor=cursor)
        found, cursor, pages = [*found, *page.items], page.cursor, pages + 1
    assert found == names
    assert pages == 3
    assert store.list_sessions(SCOPE, limit=20).cursor is None


def test_a_page_goes_on_behind_a_session_that_is_deleted_meanwhile(store: Any) -> None:
    for name in "abcd":
        store.append(Scope(session=name), said("x"))
    page = store.list_sessions(SCOPE, limit=2)
    store.clear(Scope(session="b"))

    assert store.list_sessions(SCOPE, cursor=page.cursor).items == ("c", "d")


@table("cursor", [1, "ü", object()])
def test_a_cursor_that_no_page_gave_is_refused(store: Any, cursor: Any) -> None:
    for call in (store.list_sessions, store.list_records):
        with pytest.raises(RefusedError, match="cursor"):
            call(SCOPE, cursor=cursor)


def test_every_key_of_a_session_expires_with_the_others(
    open_store: Callable[..., Any], client: Any
) -> None:
    store = open_store(ttl=100.5)
    store.append(SCOPE, said("a"), write_id="w")
    store.set_state(SCOPE, {"a": 1})

    ends = {key: client.pttl(key) for key in client.scan_iter()}
    assert len(ends) == 6
    assert all(100_000 < left <= 100_500 for left in ends.values())


def test_a_write_lets_every_key_live_on_and_a_read_none(
    open_store: Callable[..., Any], client: Any
) -> None:
    store = open_store(ttl=100)
    store.append(SCOPE, said("a", "b"))
    writes: list[Callable[[], Any]] = [
        lambda: store.append(SCOPE, said("c")),
        lambda: store.replace(SCOPE, said("c", "d")),
        lambda: store.pop(SCOPE),
        lambda: store.set_state(SCOPE, {"a": 1}),
        lambda: store.append_with(store.load(SCOPE), said("e")),
    ]
    for write in writes:
        for key in client.scan_iter():
            client.pexpire(key, 1000)
        store.read(SCOPE)
        store.list_sessions(SCOPE)
        assert all(client.pttl(key) <= 1000 for key in client.scan_iter())
        write()
        assert all(client.pttl(key) > 90_000 for key in client.scan_iter())


def test_the_index_lives_as_long_as_the_last_session(
    open_store: Callable[..., Any], client: Any
) -> None:
    index = "memory:{app:user}:sessions"
    open_store(ttl=100).append(Scope(session="a"), said("a"))
    open_store(ttl=10).append(Scope(session="b"), said("a"))
    assert client.pttl(index) > 90_000
    open_store().append(Scope(session="c"), said("a"))
    open_store(ttl=10).append(Scope(session="b"), said("a"))
    assert client.pttl(index) == -1


def test_a_session_without_an_end_loses_the_one_it_had(
    open_store: Callable[..., Any], client: Any
) -> None:
    open_store(ttl=100).append(SCOPE, said("a"))
    open_store().append(SCOPE, said("b"))

    assert {client.pttl(key) for key in client.scan_iter()} == {-1}


def test_an_expired_session_is_not_there_and_begins_anew(
    open_store: Callable[..., Any], client: Any
) -> None:
    store = open_store(ttl=100)
    store.append(SCOPE, said("old"), write_id="w")
    store.set_state(SCOPE, {"old": 1})
    store.run(inspection.expire_now(store.store.parts.keys, SCOPE))

    assert texts(store) == []
    assert store.get_state(SCOPE) == {}
    assert store.list_sessions(SCOPE).items == ()
    store.append(SCOPE, said("new"), write_id="w")
    assert texts(store) == ["new"]
    assert store.list_sessions(SCOPE).items == ("session",)
    assert client.zcard("memory:{app:user}:sessions") == 1


def test_a_new_session_takes_expired_ones_out_of_the_index(
    open_store: Callable[..., Any], client: Any
) -> None:
    store = open_store(ttl=100)
    store.append(Scope(session="old"), said("a"))
    (member,) = client.zrange("memory:{app:user}:session-expiries", 0, -1)
    client.zadd("memory:{app:user}:session-expiries", {member: 1})
    store.append(Scope(session="new"), said("a"))

    for index in ("sessions", "session-expiries"):
        assert client.zcard(f"memory:{{app:user}}:{index}") == 1


def test_a_session_that_no_longer_expires_is_not_taken_out_of_the_index(
    open_store: Callable[..., Any], client: Any
) -> None:
    open_store(ttl=100).append(SCOPE, said("a"))
    open_store().append(SCOPE, said("a"))

    assert client.exists("memory:{app:user}:session-expiries") == 0


@table("messages", [None, "text", Message("user", "x"), ["text"], [None], 5])
def test_what_is_no_sequence_of_messages_is_refused(store: Any, messages: Any) -> None:
    for call in (store.append, store.replace):
        with pytest.raises(RefusedError):
            call(SCOPE, messages)
    with pytest.raises(RefusedError):
        store.append_with(store.load(SCOPE), messages)


PARTS = ("session", "messages", "state", "writes")


@pytest.mark.parametrize("part", PARTS)
def test_a_session_that_expired_in_part_is_expired(
    open_store: Callable[..., Any], client: Any, part: str
) -> None:
    store = open_store(ttl=100)
    store.append(SCOPE, said("a", "b"))
    store.set_state(SCOPE, {"a": 1})
    client.delete(f"memory:{{app:user}}:{part}:session")

    assert texts(store) == []
    assert store.count(SCOPE) == 0
    assert store.get_state(SCOPE) == {}
    assert store.list_sessions(SCOPE).items == ()
    store.append(SCOPE, said("new"))
    assert texts(store) == ["new"]
    assert store.get_state(SCOPE) == {}


@pytest.mark.parametrize("part", PARTS)
def test_a_session_that_lost_a_part_without_expiring_is_damaged_until_it_is_cleared(
    store: Any, client: Any, part: str
) -> None:
    store.append(SCOPE, said("a", "b"))
    store.set_state(SCOPE, {"a": 1})
    client.delete(f"memory:{{app:user}}:{part}:session")

    for call in (store.read, store.count, store.pop, store.get_state, store.load):
        with pytest.raises(CorruptError, match="lost a part"):
            call(SCOPE)
    with pytest.raises(CorruptError):
        store.append(SCOPE, said("c"))
    store.clear(SCOPE)
    store.append(SCOPE, said("c"))
    assert texts(store) == ["c"]


def test_a_message_that_cannot_be_read_is_named(store: Any) -> None:
    store.append(SCOPE, said("a", "b", "c"))
    store.run(inspection.corrupt(store.store.parts.keys, SCOPE, 1))

    with pytest.raises(CorruptError, match="Message 1 of Session 'session' cannot be read"):
        store.read(SCOPE)
    assert texts(store, limit=1) == ["c"]


def test_a_session_of_an_older_release_is_read_and_written_on(store: Any) -> None:
    store.run(inspection.older(store.store.parts.keys, SCOPE, 8))
    assert texts(store) == ["from an older release", "still here"]
    assert store.read(SCOPE)[1].metadata == {"at": 1}

    store.append(SCOPE, said("new"))
    store.delete_message(SCOPE, "old0")
    assert texts(store) == ["still here", "new"]
    assert store.list_sessions(SCOPE).items == ("session",)


def test_a_session_of_a_newer_release_is_left_alone(store: Any, client: Any) -> None:
    store.append(SCOPE, said("a"))
    client.hset("memory:{app:user}:session:session", "format", 3)
    before = {key: client.type(key) for key in client.scan_iter()}

    for call in (store.read, store.pop, store.get_state):
        with pytest.raises(SchemaError, match="later release"):
            call(SCOPE)
    with pytest.raises(SchemaError):
        store.append(SCOPE, said("b"))
    assert {key: client.type(key) for key in client.scan_iter()} == before


def _once(call: Any) -> Any:
    return (yield call)
