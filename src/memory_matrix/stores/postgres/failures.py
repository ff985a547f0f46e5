"""What the driver raises, in the store's own errors."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from memory_matrix.stores.errors import (
    ClosedError,
    ConflictError,
    FullError,
    ReadOnlyError,
    RefusedError,
    RightsError,
    SchemaError,
    ServerError,
    StoreError,
    UnreachableError,
    WaitError,
)
from memory_matrix.stores.postgres.values import line

_Kinds = tuple[type[psycopg.Error], ...]

RETRIED = (errors.DeadlockDetected, errors.SerializationFailure)
"""The server undid all of the call: it can be made again."""

# The first that fits: a class comes before what it is derived from.
_KINDS: tuple[tuple[_Kinds, type[StoreError], str], ...] = (
    ((PoolClosed,), ClosedError, "The pool that the store was given is closed."),
    ((PoolTimeout, TooManyRequests), WaitError, "No connection was free in time: {said}."),
    (
        (errors.QueryCanceled, errors.LockNotAvailable),
        WaitError,
        "The call took too long and was cancelled, so nothing of it was done: {said}.",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        ReadOnlyError,
        "The server takes no writes: it is a replica, or set to read only.",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded),
        FullError,
        "The server has no room: {said}.",
    ),
    ((errors.InsufficientPrivilege,), RightsError, "The user may not do this: {said}."),
    (
        (
            *(errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction),
            *(errors.UndefinedObject, errors.InvalidSchemaName, errors.FeatureNotSupported),
        ),
        SchemaError,
        "The server lacks what the store needs; was `setup()` called? It says: {said}.",
    ),
    (
        (*RETRIED, psycopg.IntegrityError),
        ConflictError,
        "Somebody else wrote at the same time, so nothing of this was done: {said}.",
    ),
    (
        (psycopg.DataError, errors.ProgramLimitExceeded, errors.StatementTooComplex),
        RefusedError,
        "The server does not take it: {said}.",
    ),
    (
        (errors.InFailedSqlTransaction,),
        ServerError,
        "The given connection is in a transaction that has failed; roll it back.",
    ),
)


class SilentError(psycopg.OperationalError):
    """The server gave no answer in time, nor to the request to cancel."""


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection is gone: it broke, or the server ended it."""
    state = error.sqlstate or ""
    if isinstance(error, PoolClosed | PoolTimeout | TooManyRequests | SilentError):
        return False
    if not state:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith("08") or state in {"57P01", "57P02", "57P03", "57P05", "25P03"}


def translated(error: psycopg.Error, reason: str | None = None) -> StoreError:
    """Return the store's error for the driver's, in one sentence.

    `reason` says why the last connection could not be made, where none was to be had.
    """
    if isinstance(error, SilentError):
        return WaitError(f"{line(error)}.")
    if isinstance(error, PoolTimeout) and reason is not None:
        return UnreachableError(f"The server cannot be reached: {reason}.")
    for kinds, raised, sentence in _KINDS:
        if isinstance(error, kinds):
            return raised(sentence.format(said=_said(error)))
    if is_lost(error):
        return UnreachableError(f"The connection to the server is lost: {_said(error)}.")
    return ServerError(f"The server refused the call: {_said(error)}.")


def _said(error: psycopg.Error) -> str:
    """Return what the server says, without the statement and the values."""
    return (error.diag.message_primary or line(error)).rstrip(".")
