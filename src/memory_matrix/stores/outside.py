"""A look at a store's tables from outside, for adapters of libraries on Postgres."""

from __future__ import annotations

from typing import Any

from memory_matrix.stores.protocol import StoreEnv


def execute(env: StoreEnv, statement: str, *parameters: Any) -> list[Any]:
    """Run SQL in the store's schema, on a connection of its own; return the rows."""
    import psycopg

    with psycopg.connect(
        str(env.postgres_dsn), autocommit=True, application_name="outside"
    ) as connection:
        cursor = connection.execute(statement.encode(), parameters or None)
        return list(cursor.fetchall()) if cursor.description else []


def hnsw_indexes(env: StoreEnv) -> list[str]:
    """Return the names of the HNSW indexes in the store's schema."""
    found = execute(
        env,
        "SELECT indexname FROM pg_indexes WHERE schemaname = %s AND indexdef LIKE '%% USING hnsw %%'",
        env.schema,
    )
    return [name for (name,) in found]
