"""The reference store on Redis and Valkey, plain and for asyncio, with its adapters."""

from memory_matrix.stores.redis.adapter import AsyncRedisAdapter, RedisAdapter
from memory_matrix.stores.redis.async_store import AsyncRedisStore
from memory_matrix.stores.redis.clients import Target
from memory_matrix.stores.redis.conversations import Handle
from memory_matrix.stores.redis.settings import Settings
from memory_matrix.stores.redis.store import RedisStore

__all__ = [
    "AsyncRedisAdapter",
    "AsyncRedisStore",
    "Handle",
    "RedisAdapter",
    "RedisStore",
    "Settings",
    "Target",
]
