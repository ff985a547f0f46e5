"""Adapters for LangGraph's memory on Postgres: the checkpointers and the stores."""

from __future__ import annotations

from memory_matrix.stores.langgraph.records import (
    AsyncPostgresStore,
    PostgresStore,
    TunedPostgresStore,
)
from memory_matrix.stores.langgraph.savers import (
    AsyncPostgresSaver,
    PooledPostgresSaver,
    PostgresSaver,
)

__all__ = [
    "AsyncPostgresSaver",
    "AsyncPostgresStore",
    "PooledPostgresSaver",
    "PostgresSaver",
    "PostgresStore",
    "TunedPostgresStore",
]
