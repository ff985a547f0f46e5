"""Adapters for LangChain's chat histories on Postgres."""

from __future__ import annotations

from memory_matrix.stores.langchain_postgres.chat_history import (
    AutocommitPostgresChatMessageHistory,
    PostgresChatMessageHistory,
)

__all__ = ["AutocommitPostgresChatMessageHistory", "PostgresChatMessageHistory"]
