"""Adapters for the sessions of the OpenAI Agents SDK: on SQLAlchemy with Postgres, and on Redis."""

from __future__ import annotations

from memory_matrix.stores.openai_agents.redis_session import RedisSession
from memory_matrix.stores.openai_agents.sqlalchemy_session import SQLAlchemySession

__all__ = ["RedisSession", "SQLAlchemySession"]
