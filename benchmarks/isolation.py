#!/usr/bin/env python3
"""Time a place of its own for each test: this plugin, pytest-postgresql, and the plain recipe.

    python benchmarks/isolation.py [--tests 100] [--rounds 3]

All ways use one embedded Postgres (and one Redis), the same tables (four, with a few indexes, one of
them HNSW) and the same test: it inserts a row and counts. Whole tests are timed, from fixture set-up to
tear-down, in real pytest runs; then the bare calls, one after the other: what is made ahead, by a thread of
the worker, has to be waited for there. For these the processors' time is told too, that of the server and
of threads included. Rounds go through the ways in turn, so that what else the machine does hits all alike.
pytest-postgresql has to be installed; it is left out where it is not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import psycopg
import redis

from memory_matrix.isolation.postgres import PostgresIsolation
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.servers.client import ADDRESS, Servers
from memory_matrix.suite.serving import Host

DDL = """
CREATE TABLE sessions (id text PRIMARY KEY, owner text NOT NULL, created_at timestamptz DEFAULT now());
CREATE INDEX ON sessions (owner);
CREATE TABLE messages (
    id bigserial PRIMARY KEY, session text NOT NULL REFERENCES sessions, role text, body jsonb);
CREATE INDEX ON messages (session, id);
CREATE TABLE memories (id text PRIMARY KEY, namespace text, metadata jsonb, embedding vector(8));
CREATE INDEX ON memories (namespace);
CREATE INDEX ON memories USING hnsw (embedding vector_cosine_ops);
CREATE TABLE state (scope text, key text, value jsonb, PRIMARY KEY (scope, key));
"""

POSTGRES_TEST = """
@pytest.mark.parametrize("number", range(TESTS))
def test_it(connection, number):
    connection.execute("INSERT INTO sessions (id, owner) VALUES ('one', 'ann')")
    assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
"""
REDIS_TEST = """
@pytest.mark.parametrize("number", range(TESTS))
def test_it(client, number):
    assert client.incr("number") == 1
"""
OURS = """
@pytest.fixture(scope="session")
def postgres_ddl():
    return DDL

@pytest.fixture
def connection(postgres_connection):
    return postgres_connection
"""
PYTEST_POSTGRESQL = """
from pathlib import Path
from pytest_postgresql import factories

def load(**given):
    with psycopg.connect(**{**given, "autocommit": True}) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute(DDL)

server = factories.postgresql_noproc(
    host=HOST, port=PORT, user=USER, password=PASSWORD, dbname=NAME, load=[load])
given = factories.postgresql("server")

@pytest.fixture
def connection(given):
    given.autocommit = True
    return given
"""
PLAIN = """
import secrets

@pytest.fixture
def connection():
    schema = f"plain_{secrets.token_hex(4)}"
    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path TO {schema}, public")
        for statement in filter(str.strip, DDL.split(";")):
            connection.execute(statement)
        yield connection
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
"""
REDIS = """
@pytest.fixture
def client(redis_client):
    return redis_client
"""
PLAIN_REDIS = """
@pytest.fixture
def client():
    with redis.Redis.from_url(REDIS_URL) as client:
        client.flushdb()
        yield client
        client.flushdb()
"""

RATIO_TO = "the plain recipe"
CLONE = "pytest-postgresql: template clone"
POSTGRES_WAYS = {
    "this plugin: schema per test": OURS + POSTGRES_TEST,
    "this plugin: cloned database": OURS + 'pytestmark = pytest.mark.postgres(isolation="database")\n'
    + POSTGRES_TEST,
    "this plugin: rolled back": OURS + 'pytestmark = pytest.mark.postgres(isolation="rollback")\n'
    + POSTGRES_TEST,
    CLONE: PYTEST_POSTGRESQL + POSTGRES_TEST,
    RATIO_TO: PLAIN + POSTGRES_TEST,
}  # fmt: skip
REDIS_WAYS = {"this plugin: redis_client": REDIS + REDIS_TEST, RATIO_TO: PLAIN_REDIS + REDIS_TEST}


@dataclass
class Times:
    """What each of some calls took, in milliseconds, and where it is known, all of the processors' time."""

    each: list[float] = field(default_factory=list)
    cpu: float = 0.0


def main() -> int:
    """Run the benchmark and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=100, help="in each run (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each way (%(default)s)")
    options = parser.parse_args()
    host = Host()
    with closing(host), Servers.at(host.address()) as servers:
        urls = {"URL": prepared(servers), "REDIS_URL": servers.shared("redis").url}
        for title, ways in (("Postgres", POSTGRES_WAYS), ("Redis", REDIS_WAYS)):
            chosen = {name: test for name, test in ways.items() if can_run(name)}
            show(f"{title}: whole tests, ms", timed_runs(chosen, urls, options))
        for title, calls, cpu in (
            ("Postgres", postgres_calls(urls["URL"]), postgres_cpu(urls["URL"])),
            ("Redis", redis_calls(urls["REDIS_URL"]), redis_cpu(urls["REDIS_URL"])),
        ):
            show(f"{title}: bare calls, ms", timed_calls(calls, cpu, options))
    return 0


def prepared(servers: Servers) -> str:
    """Return the URL of the Postgres, with the extension in it."""
    url = servers.shared("postgres").url
    with closing(PostgresIsolation(url, owned=True)) as places:
        places.prepare()
    return url


def can_run(name: str) -> bool:
    """Say whether what a way needs is installed."""
    return not name.startswith("pytest-postgresql") or find_spec("pytest_postgresql") is not None


def timed_runs(
    ways: Mapping[str, str], urls: Mapping[str, str], options: argparse.Namespace
) -> dict[str, Times]:
    """Return the time of every test of each way."""
    found = {name: Times() for name in ways}
    for _ in range(options.rounds):
        for name, test in ways.items():
            found[name].each += run(header(urls, options.tests) + test)
    return found


def header(urls: Mapping[str, str], tests: int) -> str:
    """Return what every file of tests begins with."""
    parts = urlsplit(urls["URL"])
    values = {
        **urls, "DDL": DDL, "TESTS": tests, "HOST": parts.hostname, "PORT": parts.port,
        "USER": parts.username, "PASSWORD": parts.password, "NAME": f"bench{os.urandom(4).hex()}",
    }  # fmt: skip
    lines = [f"{name} = {value!r}" for name, value in values.items()]
    return "\n".join(("import psycopg, pytest, redis", *lines, ""))


def run(text: str) -> list[float]:
    """Run tests, and return how many milliseconds each took from set-up to tear-down."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_it.py"
        path.write_text(text, encoding="utf-8")
        results = path.with_name("results.xml")
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--rootdir", folder, "-p", "no:cacheprovider"),
            *("-p", "no:randomly", "-W", "ignore", "--junit-xml", str(results), str(path)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode != 0:
            raise SystemExit((done.stdout + done.stderr)[:3000])
        cases = ET.parse(results).iter("testcase")  # noqa: S314 - pytest has just written it
        return [float(case.attrib["time"]) * 1000 for case in cases]


def postgres_calls(url: str) -> dict[str, Callable[[], object]]:
    """Return the bare calls for one test's place each, without a connection for the test."""
    places = PostgresIsolation(url, owned=True)
    plain = psycopg.connect(url, autocommit=True)

    def recipe() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA plain; SET search_path TO plain, public;" + DDL)
            connection.execute("DROP SCHEMA plain CASCADE")

    def one_trip() -> None:
        name = f"trip_{os.urandom(4).hex()}"
        plain.execute(f"CREATE SCHEMA {name}; SET search_path TO {name}, public;" + DDL)

    return {
        "schema, made ahead": lambda: places.leave(places.schema(DDL)),
        "schema, in one round trip": one_trip,
        "database, made ahead": lambda: places.leave(places.database(DDL)),
        "connecting": lambda: psycopg.connect(url).close(),
        **({CLONE: janitor_clone(url)} if can_run(CLONE) else {}),
        RATIO_TO: recipe,
    }


def janitor_clone(url: str) -> Callable[[], object]:
    """Return what pytest-postgresql does for one test, on a template that is there."""
    janitor = import_module("pytest_postgresql.janitor").DatabaseJanitor
    parts = urlsplit(url)
    where: dict[str, Any] = {
        "host": parts.hostname, "port": parts.port, "user": parts.username,
        "password": parts.password,
    }  # fmt: skip
    template = f"bench{os.urandom(4).hex()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {template}")
    with psycopg.connect(**where, dbname=template, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector;" + DDL)

    def clone() -> None:
        with janitor(**where, dbname=f"{template}_one", template_dbname=template):
            pass

    return clone


def postgres_cpu(url: str) -> Callable[[], float]:
    """Return what tells the processors' time of the server's processes so far, in seconds."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        parent = stat_of(row[0])[1]

    def seconds() -> float:
        ticks = 0
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has just ended
                stat = stat_of(folder.name)
                if parent in (folder.name, stat[1]):
                    ticks += sum(map(int, stat[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    return seconds


def stat_of(process: int | str) -> list[str]:
    """Return what Linux says of a process, from its state on; see proc(5)."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def redis_cpu(url: str) -> Callable[[], float]:
    """Return what tells the processors' time of the server so far, in seconds."""
    client = redis.Redis.from_url(url)

    def seconds() -> float:
        told = client.info("cpu")
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    return seconds


def redis_calls(url: str) -> dict[str, Callable[[], object]]:
    """Return the bare calls for one test's place each."""
    places = RedisIsolation(url, owned=True, shared=True)

    def recipe() -> None:
        with redis.Redis.from_url(url) as client:
            client.flushdb()
            client.flushdb()

    return {"a place, and leaving it": lambda: places.leave(places.place()), RATIO_TO: recipe}


def timed_calls(
    calls: Mapping[str, Callable[[], object]],
    server_cpu: Callable[[], float],
    options: argparse.Namespace,
) -> dict[str, Times]:
    """Return the time of each call, and the processors' of this process and the server."""
    found = {name: Times() for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            before = time.process_time() + server_cpu()
            found[name].each += [timed(call) for _ in range(options.tests)]
            found[name].cpu += (time.process_time() + server_cpu() - before) * 1000
    return found


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def show(title: str, found: Mapping[str, Times]) -> None:
    """Print the figures of each way, and how many times as fast as the plain recipe it is."""
    print(f"\n{title:<38}{'median':>8}{'mean':>8}{'p90':>8}{'ratio':>8}{'CPU':>8}")
    plain = statistics.fmean(found[RATIO_TO].each)
    for name, times in found.items():
        mean = statistics.fmean(times.each)
        ninth = statistics.quantiles(times.each, n=10)[-1]
        cpu = f"{times.cpu / len(times.each):8.2f}" if times.cpu else ""
        figures = f"{statistics.median(times.each):8.2f}{mean:8.2f}{ninth:8.2f}{plain / mean:7.1f}x"
        print(f"  {name:<36}{figures}{cpu}")


if __name__ == "__main__":
    assert ADDRESS not in os.environ, "servers of another run are about"
    sys.exit(main())
