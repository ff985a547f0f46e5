"""The adapter for the sessions of Agno."""

from __future__ import annotations

from memory_matrix.stores.agno.postgres_db import PostgresDb

__all__ = ["PostgresDb"]
