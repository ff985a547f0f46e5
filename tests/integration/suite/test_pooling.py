"""The transaction pool, as psycopg sees it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from memory_matrix.suite.options import EMBEDDED
from memory_matrix.suite.pooling import transaction_pool
from memory_matrix.suite.worker import Worker

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def dsn(suite_worker: Worker) -> Iterator[str]:
    with transaction_pool(suite_worker.postgres(EMBEDDED).url) as pooled:
        yield pooled


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as made:
        yield made


def _session(connection: Connection) -> object:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return row[0]


def test_each_transaction_has_another_session(connection: Connection) -> None:
    first, second = _session(connection), _session(connection)

    assert first != second


def test_a_transaction_stays_in_its_session(connection: Connection) -> None:
    with connection.transaction():
        assert len({_session(connection) for _ in range(3)}) == 1


def test_a_prepared_statement_is_not_where_it_was_left(dsn: str) -> None:
    lost = pytest.raises(psycopg.errors.InvalidSqlStatementName)
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=0) as connection, lost:
        connection.execute("SELECT 1")


def test_pipelines_and_copies_go_through(connection: Connection) -> None:
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int", (number,)) for number in range(50)]
        assert [cursor.fetchone() for cursor in cursors] == [(number,) for number in range(50)]
    with connection.transaction():
        connection.execute("CREATE TEMPORARY TABLE copied (number int) ON COMMIT DROP")
        with connection.cursor().copy("COPY copied FROM STDIN") as copy:
            for number in range(1000):
                copy.write_row((number,))
        assert connection.execute("SELECT count(*) FROM copied").fetchone() == (1000,)
    with connection.cursor().copy("COPY (SELECT generate_series(1, 1000)) TO STDOUT") as copy:
        assert len(list(copy.rows())) == 1000


def test_an_error_gives_the_session_back(connection: Connection) -> None:
    for _ in range(10):
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            connection.execute("SELECT 1 / 0")

    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_client_that_leaves_in_a_transaction_takes_it_along(
    dsn: str, connection: Connection
) -> None:
    for _ in range(5):
        leaving = psycopg.connect(dsn)
        leaving.execute("SELECT pg_advisory_xact_lock(4711)")
        leaving.close()

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(4711)")


def test_more_clients_than_sessions_wait_for_each_other(dsn: str) -> None:
    def work(_: int) -> object:
        with psycopg.connect(dsn, prepare_threshold=None) as connection:
            return connection.execute("SELECT 1").fetchone()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [(1,)] * 16


def test_a_call_can_be_cancelled(connection: Connection) -> None:
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(connection.execute, "SELECT pg_sleep(60)")
        while not slow.done():
            connection.cancel_safe(timeout=5)
        with pytest.raises(psycopg.errors.QueryCanceled):
            slow.result()
