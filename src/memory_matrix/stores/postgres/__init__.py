"""PostgresStore: memory of AI agents in Postgres with pgvector, for threads and for asyncio."""

from memory_matrix.stores.postgres.adapter import AsyncPostgresAdapter, PostgresAdapter
from memory_matrix.stores.postgres.async_store import AsyncPostgresStore
from memory_matrix.stores.postgres.plans import Handle
from memory_matrix.stores.postgres.store import PostgresStore

__all__ = [
    "AsyncPostgresAdapter",
    "AsyncPostgresStore",
    "Handle",
    "PostgresAdapter",
    "PostgresStore",
]
