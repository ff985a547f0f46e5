"""Projects that use the plugin, and servers that are there already."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from memory_matrix.isolation.postgres import with_database
from memory_matrix.servers.client import Servers
from memory_matrix.suite.serving import Host
from support.team import NOTE, Team


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A project without tests."""
    folder, temporary = tmp_path / "project", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    made = Team(folder, temporary)
    made.ini()
    made.write("notes.py", NOTE)
    made.write("conftest.py", "")
    return made


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """What lets a run use the servers of this test session as its own."""
    host = Host()
    try:
        yield host.address()
    finally:
        host.close()


@pytest.fixture(scope="session")
def service(address: str) -> Iterator[Servers]:
    """The servers of this test session, to be given to runs by URL."""
    with Servers.at(address) as servers:
        yield servers


@pytest.fixture(scope="session")
def given_server(service: Servers) -> Iterator[str]:
    """The URL of a Postgres that no run has as its own."""
    with service.private("postgres") as server:
        yield server.url


@pytest.fixture
def given_postgres_url(given_server: str) -> Iterator[str]:
    """The URL of a database of the test's own, without the vector extension."""
    name = f"given_{secrets.token_hex(4)}"
    with psycopg.connect(given_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield with_database(given_server, name)
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def given_redis_url(service: Servers) -> Iterator[str]:
    """The URL of an empty Redis of the test's own."""
    with service.private("redis") as server:
        yield server.url


@pytest.fixture
def given_redis(given_redis_url: str) -> Iterator[Any]:
    """A client of the Redis that runs are given by URL."""
    with redis.Redis.from_url(given_redis_url, decode_responses=True) as client:
        yield client
