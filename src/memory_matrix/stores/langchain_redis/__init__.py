"""The adapter for LangChain's chat history on a Redis with search."""

from __future__ import annotations

from memory_matrix.stores.langchain_redis.chat_history import RedisChatMessageHistory

__all__ = ["RedisChatMessageHistory"]
