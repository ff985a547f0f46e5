"""Waits end, dead connections are replaced, and what a caller gave stays usable and open."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from memory_matrix.isolation.postgres import Place
from memory_matrix.stores.errors import (
    ClosedError,
    ConflictError,
    CorruptError,
    RefusedError,
    ServerError,
    UnreachableError,
    WaitError,
)
from memory_matrix.stores.postgres import AsyncPostgresStore, PostgresStore
from memory_matrix.stores.protocol import Message, Record, Scope

pytestmark = pytest.mark.integration

SCOPE = Scope()
HELLO = [Message("user", "hello")]
NEXT_YEAR = dt.datetime.now(dt.timezone.utc) + dt.timedelta(days=365)


@contextmanager
def locked(place: Place) -> Iterator[None]:
    """Hold the locks of all sessions, as another's open transaction does."""
    with psycopg.connect(place.dsn, application_name="locker") as connection:
        connection.execute("SELECT FROM memory_sessions FOR UPDATE")
        yield
        connection.rollback()


def backends(admin: psycopg.Connection[Any], place: Place) -> list[int]:
    rows = admin.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = %s", (place.application,)
    )
    return [row[0] for row in rows]


def end_connections(admin: psycopg.Connection[Any], place: Place) -> None:
    """End the store's connections, and wait until they are gone."""
    for pid in backends(admin, place):
        # With a timeout the server waits for the end of the process.
        admin.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))


def test_a_blocked_write_fails_in_time_and_is_not_done_later(
    open_store: Any, store: Any, place: Place
) -> None:
    store.append(SCOPE, HELLO)
    hasty = open_store(wait=1.0)
    with locked(place):
        with pytest.raises(WaitError, match="nothing of it was done"):
            hasty.append(SCOPE, HELLO)
        assert hasty.count(SCOPE) == 1
    hasty.append(SCOPE, HELLO)
    assert hasty.count(SCOPE) == 2


def test_a_server_that_does_not_answer_is_given_up(
    open_store: Any, store: Any, place: Place, admin: psycopg.Connection[Any]
) -> None:
    hasty = open_store(wait=1.0)
    hasty.append(SCOPE, HELLO)
    stopped = backends(admin, place)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(WaitError, match="no answer in time"):
            hasty.read(SCOPE)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert len(hasty.read(SCOPE)) == 1


def test_connections_that_the_server_ended_are_replaced(
    open_store: Any, store: Any, place: Place, admin: psycopg.Connection[Any]
) -> None:
    for _ in range(3):
        store.append(SCOPE, HELLO)
        end_connections(admin, place)
    assert store.count(SCOPE) == 3


def test_more_callers_than_connections_are_all_served(place: Place, store: Any) -> None:
    with (
        PostgresStore(place.dsn, dimensions=3, pool_size=2) as small,
        ThreadPoolExecutor(16) as threads,
    ):
        list(threads.map(lambda _: small.append(SCOPE, HELLO), range(64)))
        assert small.count(SCOPE) == 64


def test_a_server_that_is_not_there_is_named_with_the_reason_and_no_password() -> None:
    store = PostgresStore("postgresql://me:secret@127.0.0.1:1/memory", wait=0.5)
    with store, pytest.raises(UnreachableError, match="refused") as caught:
        store.count(SCOPE)
    assert "secret" not in str(caught.value)


def test_a_wrong_url_is_refused() -> None:
    for kind in (PostgresStore, AsyncPostgresStore):
        with pytest.raises(RefusedError, match="libpq URL"):
            kind("postgresql://localhost/x?nonsense=1")


def test_a_closed_store_says_so_and_closes_twice(open_store: Any, store: Any) -> None:
    store.close()
    store.close()
    with pytest.raises(ClosedError):
        store.read(SCOPE)


@pytest.mark.parametrize(
    "options",
    [{}, {"autocommit": True}, {"row_factory": dict_row}],
    ids=["plain", "autocommit", "dict_row"],
)
def test_a_given_connection_is_usable_after_errors_and_stays_open(
    place: Place, store: Any, options: dict[str, Any]
) -> None:
    with psycopg.connect(place.dsn, **options) as connection:
        given = PostgresStore(connection, dimensions=3)
        given.append(SCOPE, HELLO)
        handle = given.load(SCOPE)
        store.append(SCOPE, HELLO)
        with pytest.raises(ConflictError):
            given.append_with(handle, HELLO)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        given.append(SCOPE, HELLO)
        given.close()
        with pytest.raises(ClosedError):
            given.append(SCOPE, HELLO)
        assert connection.execute("SELECT 1").fetchone()
    assert store.count(SCOPE) == 3


def test_a_given_connections_own_transaction_decides(place: Place, store: Any) -> None:
    with psycopg.connect(place.dsn) as connection:
        given = PostgresStore(connection, dimensions=3)
        with connection.transaction(force_rollback=True):
            given.append(SCOPE, HELLO)
            handle = given.load(SCOPE)
            handle.version += 1
            with pytest.raises(ConflictError):
                given.append_with(handle, HELLO)
            assert given.count(SCOPE) == 1
        assert given.count(SCOPE) == 0
        connection.execute("SAVEPOINT mine")
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT 1 / 0")
        with pytest.raises(ServerError, match="roll it back"):
            given.count(SCOPE)
        connection.rollback()
        assert given.count(SCOPE) == 0


def test_a_given_connection_that_is_closed_is_named(place: Place) -> None:
    connection = psycopg.connect(place.dsn)
    connection.close()
    with pytest.raises(UnreachableError, match="given is closed"):
        PostgresStore(connection).count(SCOPE)


def test_a_given_pool_stays_open(place: Place, store: Any) -> None:
    with ConnectionPool(place.dsn, min_size=1, max_size=2, open=True) as pool:
        given = PostgresStore(pool, dimensions=3)
        for _ in range(6):
            with pytest.raises(RefusedError):
                given.append(SCOPE, [*HELLO, Message("user", "nul\0")])
            given.append(SCOPE, HELLO)
        given.close()
        with pool.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert store.count(SCOPE) == 6


def test_given_async_clients_stay_open(place: Place, store: Any) -> None:
    async def use() -> None:
        connection = await psycopg.AsyncConnection.connect(place.dsn)
        async with connection, AsyncConnectionPool(place.dsn, min_size=1, open=False) as pool:
            for client in (connection, pool):
                given = AsyncPostgresStore(client, dimensions=3)
                await asyncio.gather(*(given.append(SCOPE, HELLO) for _ in range(8)))
                await given.close()
            assert await (await connection.execute("SELECT 1")).fetchone() == (1,)
            async with pool.connection() as lent:
                assert await (await lent.execute("SELECT 1")).fetchone() == (1,)

    asyncio.run(use())
    assert store.count(SCOPE) == 16


@pytest.mark.parametrize("target", [None, 7, b"postgresql://"])
def test_what_is_no_client_is_refused(target: Any) -> None:
    for kind in (PostgresStore, AsyncPostgresStore):
        with pytest.raises(TypeError, match="is opened with a libpq URL"):
            kind(target)


def test_one_store_works_from_loops_one_after_the_other(
    place: Place, store: Any, admin: psycopg.Connection[Any]
) -> None:
    shared = AsyncPostgresStore(place.dsn, dimensions=3, pool_size=2)

    async def say() -> None:
        await asyncio.gather(*(shared.append(SCOPE, HELLO) for _ in range(8)))

    for _ in range(3):
        asyncio.run(say())
    assert asyncio.run(shared.count(SCOPE)) == 24
    asyncio.run(shared.close())


def test_a_cancelled_call_gives_its_connection_back(
    place: Place, store: Any, admin: psycopg.Connection[Any]
) -> None:
    store.append(SCOPE, HELLO)

    async def cancel_one() -> int:
        async with AsyncPostgresStore(place.dsn, dimensions=3, pool_size=1) as single:
            await single.count(SCOPE)
            with locked(place):
                blocked = asyncio.create_task(single.append(SCOPE, HELLO))
                await asyncio.to_thread(wait_until_blocked, admin)
                blocked.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await blocked
                assert await single.count(SCOPE) == 1
            await single.append(SCOPE, HELLO)
            return await single.count(SCOPE)

    assert asyncio.run(cancel_one()) == 2


def wait_until_blocked(admin: psycopg.Connection[Any]) -> None:
    waiting = threading.Event()
    for _ in range(1000):
        if admin.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            return
        waiting.wait(0.01)
    raise AssertionError("nobody waits for a lock")


def test_nothing_stays_idle_in_a_transaction(
    store: Any, place: Place, admin: psycopg.Connection[Any]
) -> None:
    assert store.get(SCOPE, "none") is None
    handle = store.load(SCOPE)
    store.append(SCOPE, HELLO)
    with pytest.raises(ConflictError):
        store.append_with(handle, HELLO)
    states = admin.execute(
        "SELECT state FROM pg_stat_activity WHERE application_name = %s", (place.application,)
    ).fetchall()
    assert {state for (state,) in states} == {"idle"}


def test_what_a_serializer_wrote_needs_it_to_be_read(open_store: Any, store: Any) -> None:
    metadata = {"deep": [1, 2.5, None, {"a": "é"}]}
    pickled = open_store(codec=pickle)
    pickled.append(SCOPE, [Message("tool", "x", metadata=metadata, tool={"name": "f"})])
    pickled.put(SCOPE, Record("a", "", None, metadata))
    assert pickled.read(SCOPE)[0].metadata == metadata
    assert pickled.read(SCOPE)[0].tool == {"name": "f"}
    assert pickled.get(SCOPE, "a").metadata == metadata
    with pytest.raises(CorruptError, match="written with a serializer"):
        store.read(SCOPE)
    store.append(Scope(session="other"), HELLO)
    assert pickled.read(Scope(session="other"))[0].text == "hello"
    pickled.update(SCOPE, "a", metadata={"b": 1})
    assert pickled.get(SCOPE, "a").metadata == {"b": 1}


def test_a_sweep_deletes_what_has_expired_and_nothing_else(
    open_store: Any, store: Any, admin: psycopg.Connection[Any]
) -> None:
    mortal = open_store(ttl=60)
    mortal.append(SCOPE, HELLO, write_id="w")
    mortal.put(SCOPE, Record("a"), ttl=60)
    store.append(Scope(session="kept"), HELLO)
    store.put(SCOPE, Record("kept"))
    admin.execute("UPDATE memory_sessions SET expires_at = now() WHERE expires_at IS NOT NULL")
    admin.execute("UPDATE memory_records SET expires_at = now() WHERE expires_at IS NOT NULL")
    assert store.read(SCOPE) == []
    assert store.sweep() == 2
    assert store.sweep(write_ids_kept=1e-6) == 0
    for table, left in (("sessions", 1), ("messages", 1), ("records", 1), ("writes", 0)):
        assert admin.execute(f"SELECT count(*) FROM memory_{table}").fetchone() == (left,)


def test_writing_to_an_expired_session_begins_it_anew(open_store: Any, store: Any) -> None:
    mortal = open_store(ttl=60)
    mortal.append(SCOPE, HELLO)
    mortal.set_state(SCOPE, {"old": 1})
    handle = mortal.load(SCOPE)
    mortal.store.plans.clock = lambda: NEXT_YEAR
    mortal.append(SCOPE, [Message("user", "anew")], write_id="w")
    assert [each.text for each in mortal.read(SCOPE)] == ["anew"]
    assert mortal.get_state(SCOPE) == {}
    with pytest.raises(ConflictError):
        mortal.append_with(handle, HELLO)
