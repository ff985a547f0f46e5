"""Stores on Postgres, and a look at their tables from outside, on a connection of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from memory_matrix.stores.adapting.opening import Store
from memory_matrix.stores.protocol import RawRow, Scope, StoreEnv

_ROWS = """
    SELECT (row - 'expires_at')::text, (row ->> 'expires_at')::timestamptz
    FROM {table} AS each, to_jsonb(each) AS row WHERE {condition}
"""
"""A row without the end of its time to live, which may change; most have no such column."""
_HNSW = """
    SELECT indexname FROM pg_indexes WHERE schemaname = %s AND indexdef LIKE '%% USING hnsw %%'
"""


class OnPostgres(ABC):
    """An adapter for a library that keeps a scope in rows of tables of its own."""

    needs = ("postgres",)
    table_names: tuple[str, ...]

    def tables(self, store: Store) -> list[str]:
        """Return the names of the tables."""
        return list(self.table_names)

    def raw_rows(self, store: Store, scope: Scope) -> list[RawRow]:
        """Return the rows that hold what a scope has."""
        return [
            row
            for table, columns in self._where(scope).items()
            for row in rows(store.env, table, columns)
        ]

    @abstractmethod
    def _where(self, scope: Scope) -> Mapping[str, Mapping[str, Any]]:
        """Return by table what the columns of the scope's rows are."""


class OnPgvector(OnPostgres):
    """The same for one that finds records by an HNSW index of pgvector."""

    def indexes(self, store: Store) -> list[str]:
        """Return the names of the vector indexes."""
        return [name for (name,) in execute(store.env, _HNSW, store.env.schema)]


def execute(env: StoreEnv, statement: str, *parameters: Any) -> list[Any]:
    """Run SQL in the store's schema; return the rows."""
    import psycopg

    with psycopg.connect(
        str(env.postgres_dsn), autocommit=True, application_name="outside"
    ) as connection:
        cursor = connection.execute(statement.encode(), parameters or None)
        return list(cursor.fetchall()) if cursor.description else []


def there(env: StoreEnv, tables: Iterable[str]) -> list[str]:
    """Return which of `tables` there are in the store's schema."""
    return [each for each in tables if execute(env, "SELECT to_regclass(%s)", each) != [(None,)]]


def rows(env: StoreEnv, table: str, columns: Mapping[str, Any]) -> list[RawRow]:
    """Return the rows of a table by what their columns are; none if it is not there."""
    if not there(env, [table]):
        return []
    condition = " AND ".join(f"{column} = %s" for column in columns)
    statement = _ROWS.format(table=table, condition=condition)
    return [RawRow(table, *row) for row in execute(env, statement, *columns.values())]


def connect_timeout(env: StoreEnv) -> int:
    """Return how long to wait for a connection, as libpq takes it: in whole seconds, two at least."""
    return max(2, round(env.wait))
