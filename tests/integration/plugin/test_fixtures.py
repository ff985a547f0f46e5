"""The plugin's fixtures in a project's own tests: what they give, and what one test sees of another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_matrix.servers.client import ADDRESS
from support.team import Team

pytestmark = pytest.mark.integration

TABLES = """
import pytest

@pytest.fixture(scope="session")
def postgres_ddl():
    return "CREATE TABLE notes (id int PRIMARY KEY, v vector(3)); -- the last line is a comment"
"""

ISOLATED = """
import pytest
from notes import note

INSERT = "INSERT INTO notes VALUES (1, '[1,2,3]')"
COUNT = "SELECT count(*) FROM notes"

@pytest.mark.parametrize("again", range(3))
def test_schema(postgres_connection, postgres_dsn, again):
    assert postgres_connection.execute(COUNT).fetchone() == (0,)
    postgres_connection.execute(INSERT)
    note(postgres_connection.execute("SELECT current_schema()").fetchone()[0])

@pytest.mark.postgres(isolation="database")
@pytest.mark.parametrize("again", range(2))
def test_database(postgres_connection, again):
    assert postgres_connection.execute(COUNT).fetchone() == (0,)
    postgres_connection.execute(INSERT)
    note(postgres_connection.execute("SELECT current_database()").fetchone()[0])

@pytest.mark.postgres(isolation="rollback")
@pytest.mark.parametrize("again", range(3))
def test_rollback(postgres_connection, again):
    assert postgres_connection.execute(COUNT).fetchone() == (0,)
    with postgres_connection.transaction():
        postgres_connection.execute(INSERT)

@pytest.mark.parametrize("again", range(3))
def test_redis(redis_client, redis_url, again):
    assert redis_client.incr("number") == 1

@pytest.mark.asyncio
@pytest.mark.parametrize("again", range(2))
async def test_async(async_postgres_connection, async_redis_client, again):
    assert await (await async_postgres_connection.execute(COUNT)).fetchone() == (0,)
    await async_postgres_connection.execute(INSERT)
    assert await async_redis_client.incr("number") == 1

@pytest.mark.asyncio
@pytest.mark.postgres(isolation="rollback")
@pytest.mark.parametrize("again", range(2))
async def test_async_rollback(async_postgres_connection, again):
    assert await (await async_postgres_connection.execute(COUNT)).fetchone() == (0,)
    await async_postgres_connection.execute(INSERT)

def test_by_name(request):
    assert request.getfixturevalue("postgres_dsn").startswith("postgresql://")
"""

SERVERS = """
import os, time
from notes import note, notes

def test_where(postgres_server, redis_server, redis_url, worker_id):
    note(f"{worker_id} {postgres_server.url} {redis_server.url} {redis_url}")
    while len(notes()) < int(os.environ["EXPECTED"]):
        time.sleep(0.02)
"""
"""Each worker is on its servers until all are."""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_no_test_sees_what_another_left(team: Team, address: str, workers: str) -> None:
    team.write("conftest.py", TABLES)
    team.write("test_isolated.py", ISOLATED)

    run = team.run("-n", workers, **{ADDRESS: address})

    assert run.all_passed(16), run.text
    assert len(set(team.noted())) == 5, "two tests were in one schema, or one database"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_all_workers_share_one_server_which_goes_with_the_run(team: Team, workers: str) -> None:
    team.write("test_where.py", SERVERS)

    many = ("-n", "2", "--dist", "each") if workers == "2" else ()
    run = team.run(*many, EXPECTED="2" if many else "1")

    assert run.code == 0, run.text
    seen = [line.split() for line in team.noted()]
    workers_seen, postgres, redis, own = (set(each) for each in zip(*seen, strict=True))
    assert len(workers_seen) == (int(workers) or 1)
    assert len(postgres) == len(redis) == 1, "more than one server of a kind was started"
    assert len(own) == len(workers_seen), "two workers were in one Redis database"
    assert team.left() == []


def test_runs_on_one_service_have_redis_databases_of_their_own(team: Team, address: str) -> None:
    team.write("test_where.py", SERVERS)

    with team.started(EXPECTED="2", **{ADDRESS: address}) as other:
        run = team.run(EXPECTED="2", **{ADDRESS: address})
        ended = team.ended(other)

    assert run.all_passed(1), run.text
    assert ended.all_passed(1), ended.text
    assert len({line.split()[-1] for line in team.noted()}) == 2


def test_collecting_starts_no_process_and_loads_no_client(team: Team) -> None:
    tests = "\n".join(f"def test_{n}(postgres_connection, redis_client): pass" for n in range(200))
    team.write("test_many.py", tests)
    team.write(
        "conftest.py",
        """
        import os, sys
        from pathlib import Path
        from notes import note

        def pytest_unconfigure():
            children = Path(f"/proc/self/task/{os.getpid()}/children")
            note(children.read_text() if children.exists() else "")
            clients = {"psycopg", "redis", "memory_matrix.servers.service"}
            note(" ".join(sorted(clients & set(sys.modules))))
        """,
    )

    run = team.run("--collect-only", "-q")

    assert "200 tests collected" in run.text, run.text
    assert [line.strip() for line in team.noted()] == ["", ""]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_tests_without_servers_start_nothing(team: Team, workers: str) -> None:
    team.write(
        "test_plain.py",
        """
        import os, sys
        from notes import note

        def test_plain():
            clients = {"psycopg", "redis", "memory_matrix.servers.service"}
            note(" ".join(sorted(clients & set(sys.modules))))
            note(" ".join(os.listdir(os.environ["TMPDIR"])))
        """,
    )

    run = team.run("-n", workers)

    assert run.all_passed(1), run.text
    assert team.noted() == ["", ""]


def test_a_test_that_leaves_keys_outside_its_prefix_fails(team: Team, address: str) -> None:
    team.write(
        "test_prefix.py",
        """
        def test_inside(redis_prefix, redis_client):
            redis_client.set(redis_prefix + "key", 1)

        def test_outside(redis_prefix, redis_client):
            redis_client.set(redis_prefix + "key", 1)
            redis_client.set("elsewhere", 1)

        def test_after(redis_client):
            assert redis_client.keys() == []
        """,
    )

    run = team.run(**{ADDRESS: address})

    assert run.outcomes == {
        "test_inside": "PASSED",
        "test_outside": "ERROR",
        "test_after": "PASSED",
    }
    assert "the test left keys outside redis_prefix: elsewhere" in run.text


def test_several_servers_run_each_test_several_times(
    team: Team, given_redis_url: str, service: Any
) -> None:
    team.write(
        "test_each.py",
        """
        from notes import note

        def test_server(redis_client, redis_server):
            note(redis_server.url)

        def test_by_name(request):
            request.getfixturevalue("redis_client")

        def test_plain():
            pass
        """,
    )
    with service.private("redis") as second:
        urls = [given_redis_url, second.url]

        run = team.run(*(f"--redis={url}" for url in urls))

    outcomes = run.outcomes
    assert sorted(outcomes.values()) == ["FAILED", "PASSED", "PASSED", "PASSED"], run.text
    assert sum(name.startswith("test_server[127.0.0.1:") for name in outcomes) == 2
    assert sorted(team.noted()) == sorted(urls)
    assert "There are 2 servers to run on: name redis_server" in run.text


@pytest.mark.parametrize("where", ["pytest.ini", "memory-matrix.toml", "pyproject.toml"])
def test_servers_are_found_in_the_projects_files(
    team: Team, given_redis_url: str, where: str
) -> None:
    matrix = f"redis = {json.dumps([given_redis_url])}"
    if where == "pytest.ini":
        team.ini(f"memory_redis = {given_redis_url}")
    elif where == "pyproject.toml":
        team.write(
            where,
            f"[tool.memory-matrix.servers]\n{matrix}\n"
            '[[tool.memory-matrix.environment]]\nname = "now"\npython = "current"\n',
        )
    else:
        team.write(
            where, f'[[environment]]\nname = "now"\npython = "current"\n[servers]\n{matrix}\n'
        )
    team.write(
        "test_given.py",
        "def test_given(redis_server): assert (redis_server.url, redis_server.owned) == "
        f"({given_redis_url!r}, False)",
    )

    run = team.run()

    assert run.all_passed(1), run.text


def test_faults_are_done_to_servers_of_the_tests_own(team: Team, address: str) -> None:
    team.write(
        "test_faults.py",
        """
        import psycopg
        import pytest
        import redis

        def test_redis(faults, redis_client):
            server = faults.redis()
            server.kill()
            with pytest.raises(redis.ConnectionError), redis.Redis.from_url(server.url) as client:
                client.ping()
            server.start()
            with redis.Redis.from_url(server.url) as client:
                assert client.ping()
            assert redis_client.ping()

        def test_postgres(faults):
            server = faults.postgres(max_connections="10")
            with psycopg.connect(server.url) as connection:
                assert connection.execute("SHOW max_connections").fetchone() == ("10",)
        """,
    )

    run = team.run(**{ADDRESS: address})

    assert run.all_passed(2), run.text


def test_a_test_drives_the_stores_that_are_named(team: Team, address: str) -> None:
    team.ini("memory_stores = app/memory.py:adapter")
    team.write("app/memory.py", "from memory_matrix.stores import RedisStore as adapter")
    (team.folder / "tests").mkdir()
    team.write(
        "tests/test_store.py",
        """
        from memory_matrix.stores import Scope

        def test_mine(memory_store):
            memory_store.say(Scope(session="one"), "hello")
            assert memory_store.texts(Scope(session="one")) == ["hello"]
        """,
    )

    run = team.run("-c", "../pytest.ini", cwd=team.folder / "tests", **{ADDRESS: address})

    assert run.code == 0, run.text
    assert [name.split("[")[0] for name in run.outcomes] == ["test_mine"]
    assert "memory suite: 1 passed" in run.text


def test_a_test_of_a_store_is_skipped_where_none_is_named(team: Team) -> None:
    team.write("test_store.py", "def test_mine(memory_store): pass")

    run = team.run()

    assert run.code == 0, run.text
    assert "1 skipped" in run.text
    assert "--store NAME" in run.text
