"""What goes through a real server's slots: bytes exact, refusals alone, nothing left there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.report.model import Error
from memory_matrix.servers import Server, Stored, round_trip, slot, start
from memory_matrix.servers.asking import redis_client

pytestmark = pytest.mark.integration

AWKWARD = {
    "empty": b"",
    "every byte": bytes(range(256)),
    "nul": b"\0",
    "crlf": b"\r\n$3\r\nfoo\r\n",
    "not utf-8": b"\xff\xfe\x80",
    "a megabyte": os.urandom(2**20),
    "key with \0 and \ud800": b"x",
}

JSON_KEPT = {
    "object": b'{"b": 1, "a": [true, null, "\xc3\xa9"]}',
    "escapes": b'"\\u00e9\\n\\ud83d\\ude00"',
    "large number": b"1e1000",
    "megabyte": json.dumps("x" * 2**20).encode(),
}
JSON_REFUSED = {
    "nul escape": (b'{"a": "\\u0000"}', "\\u0000 cannot be converted to text"),
    "lone surrogate": (b'"\\ud800"', "surrogate"),
    "nan": (b"[NaN]", "invalid input syntax"),
    "infinity": (b'{"a": -Infinity}', "invalid input syntax"),
    "huge number": (b"1e400000", "overflow"),
    "not utf-8": (b'"\xff"', "invalid byte sequence"),
    "raw nul": (b'"\0"', "invalid byte sequence"),
    "too deep": (b"[" * 10**6, "stack depth limit exceeded"),
    "empty": (b"", "invalid input syntax"),
}


class WithEvent(Mapping[str, bytes]):
    """Blobs of which one is only there after something has happened."""

    def __init__(self, count: int, event: Callable[[], None]) -> None:
        self._blobs = {str(number): b"%d" % number for number in range(count)}
        self._event = event

    def __getitem__(self, key: str) -> bytes:
        if key == str(len(self._blobs) - 1):
            self._event()
        return self._blobs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)


def stored(server: Server, blobs: Mapping[str, bytes], **options: Any) -> list[Stored]:
    return list(round_trip(server, blobs, run="r1", **options))


def given_back(results: list[Stored]) -> dict[str, bytes | None]:
    return {each.key: each.got for each in results}


@pytest.fixture(params=["postgres", "redis"])
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


def test_bytes_come_back_as_they_were(server: Server) -> None:
    results = stored(server, AWKWARD)
    assert given_back(results) == AWKWARD
    assert {each.slot for each in results} == {
        "bytea" if server.source.kind == "postgres" else "string"
    }
    assert all(each.error is None for each in results)


def test_more_blobs_than_a_batch_holds_come_back_in_order(server: Server) -> None:
    blobs = {str(number): os.urandom(300) for number in range(3000)}
    assert list(given_back(stored(server, blobs)).items()) == list(blobs.items())


def test_a_hundred_megabytes_come_back(server: Server) -> None:
    blobs = {"small": b"a", "large": os.urandom(2**20) * 100, "last": b"z"}
    assert given_back(stored(server, blobs)) == blobs


def test_nothing_to_store_is_nothing_stored(server: Server) -> None:
    assert stored(server, {}) == []


def test_jsonb_gives_the_servers_text_of_the_same_value(servers: dict[str, Server]) -> None:
    results = stored(servers["postgres"], JSON_KEPT, json_text=JSON_KEPT)
    texts = given_back([each for each in results if each.slot == "jsonb"])
    assert texts["object"] == b'{"a": [true, null, "\xc3\xa9"], "b": 1}'
    for key, text in texts.items():
        assert text is not None
        assert json.loads(text, parse_float=str) == json.loads(JSON_KEPT[key], parse_float=str) or (
            key == "large number"
        )


def test_only_json_text_goes_through_jsonb(server: Server) -> None:
    results = stored(server, {"a": b"1", "b": b"not json"}, json_text={"a"})
    in_jsonb = {"a"} if server.source.kind == "postgres" else set()
    assert {each.key for each in results if each.slot == "jsonb"} == in_jsonb


def test_jsonb_refuses_each_blob_alone(servers: dict[str, Server]) -> None:
    blobs = {f"good {number}": b"[%d]" % number for number in range(1000)}
    for number, (key, (blob, _)) in enumerate(JSON_REFUSED.items()):
        blobs = {**dict(list(blobs.items())[: number * 100]), key: blob, **blobs}
    results = stored(servers["postgres"], blobs, json_text=blobs)
    in_jsonb = {each.key: each for each in results if each.slot == "jsonb"}
    assert list(in_jsonb) == list(blobs)
    assert {key for key, each in in_jsonb.items() if each.error} == set(JSON_REFUSED)
    for key, (_, said) in JSON_REFUSED.items():
        error = in_jsonb[key].error
        assert isinstance(error, Error)
        assert error.stage == "store"
        assert said in error.message
        assert in_jsonb[key].got is None
    assert in_jsonb["good 7"].got == b"[7]"
    assert given_back([each for each in results if each.slot == "bytea"]) == blobs


def test_a_blob_that_makes_redis_hang_up_is_refused_alone(
    tmp_path: Path, cache: Path, valkey_source: ServerSource
) -> None:
    with start(valkey_source, folder=tmp_path, cache=cache) as own:
        with contextlib.closing(redis_client(own.url, timeout=10)) as client:
            client.config_set("proto-max-bulk-len", 2**20)
        blobs = {"a": b"1", "too large": bytes(2**20 + 1), "b": b"2", "c": b"3"}
        results = stored(own, blobs)
        assert given_back(results) == {**blobs, "too large": None}
        assert [each.key for each in results if each.error] == ["too large"]
        assert results[1].error is not None
        assert "hung up" in results[1].error.message


def test_a_blob_that_redis_has_no_memory_for_is_refused_alone(
    tmp_path: Path, cache: Path, valkey_source: ServerSource
) -> None:
    with start(valkey_source, folder=tmp_path, cache=cache) as own:
        with contextlib.closing(redis_client(own.url, timeout=10)) as client:
            client.config_set("maxmemory", "20mb")
            client.config_set("maxmemory-policy", "allkeys-lru")
        results = stored(own, {"a": b"1", "too large": bytes(40 * 2**20), "b": b"2"})
        assert [each.key for each in results if each.error] == ["too large"]


def test_what_is_on_the_server_stays_and_nothing_else(servers: dict[str, Server]) -> None:
    with (
        psycopg.connect(servers["postgres"].url, autocommit=True) as connection,
        contextlib.closing(redis_client(servers["redis"].url, timeout=10)) as client,
    ):
        connection.execute("CREATE TABLE memory_matrix_blob AS SELECT 'theirs' AS payload")
        theirs = {b"memory-matrix:r1": b"1", b"memory-matrix:r10:0": b"2", b"0": b"3"}
        client.mset(theirs)
        try:
            for each in servers.values():
                iterator = round_trip(each, AWKWARD, run="r1")
                next(iterator)
                iterator.close()
                stored(each, AWKWARD, json_text=AWKWARD)
            keys = client.keys()
            assert {key: client.get(key) for key in keys} == theirs
            assert _tables(connection) == [("memory_matrix_blob",)]
            assert connection.execute("TABLE memory_matrix_blob").fetchall() == [("theirs",)]
        finally:
            client.delete(*theirs)
            connection.execute("DROP TABLE memory_matrix_blob")


def _tables(connection: psycopg.Connection[Any]) -> list[Any]:
    return connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE '%memory_matrix%'"
    ).fetchall()


def test_keys_of_a_killed_run_expire(servers: dict[str, Server]) -> None:
    url = servers["redis"].url
    seen = []
    with contextlib.closing(redis_client(url, timeout=10)) as watcher, watcher.monitor() as monitor:
        stored(servers["redis"], {"a": b"1"})
        for command in monitor.listen():
            seen.append(command["command"])
            if command["command"].startswith("DEL") and len(seen) > 5:
                break
    sets = [command for command in seen if command.startswith("SET ")]
    assert sets
    assert all(" EX " in command for command in sets)


def test_a_server_that_dies_meanwhile_is_no_finding(
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
) -> None:
    for source in (postgres_source, valkey_source):
        with start(source, folder=tmp_path, cache=cache) as own:
            pid = trace(own).pid
            blobs = WithEvent(1200, lambda pid=pid: os.kill(pid, signal.SIGKILL))  # type: ignore[misc]
            with pytest.raises(UnavailableError, match=source.name):
                # Postgres may still serve the connection that it has, but makes no new one.
                stored(own, blobs, json_text={"0"})


def test_a_cut_connection_is_made_again(server: Server) -> None:
    def cut() -> None:
        if server.source.kind == "postgres":
            with psycopg.connect(server.url) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
        else:
            with contextlib.closing(redis_client(server.url, timeout=10)) as client:
                client.client_kill_filter(_type="normal", skipme=True)

    results = stored(server, WithEvent(1200, cut))
    assert [each.key for each in results if each.error] == []
    assert len(results) == 1200
    if server.source.kind == "redis":
        with contextlib.closing(redis_client(server.url, timeout=10)) as client:
            assert client.keys("memory-matrix:*") == []


def test_a_server_that_hangs_is_unavailable(
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Callable[[Server], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slot, "TIMEOUT", 1.0)
    monkeypatch.setattr(slot, "ASK_TIMEOUT", 1.0)
    for source in (postgres_source, valkey_source):
        with start(source, folder=tmp_path, cache=cache) as own:
            stopped = _processes(own, trace(own).pid)
            blobs = WithEvent(1200, lambda pids=stopped: _signal(pids, signal.SIGSTOP))  # type: ignore[misc]
            try:
                with pytest.raises(UnavailableError, match=source.name):
                    stored(own, blobs)
            finally:
                _signal(stopped(), signal.SIGCONT)


def _processes(server: Server, pid: int) -> Callable[[], list[int]]:
    """Return what finds the server's processes: for Postgres those that serve connections too."""

    def find() -> list[int]:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return [pid, *(int(each) for each in children.read_text().split())]

    return find


def _signal(pids: Any, number: signal.Signals) -> None:
    for pid in pids() if callable(pids) else pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def test_a_server_that_takes_no_writes_is_unavailable(
    tmp_path: Path, cache: Path, valkey_source: ServerSource, servers: dict[str, Server]
) -> None:
    postgres = servers["postgres"]
    url = f"{postgres.url}?options=-c%20default_transaction_read_only%3Don"
    read_only = Server(postgres.source, url, "18", "PostgreSQL", owned=False)
    with pytest.raises(UnavailableError, match="read-only"):
        stored(read_only, {"a": b"1"})
    with start(valkey_source, folder=tmp_path, cache=cache) as own:
        with contextlib.closing(redis_client(own.url, timeout=10)) as client:
            client.config_set("maxmemory", 1)
        with pytest.raises(UnavailableError, match="takes no writes"):
            stored(own, {"a": b"1"})


def test_a_database_in_another_encoding_keeps_bytes_and_refuses_what_it_lacks(
    servers: dict[str, Server],
) -> None:
    postgres = servers["postgres"]
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        for encoding in ("LATIN1", "SQL_ASCII"):
            name = sql.Identifier(f"in_{encoding.lower()}")
            connection.execute(
                sql.SQL("CREATE DATABASE {} ENCODING {} LOCALE 'C' TEMPLATE template0").format(
                    name, sql.Literal(encoding)
                )
            )
            try:
                url = postgres.url.removesuffix("postgres") + f"in_{encoding.lower()}"
                other = Server(postgres.source, url, "18", "PostgreSQL", owned=True)
                blobs = {"a": b'"\xe2\x82\xac"', "b": b'"\xc3\xa9"'}
                results = stored(other, blobs, json_text=blobs)
            finally:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
            assert given_back([each for each in results if each.slot == "bytea"]) == blobs
            refused = [each.key for each in results if each.error]
            assert refused == (["a"] if encoding == "LATIN1" else [])
