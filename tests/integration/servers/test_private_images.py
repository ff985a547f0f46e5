"""Private servers in containers: the same faults, the same addresses, and nothing stays."""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.asking import ask, redis_client
from memory_matrix.servers.client import SERVICE_NAME, PrivateServer, ServerError, Servers
from memory_matrix.servers.owner import LABEL

pytestmark = [pytest.mark.integration, pytest.mark.docker]

Wait = Callable[[Callable[[], bool]], None]

IMAGES: tuple[tuple[ServerKind, str], ...] = (
    ("redis", "image:redis:8.0"),
    ("postgres", "pgvector/pgvector:pg17"),
)

OWN = """
import sys
from pathlib import Path
from memory_matrix.servers.client import Servers
from memory_matrix.servers.service import serve

with serve(Path(sys.argv[1]), Path(sys.argv[1])) as address:
    servers = Servers.at(address)
    servers.private("redis", "image:redis:8.0").pause()
    servers.private("redis", "image:redis:8.0", topology="cluster")
    print("ready", flush=True)
    sys.stdin.read()
"""


def containers(engine: Any, pid: int = 0) -> set[str]:
    """Return the containers that a process owns, this one by default."""
    label = [LABEL, f"memory-matrix.pid={pid or os.getpid()}"]
    found = engine.containers.list(all=True, filters={"label": label}, ignore_removed=True)
    return {each.id for each in found}


@contextmanager
def client(url: str) -> Iterator[redis.Redis]:
    found = redis_client(url, timeout=10)
    with contextlib.closing(found):
        yield found


def write(server: PrivateServer) -> None:
    if server.info.kind == "redis":
        with client(server.url) as connection:
            connection.set("k", "v")
        return
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'v' AS value")


def written(server: PrivateServer) -> object:
    if server.info.kind == "redis":
        with client(server.url) as connection:
            return connection.get("k")
    with psycopg.connect(server.url) as connection:
        return connection.execute("SELECT value FROM kept").fetchone()


@pytest.mark.parametrize(("kind", "image"), IMAGES)
def test_after_every_fault_the_url_and_the_data_are_the_same(
    kind: ServerKind, image: str, engine: Any, service: Servers
) -> None:
    before = containers(engine)
    settings = {"appendonly": "yes"} if kind == "redis" else {"max_connections": "11"}
    with service.private(kind, image, settings=settings) as server:
        url = server.url
        write(server)
        value = written(server)
        faults: list[Callable[[], None]] = [server.stop, server.kill, server.pause, server.restart]
        for fault in faults:
            fault()
            server.start()
            assert server.url == server.nodes[0].url == url
            assert written(server) == value
        assert len(containers(engine) - before) == 1
    assert containers(engine) <= before


@pytest.mark.parametrize(("kind", "image"), IMAGES)
def test_a_server_that_is_down_refuses_and_one_that_is_paused_keeps_silent(
    kind: ServerKind, image: str, engine: Any, service: Servers
) -> None:
    with service.private(kind, image) as server:
        place = (urlsplit(server.url).hostname or "", urlsplit(server.url).port or 0)
        for fault in (server.stop, server.kill):
            fault()
            fault()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(place, timeout=10)
            with pytest.raises(ServerError, match="does not run"):
                server.pause()
            server.start()
        server.pause()
        server.pause()
        socket.create_connection(place, timeout=10).close()
        with pytest.raises(Exception, match=r"(?i)time"):
            ask(kind, server.url, timeout=1)
        server.resume()
        assert ask(kind, server.url)
        server.pause()
        server.kill()
        server.start()
        server.pause()


def test_redis_forgets_by_default_and_its_settings_are_its_own(
    engine: Any, service: Servers
) -> None:
    with service.private("redis", "redis:6.0", settings={"maxmemory": "3mb"}) as server:
        write(server)
        server.restart()
        assert written(server) is None
        with client(server.url) as connection:
            assert connection.config_get("maxmemory") == {"maxmemory": "3145728"}
    with (
        service.private("postgres", IMAGES[1][1], settings={"work_mem": "1MB"}) as server,
        psycopg.connect(server.url) as connection,
    ):
        assert connection.execute("SHOW work_mem").fetchone() == ("1MB",)


@pytest.mark.parametrize("image", ["redis:6.0", "redis:8.0", "valkey/valkey:9.1"])
def test_sentinels_fail_over(image: str, engine: Any, service: Servers, eventually: Wait) -> None:
    before = containers(engine)
    with service.private("redis", image, topology="sentinel") as server:
        primary, replica, *sentinels = server.nodes
        with client(primary.url) as writer:
            writer.set("k", "v")
            assert writer.wait(1, 10_000) == 1
        server.kill()
        eventually(lambda: server.nodes[1].role == "primary")
        assert server.nodes[0].role == "replica"
        with client(replica.url) as connection:
            assert connection.get("k") == b"v"
        with client(sentinels[0].url) as sentinel:
            host, port = sentinel.sentinel_get_master_addr_by_name(SERVICE_NAME)
            assert f"@{host.decode()}:{port}/" in replica.url
        server.start()
        with client(primary.url) as connection:
            assert connection.ping()
    assert containers(engine) <= before


@pytest.mark.parametrize("image", ["redis:6.0", "redis:8.0", "valkey/valkey:9.1"])
def test_a_cluster_is_reached_at_the_addresses_that_it_announces(
    image: str, engine: Any, service: Servers
) -> None:
    before = containers(engine)
    with service.private("redis", image, topology="cluster") as server:
        for _ in range(2):
            with contextlib.closing(redis.RedisCluster.from_url(server.url)) as connection:
                for number in range(50):
                    connection.set(f"k{number}", number)
                assert len(connection.get_nodes()) == 3
            server.restart()
    assert containers(engine) <= before


def test_a_password_is_on_no_command_line(engine: Any, service: Servers) -> None:
    with service.private("redis", "redis:8.0", topology="sentinel") as server:
        password = urlsplit(server.url).password or ""
        assert password
        for identity in containers(engine):
            processes = engine.containers.get(identity).top()["Processes"]
            assert password not in str(processes)


@pytest.mark.parametrize(
    ("kind", "image", "words"),
    [
        ("redis", "memory-matrix-test/no-such:1", "cannot be pulled"),
        ("redis", "pgvector/pgvector:pg17", "is no redis server"),
        ("postgres", "redis:8.0", "is no postgres server"),
    ],
)
def test_an_image_that_cannot_be_had_is_a_sentence(
    kind: ServerKind, image: str, words: str, engine: Any, service: Servers
) -> None:
    for start in (service.shared, service.private):
        with pytest.raises(ServerError, match=words) as caught:
            start(kind, image)
        assert not caught.value.refused
        assert "\n" not in str(caught.value)


def test_a_setting_that_is_not_possible_has_the_last_word(engine: Any, service: Servers) -> None:
    before = containers(engine)
    with pytest.raises(ServerError, match="no_such_setting"):
        service.private("postgres", IMAGES[1][1], settings={"no_such_setting": "1"})
    with pytest.raises(ServerError, match="no-such-setting"):
        service.private("redis", "redis:8.0", settings={"no-such-setting": "1"})
    assert containers(engine) <= before


def test_an_image_whose_server_takes_no_configuration_is_a_sentence(
    engine: Any, service: Servers
) -> None:
    name = f"memory-matrix-test:{secrets.token_hex(4)}"
    lines = b'FROM redis:8.0\nENTRYPOINT ["sh", "-c", "echo out of luck today; exit 3"]'
    engine.images.build(fileobj=io.BytesIO(lines), tag=name, rm=True)
    try:
        with pytest.raises(ServerError, match="out of luck today"):
            service.private("redis", name)
    finally:
        engine.images.remove(name, force=True)


def test_a_container_that_somebody_removed_is_a_sentence(engine: Any, service: Servers) -> None:
    before = containers(engine)
    with service.private("redis", "redis:8.0") as server:
        (new,) = containers(engine) - before
        engine.containers.get(new).remove(force=True)
        for fault in (server.kill, server.start):
            with pytest.raises(ServerError, match="No such container"):
                fault()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=str)
def test_a_signal_to_the_service_leaves_no_container(
    number: signal.Signals, engine: Any, tmp_path: Path, eventually: Wait
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWN, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert len(containers(engine, process.pid)) == 5
        process.send_signal(number)
        process.wait(60)
    eventually(lambda: not containers(engine, process.pid))


class Relay:
    """Stands between a client and the engine, and can be taken away."""

    def __init__(self, folder: Path, target: str) -> None:
        self.path = folder / "docker.sock"
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RELAY, str(self.path), target], start_new_session=True
        )

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self.path.unlink(missing_ok=True)


_RELAY = """
import socket, sys, threading

def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        sink.close()

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(50)
while True:
    client, _ = listener.accept()
    engine = socket.socket(socket.AF_UNIX)
    engine.connect(sys.argv[2])
    for pair in ((client, engine), (engine, client)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


LOSE = """
import json, sys
from pathlib import Path
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.servers.client import ServerError, Servers
from memory_matrix.servers.service import serve

said = []

def ask(request, *arguments):
    try:
        request(*arguments)
    except (ServerError, MemoryMatrixError) as error:
        said.append(str(error))

def run():
    with serve(Path(sys.argv[1]), Path(sys.argv[1])) as address:
        servers = Servers.at(address)
        server = servers.private("redis", "redis:8.0")
        print("ready", flush=True)
        sys.stdin.read()
        ask(server.stop)
        ask(servers.shared, "redis", "redis:8.0")
        ask(servers.close)

ask(run)
print(json.dumps(said))
"""


def test_an_engine_that_is_gone_half_way_is_a_sentence(
    engine: Any, tmp_path: Path, eventually: Wait
) -> None:
    if not engine.api.base_url.startswith("http+docker"):
        pytest.skip("the engine is not on this machine")
    relay = Relay(tmp_path, "/var/run/docker.sock")
    eventually(relay.path.exists)
    with subprocess.Popen(
        [sys.executable, "-c", LOSE, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DOCKER_HOST": f"unix://{relay.path}"},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            relay.end()
            output, errors = process.communicate()
        finally:
            relay.end()
            for identity in containers(engine, process.pid):
                engine.containers.get(identity).remove(force=True, v=True)
    assert errors == ""
    *said, last = json.loads(output)
    assert len(said) == 3
    assert all("Docker engine" in sentence for sentence in said)
    assert "could not be stopped: redis:8.0" in last
    assert "\n" not in "".join((*said, last))
