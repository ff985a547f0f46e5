"""What the plugin makes of options and markers, without a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.team import Team

HEAVY = {
    "psycopg",
    "redis",
    "uv",
    "rich",
    "testcontainers",
    "packaging",
    "filelock",
    "pytest_asyncio",
}


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A project whose tests need no server."""
    made = Team(tmp_path, tmp_path)
    made.ini()
    return made


@pytest.mark.large
def test_importing_the_plugin_brings_nothing_heavy() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import memory_matrix.pytest_plugin;"
        "print(' '.join(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.large
def test_options_and_fixtures_are_described(team: Team) -> None:
    team.write("test_nothing.py", "def test_nothing(): pass")

    said = team.run("--help").text
    fixtures = team.run("--fixtures").text
    markers = team.run("--markers").text

    for option in ("--postgres", "--redis", "--store", "--redis-may-hold-data", "memory_postgres"):
        assert option in said
    for fixture in (
        "postgres_server", "postgres_dsn", "postgres_connection", "async_postgres_connection",
        "redis_server", "redis_url", "redis_client", "redis_prefix", "async_redis_client",
        "postgres_ddl", "faults", "memory_store",
    ):  # fmt: skip
        assert f"\n{fixture} " in fixtures or f"\n{fixture}\n" in fixtures, fixture
    assert "@pytest.mark.postgres(isolation='schema')" in markers


@pytest.mark.large
def test_the_run_works_without_pytest_asyncio(team: Team) -> None:
    team.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider -rA\n")
    team.write("test_nothing.py", "def test_nothing(): pass")

    run = team.run("-p", "no:asyncio")

    assert run.all_passed(1), run.text
    assert "async_redis_client" in team.run("-p", "no:asyncio", "--fixtures").text
