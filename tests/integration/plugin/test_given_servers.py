"""Servers that are given by URL: what the run makes there goes, and nothing else is touched."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.gates import Gate, eventually
from support.processes import processes_of
from support.team import Team, made_by_runs

pytestmark = pytest.mark.integration

TESTS = """
import pytest

@pytest.fixture(scope="session")
def postgres_ddl():
    return "CREATE TABLE notes (id int PRIMARY KEY)"

@pytest.mark.parametrize("again", range(3))
def test_schema(postgres_connection, again):
    postgres_connection.execute("INSERT INTO notes VALUES (1)")

@pytest.mark.postgres(isolation="database")
def test_database(postgres_connection):
    postgres_connection.execute("INSERT INTO notes VALUES (1)")

@pytest.mark.postgres(isolation="rollback")
def test_rollback(postgres_connection):
    postgres_connection.execute("INSERT INTO notes VALUES (1)")

@pytest.mark.parametrize("again", range(3))
def test_redis(redis_client, redis_prefix, again):
    assert redis_client.incr(redis_prefix + "number") == 1
"""


@pytest.fixture
def given(given_postgres_url: str, given_redis_url: str) -> list[str]:
    """The options that name the servers."""
    return [f"--postgres={given_postgres_url}", f"--redis={given_redis_url}"]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_the_run_makes_goes_with_it(
    team: Team, given: list[str], given_postgres_url: str, given_redis: Any, workers: str
) -> None:
    with psycopg.connect(given_postgres_url) as connection:
        connection.execute("CREATE TABLE theirs AS SELECT 1 AS one")
        connection.execute("CREATE SCHEMA mm_of_theirs")
    team.write("test_given.py", TESTS)

    run = team.run("-n", workers, *given)

    assert run.all_passed(8), run.text
    with psycopg.connect(given_postgres_url) as connection:
        assert connection.execute("SELECT one FROM theirs").fetchone() == (1,)
    assert made_by_runs(given_postgres_url) == ["mm_of_theirs"]
    assert given_redis.keys() == []
    assert team.left() == []


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_redis_that_holds_data_is_refused_in_one_sentence(
    team: Team, given_redis_url: str, given_redis: Any, workers: str
) -> None:
    given_redis.set("theirs", 1)
    team.write("test_given.py", "def test_redis(redis_client): redis_client.flushdb()")

    run = team.run("-n", workers, f"--redis={given_redis_url}")

    assert run.outcomes == {"test_redis": "ERROR"}
    assert run.code == 1
    assert "holds data, such as the key 'theirs'" in run.text
    assert "--redis-may-hold-data" in run.text
    assert "Traceback" not in run.text
    assert given_redis.keys() == ["theirs"]


def test_a_redis_that_may_hold_data_keeps_it(
    team: Team, given_redis_url: str, given_redis: Any
) -> None:
    given_redis.set("theirs", 1)
    given_redis.set("mm:theirs", 1)
    team.write(
        "test_given.py",
        "def test_redis(redis_client, redis_prefix): redis_client.set(redis_prefix + 'key', 1)",
    )

    run = team.run("--redis-may-hold-data", f"--redis={given_redis_url}")

    assert run.all_passed(1), run.text
    assert sorted(given_redis.keys()) == ["mm:theirs", "theirs"]


def test_two_runs_on_the_same_servers_leave_each_other_alone(
    team: Team, given: list[str], given_postgres_url: str, given_redis: Any, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    team.write("test_given.py", TESTS)
    team.write(
        "slow.py",
        f"""
        def test_slow(postgres_connection, redis_client, redis_prefix):
            postgres_connection.execute("CREATE TABLE mine AS SELECT 1 AS one")
            redis_client.set(redis_prefix + "mine", 1)
            {gate.code}
            assert postgres_connection.execute("SELECT one FROM mine").fetchone() == (1,)
            assert redis_client.get(redis_prefix + "mine") == b"1"
        """,
    )

    with team.started("slow.py", *given) as slow:
        gate.wait_for(1)
        quick = team.run("test_given.py", *given)
        gate.open()
        ended = team.ended(slow)

    assert quick.all_passed(8), quick.text
    assert ended.all_passed(1), ended.text
    assert made_by_runs(given_postgres_url) == []
    assert given_redis.keys() == []


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_what_an_ended_run_made_goes_too(
    team: Team,
    given: list[str],
    given_postgres_url: str,
    given_redis: Any,
    tmp_path: Path,
    workers: str,
    number: signal.Signals,
) -> None:
    gate = Gate(tmp_path / "gate")
    team.write(
        "test_slow.py",
        f"""
        def test_slow(postgres_connection, redis_client, redis_prefix):
            redis_client.set(redis_prefix + "mine", 1)
            {gate.code}
        """,
    )

    with team.started("-n", workers, *given) as process:
        gate.wait_for(1)
        assert made_by_runs(given_postgres_url)
        process.send_signal(number)
        ended = team.ended(process)

    assert "passed" not in ended.text
    eventually(lambda: not processes_of(team.temporary))
    assert made_by_runs(given_postgres_url) == []
    assert given_redis.keys() == []
    assert team.left() == []


def test_what_a_killed_worker_made_goes_too(
    team: Team, given: list[str], given_postgres_url: str, given_redis: Any
) -> None:
    team.write(
        "test_killed.py",
        """
        import os, signal

        def test_killed(postgres_connection, redis_client, redis_prefix):
            redis_client.set(redis_prefix + "mine", 1)
            os.kill(os.getpid(), signal.SIGKILL)

        def test_other(postgres_connection, redis_client):
            pass
        """,
    )

    run = team.run("-n", "2", *given)

    assert run.outcomes == {"test_killed": "FAILED", "test_other": "PASSED"}, run.text
    assert made_by_runs(given_postgres_url) == []
    assert given_redis.keys() == []


def test_a_run_that_cannot_clean_up_fails_and_says_so(team: Team, service: Any) -> None:
    team.write(
        "test_last.py",
        """
        import os, signal

        def test_last(redis_client, redis_prefix):
            redis_client.set(redis_prefix + "key", 1)
            os.kill(redis_client.info("server")["process_id"], signal.SIGKILL)
        """,
    )
    with service.private("redis") as server:
        run = team.run(f"--redis={server.url}")

    assert run.outcomes == {"test_last": "PASSED"}, run.text
    assert run.code == 1
    assert "What this run made on a server given by URL could not be removed" in run.text
