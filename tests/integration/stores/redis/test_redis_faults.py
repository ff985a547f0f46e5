"""What servers and networks do to a store: it says so in its own words, loses nothing, and goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from memory_matrix.stores import Message, Record, Scope
from memory_matrix.stores.errors import (
    FullError,
    ReadOnlyError,
    RightsError,
    ServerError,
    StoreError,
    UnreachableError,
    WaitError,
)
from memory_matrix.stores.redis import RedisStore, Settings, Target
from memory_matrix.suite.faults import Faults, FaultyRedis

pytestmark = pytest.mark.integration

SCOPE = Scope()


def said(*texts: str) -> list[Message]:
    return [Message("user", text) for text in texts]


def texts(store: Any) -> list[str]:
    return [message.text for message in store.read(SCOPE)]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


WRITES: dict[str, Callable[[Any], Any]] = {
    "append": lambda store: store.append(SCOPE, said("new")),
    "replace": lambda store: store.replace(SCOPE, said("new")),
    "append_with": lambda store: store.append_with(store.load(SCOPE), said("new")),
    "set_state": lambda store: store.set_state(SCOPE, {"a": 1}),
    "user state": lambda store: store.set_state(SCOPE, {"a": 1}, level="user"),
    "put": lambda store: store.put(SCOPE, Record("new")),
    "put_many": lambda store: store.put_many(SCOPE, [Record("new"), Record("old", "changed")]),
    "update": lambda store: store.update(SCOPE, "old", text="changed"),
}
DELETIONS: dict[str, Callable[[Any], Any]] = {
    "pop": lambda store: store.pop(SCOPE),
    "clear": lambda store: store.clear(SCOPE),
    "delete": lambda store: store.delete(SCOPE, "old"),
    "delete_all": lambda store: store.delete_all(SCOPE),
}


def dump(client: Any) -> dict[bytes, Any]:
    """Return all that a server holds."""
    return {key: client.dump(key) for key in client.scan_iter()}


@pytest.fixture
def filled(open_store: Callable[..., Any], server: FaultyRedis) -> Any:
    store = open_store(Target(server.url, wait=2.0))
    store.append(SCOPE, said("old"))
    store.put(SCOPE, Record("old", "text"))
    return store


def test_connections_that_were_ended_are_not_noticed(filled: Any, server: FaultyRedis) -> None:
    for number in range(5):
        server.kill_connections()
        filled.append(SCOPE, said(str(number)))
        server.kill_connections()
        assert filled.count(SCOPE) == number + 2

    assert texts(filled) == ["old", "0", "1", "2", "3", "4"]


@pytest.mark.parametrize("given", [False, True], ids=["own client", "given client"])
def test_under_load_every_acknowledged_message_is_there_once(
    server: FaultyRedis, given: bool
) -> None:
    """A given client of redis-py sends again by itself what it got no answer to."""
    client = redis.Redis.from_url(server.url) if given else Target(server.url, pool_size=4)
    with RedisStore(client) as store:
        acknowledged: list[str] = []
        ended = threading.Event()

        def write(worker: int) -> None:
            for number in range(50):
                text = f"{worker}-{number}"
                try:
                    store.append(SCOPE, said(text), write_id=text)
                except StoreError:
                    store.append(SCOPE, said(text), write_id=text)
                acknowledged.append(text)

        def disturb() -> None:
            while not ended.wait(0.01):
                server.kill_connections()

        disturber = threading.Thread(target=disturb)
        disturber.start()
        with ThreadPoolExecutor(4) as workers:
            list(workers.map(write, range(4)))
        ended.set()
        disturber.join()
        assert sorted(texts(store)) == sorted(acknowledged)
        assert len(acknowledged) == 200
    if given:
        client.close()


def test_a_server_that_keeps_its_data_is_found_again_after_a_restart(
    open_store: Callable[..., Any], faults: Faults
) -> None:
    server = faults.redis(appendonly="yes")
    store = open_store(server.url)
    store.append(SCOPE, said("a"))
    server.restart()
    store.append(SCOPE, said("b"))

    assert texts(store) == ["a", "b"]


def test_a_server_that_lost_its_data_is_written_anew(filled: Any, server: FaultyRedis) -> None:
    server.kill()
    server.start()

    assert texts(filled) == []
    assert filled.list_sessions(SCOPE).items == ()
    filled.append(SCOPE, said("new"))
    assert texts(filled) == ["new"]


def test_scripts_that_the_server_forgot_are_sent_again(filled: Any, outside: Any) -> None:
    outside.script_flush()

    filled.append(SCOPE, said("new"))
    assert texts(filled) == ["old", "new"]


def test_a_server_that_is_down_is_named_soon_and_found_once_it_is_up(
    filled: Any, server: FaultyRedis
) -> None:
    server.stop()
    for call in (filled.read, filled.count, filled.list_sessions, filled.list_records, filled.pop):
        with within(2.0), pytest.raises(UnreachableError, match="cannot be reached"):
            call(SCOPE)
    server.start()
    filled.append(SCOPE, said("new"))
    assert texts(filled) == ["new"]


def test_a_server_that_never_answers_is_given_up(
    open_store: Callable[..., Any], server: FaultyRedis
) -> None:
    connected = open_store(Target(server.url, wait=0.5))
    connected.append(SCOPE, said("old"))
    new = open_store(Target(server.url, wait=0.5))
    server.pause()
    try:
        for store in (connected, new):
            with within(4.0), pytest.raises(WaitError, match="no answer"):
                store.append(SCOPE, said("late"), write_id="late")
    finally:
        server.resume()
    connected.append(SCOPE, said("late"), write_id="late")
    assert texts(new) == ["old", "late"]


@pytest.mark.parametrize("name", [*WRITES, *DELETIONS])
def test_a_server_that_takes_no_writes_is_read_on(
    filled: Any, server: FaultyRedis, outside: Any, name: str
) -> None:
    before = dump(outside)
    server.read_only()
    with pytest.raises(ReadOnlyError, match="takes no writes"):
        (WRITES | DELETIONS)[name](filled)
    assert texts(filled) == ["old"]
    assert filled.get(SCOPE, "old").text == "text"
    assert filled.list_sessions(SCOPE).items == ("session",)
    assert dump(outside) == before
    server.read_only(False)
    (WRITES | DELETIONS)[name](filled)
    assert dump(outside) != before


@pytest.mark.parametrize("name", WRITES)
def test_a_full_server_refuses_the_whole_write(
    filled: Any, server: FaultyRedis, outside: Any, name: str
) -> None:
    before = dump(outside)
    server.out_of_memory()
    with pytest.raises(FullError, match="no memory"):
        WRITES[name](filled)
    assert dump(outside) == before
    server.out_of_memory(False)
    WRITES[name](filled)
    assert dump(outside) != before


@pytest.mark.parametrize("name", DELETIONS)
def test_a_full_server_lets_go_of_what_it_has(
    filled: Any, server: FaultyRedis, outside: Any, name: str
) -> None:
    before = dump(outside)
    server.out_of_memory()
    DELETIONS[name](filled)
    server.out_of_memory(False)
    assert dump(outside) != before


KINDS = ("session", "messages", "state", "writes", "sessions", "records", "namespaces", "record")


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_holds_something_else_stops_a_write_before_it_begins(
    open_store: Callable[..., Any], server: FaultyRedis, outside: Any, prefix: str, kind: str
) -> None:
    store = open_store(server.url)
    ends = {"sessions": "", "namespaces": "", "records": ":memories/", "record": ":memories/:b"}
    outside.set(f"{prefix}{{app:user}}:{kind}{ends.get(kind, ':session')}", "something else")
    before = dump(outside)
    records = [Record("a"), Record("b"), Record("c")]
    write = {
        "session": lambda: store.append(SCOPE, said("a"), write_id="w"),
        "record": lambda: store.put_many(SCOPE, records, ttl=10),
    }

    with pytest.raises(ServerError, match="holds something else"):
        write["record" if kind in {"records", "namespaces", "record"} else "session"]()
    assert dump(outside) == before


def test_a_user_without_rights_is_told(
    open_store: Callable[..., Any], server: FaultyRedis, outside: Any, prefix: str
) -> None:
    outside.acl_setuser(
        "reader", enabled=True, passwords=["+secret"], commands=["+@all", "-zadd"], keys=["*"]
    )
    host = server.url.rpartition("@")[2]
    with pytest.raises(RightsError, match="lacks a right"):
        open_store(f"redis://reader:secret@{host}").append(SCOPE, said("a"))
    with pytest.raises(RightsError, match="password"):
        open_store(f"redis://reader:wrong@{host}").append(SCOPE, said("a"))


def test_a_user_with_rights_on_the_prefix_alone_is_enough(
    open_store: Callable[..., Any], server: FaultyRedis, outside: Any, prefix: str
) -> None:
    outside.acl_setuser(
        "app",
        enabled=True,
        passwords=["+secret"],
        commands=["+@all", "-@dangerous"],
        keys=[f"{prefix}*"],
    )
    store = open_store(f"redis://app:secret@{server.url.rpartition('@')[2]}")
    for write in (WRITES["append"], WRITES["put_many"], *DELETIONS.values()):
        write(store)


def test_more_callers_than_connections_are_all_served(server: FaultyRedis, outside: Any) -> None:
    with RedisStore(Target(server.url, pool_size=2), Settings()) as store:
        with ThreadPoolExecutor(16) as workers:
            list(workers.map(lambda number: store.append(SCOPE, said(str(number))), range(200)))
        connections = [each for each in outside.client_list() if "py" in each.get("lib-name", "")]
        assert store.count(SCOPE) == 200
        assert len(connections) <= 2 + 2  # those of the test: one looks, one may have killed


def test_a_caller_that_gets_no_connection_in_time_is_told(server: FaultyRedis) -> None:
    with RedisStore(Target(server.url, pool_size=1, wait=0.3)) as store:
        store.read(SCOPE)
        server.pause()
        try:
            with ThreadPoolExecutor(3) as workers:
                errors = list(workers.map(lambda _: _error(store), range(3)))
        finally:
            server.resume()
        assert {type(error) for error in errors} == {WaitError}
        assert any("were busy" in str(error) for error in errors)
        store.read(SCOPE)


def _error(store: RedisStore) -> BaseException | None:
    try:
        store.read(SCOPE)
    except StoreError as error:
        return error
    return None
