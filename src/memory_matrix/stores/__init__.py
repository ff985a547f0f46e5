"""The store protocol, two reference stores, and adapters for real libraries."""

from __future__ import annotations

from typing import Any

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import (
    Adapter,
    Combine,
    Compare,
    Filter,
    Message,
    Page,
    RawRow,
    Record,
    Scope,
    StoreEnv,
)

__all__ = [
    "Adapter",
    "AsyncPostgresStore",
    "AsyncRedisStore",
    "Combine",
    "Compare",
    "Filter",
    "Message",
    "Page",
    "Policy",
    "PostgresStore",
    "RawRow",
    "Record",
    "RedisStore",
    "Scope",
    "StoreEnv",
]

_STORES = {
    "PostgresStore": "memory_matrix.stores.postgres",
    "AsyncPostgresStore": "memory_matrix.stores.postgres",
    "RedisStore": "memory_matrix.stores.redis",
    "AsyncRedisStore": "memory_matrix.stores.redis",
}


def __getattr__(name: str) -> Any:
    """Import a reference store when it is asked for: each needs its server's client."""
    if name not in _STORES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_STORES[name]), name)
