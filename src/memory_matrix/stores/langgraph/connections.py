"""What savers and stores have in common: how they are opened, and a look at their tables from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory_matrix.stores.outside import execute
from memory_matrix.stores.protocol import RawRow, StoreEnv
from memory_matrix.stores.requiring import required

PROJECT = "langgraph-checkpoint-postgres"

_ROWS = """
    SELECT (row - 'value' - 'expires_at')::text, (row ->> 'expires_at')::timestamptz
    FROM {table} AS each, to_jsonb(each) AS row WHERE {column} = %s
"""
"""Some releases have no column of that name."""

StackT = TypeVar("StackT", ExitStack, AsyncExitStack)


@dataclass(frozen=True)
class Opened(Generic[StackT]):
    """One of the library's objects, with what has to be left when it is closed."""

    library: Any
    env: StoreEnv
    stack: StackT


def refusals() -> tuple[type[Exception], ...]:
    """Return the errors by which the library refuses.

    It hands on what psycopg says of connections and servers, which its callers give it; what psycopg
    says of data is no refusal but a value that the library should have checked or cleaned.
    """
    names = ("OperationalError", "ReadOnlySqlTransaction")
    own = (required(PROJECT, "psycopg.errors", name) for name in names)
    return (ValueError, TypeError, LookupError, *own)


def conn_string(env: StoreEnv) -> str:
    """Return what `from_conn_string` takes: the URL of `env`, and how long to wait for a connection."""
    make: Callable[..., str] = required(PROJECT, "psycopg.conninfo", "make_conninfo")
    return make(env.postgres_dsn, connect_timeout=max(2, round(env.wait)))


def rows(env: StoreEnv, tables: Sequence[str], column: str, key: str) -> list[RawRow]:
    """Return the rows of `tables` whose `column` is `key`; those that are not there have none."""
    found = []
    for table in tables:
        if execute(env, "SELECT to_regclass(%s)", table) == [(None,)]:
            continue
        statement = _ROWS.format(table=table, column=column)
        found += [RawRow(table, *row) for row in execute(env, statement, key)]
    return found
