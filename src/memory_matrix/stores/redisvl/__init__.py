"""The adapter for the message history of redisvl, on a Redis with search."""

from __future__ import annotations

from memory_matrix.stores.redisvl.message_history import MessageHistory

__all__ = ["MessageHistory"]
