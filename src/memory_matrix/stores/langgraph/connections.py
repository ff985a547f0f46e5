"""What LangGraph's savers and stores on Postgres have in common: their connections, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory_matrix.stores.adapting import requiring
from memory_matrix.stores.adapting.on_postgres import connect_timeout
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.protocol import StoreEnv

PROJECT = "langgraph-checkpoint-postgres"

_REFUSALS = ("OperationalError", "ReadOnlySqlTransaction")


def refusals() -> tuple[type[Exception], ...]:
    """Return the errors by which the library refuses."""
    return requiring.refusals(PROJECT, "psycopg.errors", *_REFUSALS)


def conn_string(env: StoreEnv) -> str:
    """Return what `from_conn_string` takes: the URL of `env`, and how long to wait for a connection."""
    make: Callable[..., str] = required(PROJECT, "psycopg.conninfo", "make_conninfo")
    return make(env.postgres_dsn, connect_timeout=connect_timeout(env))


def open_pool(env: StoreEnv, **more: Any) -> Any:
    """Return a pool with the settings that the library asks for; `more` are psycopg's own."""
    pool = required(PROJECT, "psycopg_pool", "ConnectionPool")
    return pool(
        env.postgres_dsn,
        min_size=1,
        max_size=env.pool_size,
        timeout=env.wait,
        check=pool.check_connection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": required(PROJECT, "psycopg.rows", "dict_row"),
            **more,
        },
    )
