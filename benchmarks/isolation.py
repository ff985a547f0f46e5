#!/usr/bin/env python3
"""Time a place of its own for each test: this plugin, pytest-postgresql, and the plain recipe.

    python benchmarks/isolation.py [--tests 100] [--rounds 3]

All ways use one embedded Postgres (and one Redis), the same tables (four, with a few indexes, one of
them HNSW) and the same test: it inserts a row and counts. Whole tests are timed, from fixture set-up to
tear-down, in real pytest runs; then the bare calls. Rounds go through the ways in turn, so that what else
the machine does hits all alike. pytest-postgresql has to be installed; it is left out where it is not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
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
POSTGRES_WAYS = {
    "this plugin: schema per test": OURS + POSTGRES_TEST,
    "this plugin: cloned database": OURS + 'pytestmark = pytest.mark.postgres(isolation="database")\n'
    + POSTGRES_TEST,
    "this plugin: rolled back": OURS + 'pytestmark = pytest.mark.postgres(isolation="rollback")\n'
    + POSTGRES_TEST,
    "pytest-postgresql: template clone": PYTEST_POSTGRESQL + POSTGRES_TEST,
    RATIO_TO: PLAIN + POSTGRES_TEST,
}  # fmt: skip
REDIS_WAYS = {"this plugin: redis_client": REDIS + REDIS_TEST, RATIO_TO: PLAIN_REDIS + REDIS_TEST}


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
        show("Postgres: bare calls, ms", timed_calls(postgres_calls(urls["URL"]), options))
        show("Redis: bare calls, ms", timed_calls(redis_calls(urls["REDIS_URL"]), options))
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
) -> dict[str, list[float]]:
    """Return the milliseconds of every test of each way."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, test in ways.items():
            found[name] += run(header(urls, options.tests) + test)
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
        RATIO_TO: recipe,
    }


def redis_calls(url: str) -> dict[str, Callable[[], object]]:
    """Return the bare calls for one test's place each."""
    places = RedisIsolation(url, owned=True, shared=True)

    def recipe() -> None:
        with redis.Redis.from_url(url) as client:
            client.flushdb()
            client.flushdb()

    return {"a place, and leaving it": lambda: places.leave(places.place()), RATIO_TO: recipe}


def timed_calls(
    calls: Mapping[str, Callable[[], object]], options: argparse.Namespace
) -> dict[str, list[float]]:
    """Return the milliseconds of each call."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            for _ in range(options.tests // 4 or 1):
                started = time.perf_counter()
                call()
                found[name].append((time.perf_counter() - started) * 1000)
    return found


def show(title: str, found: Mapping[str, Sequence[float]]) -> None:
    """Print the figures of each way, and how many times as fast as the plain recipe it is."""
    print(f"\n{title:<38}{'median':>8}{'mean':>8}{'p90':>8}{'ratio':>8}")
    plain = statistics.fmean(found[RATIO_TO])
    for name, times in found.items():
        mean = statistics.fmean(times)
        ninth = statistics.quantiles(times, n=10)[-1]
        figures = f"{statistics.median(times):8.2f}{mean:8.2f}{ninth:8.2f}{plain / mean:7.1f}x"
        print(f"  {name:<36}{figures}")


if __name__ == "__main__":
    assert ADDRESS not in os.environ, "servers of another run are about"
    sys.exit(main())
