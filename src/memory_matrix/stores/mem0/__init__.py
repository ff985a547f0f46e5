"""The adapter for the vector store of mem0 on Postgres."""

from __future__ import annotations

from memory_matrix.stores.mem0.pgvector import PGVector

__all__ = ["PGVector"]
