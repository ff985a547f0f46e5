"""Adapters for LangGraph's memory on Postgres and on Redis: the checkpointers and the stores."""

from __future__ import annotations

from memory_matrix.stores.langgraph.records import (
    AsyncPostgresStore,
    PostgresStore,
    TunedPostgresStore,
)
from memory_matrix.stores.langgraph.redis_saver import RedisSaver
from memory_matrix.stores.langgraph.redis_store import (
    FlatIndexedRedisStore,
    IndexedRedisStore,
    RedisStore,
)
from memory_matrix.stores.langgraph.savers import (
    AsyncPostgresSaver,
    PooledPostgresSaver,
    PostgresSaver,
)

__all__ = [
    "AsyncPostgresSaver",
    "AsyncPostgresStore",
    "FlatIndexedRedisStore",
    "IndexedRedisStore",
    "PooledPostgresSaver",
    "PostgresSaver",
    "PostgresStore",
    "RedisSaver",
    "RedisStore",
    "TunedPostgresStore",
]
