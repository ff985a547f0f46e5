"""Adapters for LlamaIndex's memory on Postgres: the chat store and the vector store."""

from __future__ import annotations

from memory_matrix.stores.llama_index.chat_store import (
    PostgresChatStore,
    SearchPathPostgresChatStore,
)
from memory_matrix.stores.llama_index.vector_store import PGVectorStore

__all__ = ["PGVectorStore", "PostgresChatStore", "SearchPathPostgresChatStore"]
