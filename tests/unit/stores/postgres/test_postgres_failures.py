"""Whatever the driver raises, the store raises an error of its own, in one sentence."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from memory_matrix.stores import errors as store_errors
from memory_matrix.stores.postgres.failures import SilentError, is_lost, translated
from support.tables import table

CASES = [
    (errors.ReadOnlySqlTransaction, store_errors.ReadOnlyError),
    (errors.DiskFull, store_errors.FullError),
    (errors.OutOfMemory, store_errors.FullError),
    (errors.InsufficientPrivilege, store_errors.RightsError),
    (errors.UndefinedTable, store_errors.SchemaError),
    (errors.QueryCanceled, store_errors.WaitError),
    (errors.LockNotAvailable, store_errors.WaitError),
    (errors.DeadlockDetected, store_errors.ConflictError),
    (errors.UniqueViolation, store_errors.ConflictError),
    (errors.UntranslatableCharacter, store_errors.RefusedError),
    (errors.ProgramLimitExceeded, store_errors.RefusedError),
    (errors.AdminShutdown, store_errors.UnreachableError),
    (errors.CannotConnectNow, store_errors.UnreachableError),
    (errors.InFailedSqlTransaction, store_errors.ServerError),
    (errors.InternalError_, store_errors.ServerError),
    (PoolClosed, store_errors.ClosedError),
    (PoolTimeout, store_errors.WaitError),
    (SilentError, store_errors.WaitError),
    (psycopg.OperationalError, store_errors.UnreachableError),
    (psycopg.InterfaceError, store_errors.UnreachableError),
    (psycopg.ProgrammingError, store_errors.ServerError),
]


@table(("raised", "wanted"), CASES)
def test_each_error_has_its_own_kind_and_one_line(
    raised: type[psycopg.Error], wanted: type[Exception]
) -> None:
    found = translated(raised("what it says\n{} and more"))
    assert type(found) is wanted
    assert "\n" not in str(found)
    assert str(found).endswith(".")


@table("raised", [each for each, _ in CASES])
def test_only_what_ends_a_connection_counts_as_lost(raised: type[psycopg.Error]) -> None:
    lost = {errors.AdminShutdown, errors.CannotConnectNow}
    lost |= {psycopg.OperationalError, psycopg.InterfaceError}
    assert is_lost(raised("")) == (raised in lost)


def test_the_reason_for_having_no_connection_is_given() -> None:
    found = translated(PoolTimeout("after 5 s"), "Connection refused")
    assert type(found) is store_errors.UnreachableError
    assert "Connection refused" in str(found)
