"""Servers of one client's own: stopped, killed, frozen, and back at the same address."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers import private
from memory_matrix.servers.asking import ask, redis_client
from memory_matrix.servers.client import PrivateServer, ServerError, ServerInfo, Servers
from memory_matrix.servers.service import serve

pytestmark = pytest.mark.integration

Wait = Callable[[Callable[[], bool]], None]

KINDS: tuple[ServerKind, ...] = ("redis", "postgres")
KEEPING: dict[str, dict[str, str]] = {"redis": {"appendonly": "yes"}, "postgres": {}}
"""Settings with which a server keeps its data over a restart."""


@contextmanager
def client(server: PrivateServer) -> Iterator[redis.Redis]:
    found = redis_client(server.url, timeout=10)
    with contextlib.closing(found):
        yield found


def write(server: PrivateServer, value: str) -> None:
    if server.info.kind == "redis":
        with client(server) as connection:
            connection.rpush("values", value)
        return
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS values (value text)")
        connection.execute("INSERT INTO values VALUES (%s)", [value])


def written(server: PrivateServer) -> list[str]:
    if server.info.kind == "redis":
        with client(server) as connection:
            return [value.decode() for value in connection.lrange("values", 0, -1)]
    with psycopg.connect(server.url) as connection:
        return [value for (value,) in connection.execute("SELECT value FROM values")]


def knock(server: PrivateServer) -> None:
    """Connect, and wait for nothing."""
    place = urlsplit(server.url)
    socket.create_connection((place.hostname or "", place.port or 0), timeout=10).close()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, service: Servers) -> Iterator[PrivateServer]:
    """A private server that keeps its data."""
    with service.private(request.param, settings=KEEPING[request.param]) as started:
        yield started


def test_a_private_server_is_nobody_elses(
    server: PrivateServer, service: Servers, trace: Callable[[ServerInfo], Any]
) -> None:
    kind = server.info.kind
    with service.private(kind) as another:
        assert len({server.url, another.url, service.shared(kind).url}) == 3
        write(server, "mine")
        write(another, "theirs")
        assert (written(server), written(another)) == (["mine"], ["theirs"])
        (node,) = server.nodes
        assert (node.url, node.role) == (server.url, "primary")
        left = trace(another.info)
    assert left.is_gone()
    with pytest.raises(ServerError, match="is closed"):
        another.start()
    another.close()


def test_after_every_fault_the_url_and_the_data_are_the_same(server: PrivateServer) -> None:
    url = server.url
    faults: list[Callable[[], None]] = [server.stop, server.kill, server.pause, server.restart]
    for number, fault in enumerate(faults):
        write(server, str(number))
        fault()
        server.start()
        assert server.url == url
        assert written(server) == [str(each) for each in range(number + 1)]


@pytest.mark.parametrize("fault", ["stop", "kill"])
def test_a_server_that_is_down_refuses_connections(server: PrivateServer, fault: str) -> None:
    getattr(server, fault)()
    with pytest.raises(ConnectionRefusedError):
        knock(server)
    server.start()
    knock(server)


def test_a_paused_server_takes_connections_and_never_answers(server: PrivateServer) -> None:
    write(server, "before")
    server.pause()
    knock(server)
    with pytest.raises(Exception, match=r"(?i)time"):
        ask(server.info.kind, server.url, timeout=1)
    server.resume()
    assert written(server) == ["before"]


def test_a_session_goes_on_after_a_pause(service: Servers) -> None:
    with service.private("postgres") as server, psycopg.connect(server.url) as connection:
        connection.execute("SELECT 1")
        answered = threading.Event()

        def query() -> None:
            connection.execute("SELECT 2")
            answered.set()

        server.pause()
        thread = threading.Thread(target=query)
        thread.start()
        assert not answered.wait(0.3)
        server.resume()
        thread.join()
        assert answered.is_set()


def test_a_kill_ends_every_process_of_the_server(
    service: Servers, trace: Callable[[ServerInfo], Any]
) -> None:
    with service.private("postgres") as server, psycopg.connect(server.url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        pids = [*row, trace(server.info).pid]
        server.kill()
        for pid in pids:
            assert not _runs(pid)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        connection.close()


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def test_redis_forgets_by_default(service: Servers) -> None:
    with service.private("redis") as server:
        write(server, "lost")
        server.restart()
        assert written(server) == []


def test_settings_are_the_servers_own(service: Servers) -> None:
    settings = {"maxmemory": "3mb", "maxmemory-policy": "noeviction", "save": ""}
    with service.private("redis", settings=settings) as server, client(server) as connection:
        assert connection.config_get("maxmemory") == {"maxmemory": str(3 * 2**20)}
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            _fill(connection)
    with service.private("postgres", settings={"max_connections": "11"}) as server:
        server.restart()
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SHOW max_connections").fetchone() == ("11",)


def _fill(connection: redis.Redis) -> None:
    for number in range(100):
        connection.set(str(number), b"x" * 100_000)


@pytest.mark.parametrize(
    ("kind", "settings", "words", "refused"),
    [
        ("redis", {"port": "1"}, "not yours to choose", True),
        ("redis", {"no-such-setting": "1"}, "no-such-setting", False),
        ("redis", {"maxmemory": "much"}, "maxmemory", False),
        ("postgres", {"no_such_setting": "1"}, "no_such_setting", False),
        ("postgres", {"max_connections": "many"}, "max_connections", False),
    ],
)
def test_a_setting_that_is_not_possible_is_a_sentence(
    kind: ServerKind, settings: dict[str, str], words: str, refused: bool, service: Servers
) -> None:
    with pytest.raises(ServerError, match=words) as caught:
        service.private(kind, settings=settings)
    assert caught.value.refused == refused
    assert "\n" not in str(caught.value)


def test_what_is_done_twice_is_done_once(server: PrivateServer) -> None:
    for fault in (server.stop, server.kill, server.start, server.resume, server.start):
        fault()
        fault()
    server.pause()
    server.pause()
    server.stop()
    server.start()
    server.pause()
    server.kill()
    server.start()
    knock(server)


def test_a_server_that_is_down_cannot_be_paused(server: PrivateServer) -> None:
    server.stop()
    with pytest.raises(ServerError, match="does not run") as caught:
        server.pause()
    assert caught.value.refused


def test_a_node_or_topology_that_is_not_there_is_refused(service: Servers) -> None:
    with service.private("redis") as server:
        for index in (1, -1):
            with pytest.raises(ServerError, match=rf"no node {index}") as caught:
                server.kill(index)
            assert caught.value.refused
        server.kill(0)
    for kind, topology in (("postgres", "cluster"), ("redis", "ring")):
        with pytest.raises(ServerError, match=topology) as caught:
            service.private(kind, topology=topology)  # type: ignore[arg-type]
        assert caught.value.refused


def test_a_server_that_died_by_itself_starts_again(
    server: PrivateServer, trace: Callable[[ServerInfo], Any], eventually: Wait
) -> None:
    write(server, "kept")
    pid = trace(server.info).pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{pid}").exists())  # and its supervisor has noticed
    with pytest.raises(ServerError, match="does not run"):
        server.pause()
    server.start()
    assert written(server) == ["kept"]


def test_a_port_that_somebody_took_meanwhile_is_a_sentence(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def unguarded(**_: object) -> Iterator[int]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        yield port

    monkeypatch.setattr(private, "reserved_port", unguarded)
    with serve(tmp_path, cache) as address, Servers.at(address) as servers:
        for kind in KINDS:
            server = servers.private(kind)
            server.stop()
            port = urlsplit(server.url).port
            with socket.create_server(("127.0.0.1", port or 0)):
                with pytest.raises(ServerError, match="Another process took its port") as caught:
                    server.start()
                assert not caught.value.refused
                assert "\n" not in str(caught.value)
            server.start()
            server.close()


def test_a_server_whose_supervisor_was_killed_says_so(
    server: PrivateServer, trace: Callable[[ServerInfo], Any], eventually: Wait
) -> None:
    pid = trace(server.info).pid
    os.kill(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]), 9)
    eventually(lambda: not _runs(pid))
    with pytest.raises(ServerError, match="supervisor was killed"):
        server.start()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_neither_uses_nor_ends_the_parents_server(service: Servers) -> None:
    with service.private("redis") as server:
        reader, writer = os.pipe()
        if (pid := os.fork()) == 0:
            said = b"nothing"
            try:
                server.kill()
            except ServerError as error:
                said = str(error).encode()
            server.close()
            os.write(writer, said)
            os._exit(0)
        os.close(writer)
        os.waitpid(pid, 0)
        with os.fdopen(reader, "rb") as said:
            assert b"belongs to the parent process" in said.read()
        write(server, "still there")


@pytest.mark.concurrency
def test_threads_take_turns(server: PrivateServer) -> None:
    threads = [threading.Thread(target=server.restart) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    knock(server)
