"""The adapter for `SQLAlchemySession`, on Postgres through asyncpg as its documentation has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_matrix.stores.adapting.on_postgres import OnPostgres, execute
from memory_matrix.stores.adapting.on_sqlalchemy import OnAsyncEngine, SqlAlchemy
from memory_matrix.stores.adapting.opening import AsyncOnClient, AsyncOpened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.openai_agents.items import POLICY, PROJECT, items, message, messages
from memory_matrix.stores.protocol import Message, Scope, StoreEnv

WITH_EXTRA = f"{PROJECT}[sqlalchemy]"
SESSIONS, MESSAGES = "agent_sessions", "agent_messages"

_CORRUPT = f"""
    UPDATE {MESSAGES} SET message_data = '{{not json' WHERE id =
    (SELECT id FROM {MESSAGES} WHERE session_id = %s ORDER BY created_at, id LIMIT 1 OFFSET %s)
"""  # noqa: S608 - own names


class SQLAlchemySession(OnPostgres, OnAsyncEngine, AsyncOnClient):
    """One session object per call, all on one engine; the session's id is the scope's session."""

    project, client_project = WITH_EXTRA, "asyncpg"
    table_names = (SESSIONS, MESSAGES)
    policy = POLICY

    def __init__(self) -> None:
        module = "agents.extensions.memory.sqlalchemy_session"
        self._session = required(WITH_EXTRA, module, "SQLAlchemySession")
        self._engine = required(WITH_EXTRA, "sqlalchemy.ext.asyncio", "create_async_engine")
        self._sqlalchemy = SqlAlchemy(WITH_EXTRA)
        self.refusals = self._sqlalchemy.refusals

    def client(self, env: StoreEnv) -> Any:
        """Return an engine."""
        url, more = self._sqlalchemy.on_asyncpg(env)
        return self._engine(url, **more)

    async def setup(self, store: AsyncOpened) -> None:
        """Make the tables, as the first use of a session does."""
        with self._sqlalchemy.ending():
            await self._of(store, "setup").get_items(limit=1)

    async def append(self, store: AsyncOpened, scope: Scope, given: Sequence[Message]) -> None:
        """Add items."""
        with self._sqlalchemy.ending():
            await self._of(store, scope.session).add_items(items(given))

    async def read(
        self, store: AsyncOpened, scope: Scope, *, limit: int | None = None
    ) -> list[Message]:
        """Return the items, or the newest."""
        with self._sqlalchemy.ending():
            return messages(await self._of(store, scope.session).get_items(limit=limit))

    async def pop(self, store: AsyncOpened, scope: Scope) -> Message | None:
        """Remove and return the newest item."""
        with self._sqlalchemy.ending():
            item = await self._of(store, scope.session).pop_item()
        return None if item is None else message(item)

    async def clear(self, store: AsyncOpened, scope: Scope) -> None:
        """Delete the session."""
        with self._sqlalchemy.ending():
            await self._of(store, scope.session).clear_session()

    def corrupt(self, store: AsyncOpened, scope: Scope, index: int) -> None:
        """Cut an item's JSON off."""
        execute(store.env, _CORRUPT, scope.session, index)

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {table: {"session_id": scope.session} for table in self.table_names}

    def _of(self, store: AsyncOpened, session: str) -> Any:
        return self._session(session, engine=store.client, create_tables=True)
