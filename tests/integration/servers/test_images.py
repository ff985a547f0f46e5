"""Servers in containers: they answer, they are what their tag says, and nothing of them stays."""

from __future__ import annotations

import io
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import memory_matrix
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import Server, Unavailable, round_trip, start, start_all
from memory_matrix.servers.owner import LABEL

pytestmark = [pytest.mark.integration, pytest.mark.docker]

POSTGRES = ServerSource("postgres", "image", "pgvector/pgvector:pg17", "pg17")
REDIS = ServerSource("redis", "image", "redis:8.0", "redis:8.0")

PACKAGE = Path(memory_matrix.__file__).parent
RUN = """
import sys
from pathlib import Path
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import start

with start(ServerSource("redis", "image", "redis:8.0", "r"), folder=Path(sys.argv[1]),
           cache=Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def ours(engine: Any) -> dict[str, str]:
    """Return the containers of this process, with the names of their images."""
    return {each.id: each.attrs["Config"]["Image"] for each in _of(engine, os.getpid())}


def _of(engine: Any, pid: int) -> list[Any]:
    """Return the containers that the process `pid` owns."""
    found: list[Any] = engine.containers.list(
        all=True, filters={"label": [LABEL, f"memory-matrix.pid={pid}"]}, ignore_removed=True
    )
    return found


def refusal(source: ServerSource, folder: Path) -> str:
    with start_all([source], folder=folder, cache=folder, timeout=20) as (result,):
        assert isinstance(result, Unavailable)
        return result.reason


@pytest.fixture
def built(engine: Any) -> Iterator[Callable[..., str]]:
    """Make an image under a name that promises nothing, for the test only."""
    names = []

    def build(*lines: str, name: str = "") -> str:
        names.append(name or f"memory-matrix-test:{secrets.token_hex(4)}")
        engine.images.build(fileobj=io.BytesIO("\n".join(lines).encode()), tag=names[-1], rm=True)
        return names[-1]

    yield build
    for name in names:
        engine.images.remove(name, force=True)


def test_servers_start_side_by_side_and_go(engine: Any, tmp_path: Path) -> None:
    before = set(ours(engine))
    with start_all([POSTGRES, REDIS], folder=tmp_path, cache=tmp_path, strict=True) as servers:
        postgres, redis = (each for each in servers if isinstance(each, Server))
        assert (postgres.flavour, postgres.version.partition(".")[0]) == ("PostgreSQL", "17")
        assert (redis.flavour, redis.version[:4]) == ("Redis", "8.0.")
        assert postgres.owned
        assert len(set(ours(engine)) - before) == 2
        for server, slots in ((postgres, ["bytea", "jsonb"]), (redis, ["string"])):
            results = list(round_trip(server, {"k": b'{"a":1}'}, json_text=["k"], run="r"))
            assert [each.slot for each in results] == slots
            assert not any(each.error for each in results)
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE EXTENSION vector")
    assert set(ours(engine)) <= before
    assert list(tmp_path.iterdir()) == []


def test_a_container_is_published_on_the_loopback_interface_only_and_has_a_password(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from testcontainers.core.config import ConnectionMode, testcontainers_config

    if not engine.api.base_url.startswith("http+docker"):
        pytest.skip("the engine is not on this machine")
    monkeypatch.setattr(testcontainers_config, "tc_host_override", "localhost")
    monkeypatch.setattr(
        testcontainers_config, "connection_mode_override", ConnectionMode.docker_host
    )
    before = set(ours(engine))
    with start(REDIS, folder=tmp_path, cache=tmp_path) as server:
        (new,) = set(ours(engine)) - before
        ports = engine.containers.get(new).attrs["NetworkSettings"]["Ports"]
        assert {each["HostIp"] for each in ports["6379/tcp"]} == {"127.0.0.1"}
        assert "@127.0.0.1:" in server.url
        bare = ServerSource("redis", "url", f"redis://{server.url.rpartition('@')[2]}", "bare")
        assert "refuses its client" in refusal(bare, tmp_path)


def test_no_volume_is_left(engine: Any, tmp_path: Path, built: Callable[..., str]) -> None:
    name = built("FROM redis:8.0", "VOLUME /somewhere")
    with start(ServerSource("redis", "image", name, "x"), folder=tmp_path, cache=tmp_path):
        (container,) = _of(engine, os.getpid())
        volumes = {mount["Name"] for mount in container.attrs["Mounts"]}
        assert volumes <= {each.id for each in engine.volumes.list()}
    assert volumes
    assert not volumes & {each.id for each in engine.volumes.list()}


def test_an_image_that_is_not_what_its_tag_says_is_refused(
    engine: Any, tmp_path: Path, built: Callable[..., str]
) -> None:
    name = built("FROM redis:8.0", name="memory-matrix-test/redis:7.2")
    reason = refusal(ServerSource("redis", "image", name, "redis:7.2"), tmp_path)
    assert "should be Redis 7.2" in reason
    assert "Redis 8.0" in reason
    assert name not in ours(engine).values()


@pytest.mark.parametrize(
    "image", ["memory-matrix-test/no-such:1", "memory-matrix-test/no-such", "Not A Name", "a:b:c"]
)
def test_an_image_that_cannot_be_had_is_a_sentence(
    image: str, engine: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reason = refusal(ServerSource("redis", "image", image, "none"), tmp_path)
    assert image in reason
    assert "\n" not in reason
    assert capfd.readouterr() == ("", "")


def test_a_container_that_ends_while_it_starts_has_the_last_word(
    engine: Any, tmp_path: Path, built: Callable[..., str]
) -> None:
    name = built("FROM redis:8.0", 'ENTRYPOINT ["sh", "-c", "echo out of luck today; exit 3"]')
    assert "out of luck today" in refusal(ServerSource("redis", "image", name, "x"), tmp_path)
    assert name not in ours(engine).values()


def test_a_container_that_cannot_be_started_is_removed(
    engine: Any, tmp_path: Path, built: Callable[..., str]
) -> None:
    name = built("FROM redis:8.0", 'ENTRYPOINT ["/no/such/program"]')
    assert "/no/such/program" in refusal(ServerSource("redis", "image", name, "x"), tmp_path)
    assert name not in ours(engine).values()


def test_a_server_of_the_other_kind_is_a_sentence(engine: Any, tmp_path: Path) -> None:
    source = ServerSource("postgres", "image", REDIS.value, "wrong")
    assert "is no postgres server" in refusal(source, tmp_path)
    assert REDIS.value not in ours(engine).values()


def test_a_container_that_is_killed_meanwhile_is_unavailable(engine: Any, tmp_path: Path) -> None:
    before = set(ours(engine))
    with start(REDIS, folder=tmp_path, cache=tmp_path) as server:
        (new,) = set(ours(engine)) - before
        engine.containers.get(new).kill()
        with pytest.raises(UnavailableError, match=r"redis:8\.0"):
            list(round_trip(server, {"k": b"v"}, run="r"))
    assert new not in ours(engine)


def test_a_container_that_somebody_else_removed_is_no_error(engine: Any, tmp_path: Path) -> None:
    before = set(ours(engine))
    with start(REDIS, folder=tmp_path, cache=tmp_path):
        (new,) = set(ours(engine)) - before
        engine.containers.get(new).remove(force=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=str)
def test_a_signal_to_the_orchestrator_leaves_no_container(
    number: signal.Signals,
    engine: Any,
    tmp_path: Path,
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    with _orchestrator(tmp_path) as process:
        # Other tests remove what is abandoned, too: see that it would be gone without them.
        assert all(_is_running(child) for child in _children(process.pid))
        process.send_signal(number)
        process.wait(60)
    eventually(lambda: not _of(engine, process.pid))


def test_what_a_killed_run_and_its_janitors_left_is_removed_by_the_next(
    engine: Any, tmp_path: Path
) -> None:
    with _orchestrator(tmp_path) as process:
        for pid in (process.pid, *_children(process.pid)):
            os.kill(pid, signal.SIGKILL)
    with start(REDIS, folder=tmp_path, cache=tmp_path):
        assert not _of(engine, process.pid)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        pytest.skip("finds the janitor through /proc")
    found = [
        int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()
    ]
    assert found
    return found


def _is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@contextmanager
def _orchestrator(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Hold a container from another process."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        # A relative path is what a checkout that is not installed is often run with.
        cwd=PACKAGE.parents[1],
        env={**os.environ, "PYTHONPATH": PACKAGE.parent.name},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("redis://")
        yield process


def test_without_an_engine_there_is_a_sentence(tmp_path: Path) -> None:
    code = (
        "import json, sys; from pathlib import Path\n"
        "from memory_matrix.matrix.model import ServerSource\n"
        "from memory_matrix.servers import start_all\n"
        "p = Path(sys.argv[1])\n"
        "with start_all([ServerSource('redis','image','redis:8.0','r')], folder=p, cache=p) as (r,):\n"
        "    print(json.dumps(r.reason))\n"
    )
    environ = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/no-such.sock"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "No Docker engine answers" in json.loads(done.stdout)
    assert done.stderr == ""
