"""The adapter for `SQLAlchemySession`, on Postgres through asyncpg as its documentation has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_matrix.stores.engines import SqlAlchemy
from memory_matrix.stores.openai_agents.items import POLICY, PROJECT, items, message, messages
from memory_matrix.stores.protocol import Message, NotOffered, RawRow, Scope, StoreEnv
from memory_matrix.stores.requiring import required

WITH_EXTRA = f"{PROJECT}[sqlalchemy]"
SESSIONS, MESSAGES = "agent_sessions", "agent_messages"

_CORRUPT = f"""
    UPDATE {MESSAGES} SET message_data = '{{not json' WHERE id =
    (SELECT id FROM {MESSAGES} WHERE session_id = :session ORDER BY created_at, id
     LIMIT 1 OFFSET :index)
"""  # noqa: S608 - own names


@dataclass
class Opened:
    """An engine, for sessions that are made when they are used."""

    engine: Any
    owned: bool
    closed: bool = False


class SQLAlchemySession:
    """One session object per call, all on one engine; the session's id is the scope's session."""

    needs = ("postgres",)
    policy = POLICY

    def __init__(self) -> None:
        module = "agents.extensions.memory.sqlalchemy_session"
        self._session = required(WITH_EXTRA, module, "SQLAlchemySession")
        self._engine = required(WITH_EXTRA, "sqlalchemy.ext.asyncio", "create_async_engine")
        self._sqlalchemy = SqlAlchemy(WITH_EXTRA)
        self.refusals = self._sqlalchemy.refusals

    def open(self, env: StoreEnv) -> Opened:
        """Return an engine of its own; it connects when it is used."""
        return Opened(self.client(env), owned=True)

    def client(self, env: StoreEnv) -> Any:
        """Return an engine."""
        url, more = self._sqlalchemy.on_asyncpg(env)
        return self._engine(url, **more)

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return sessions on an engine of the caller's."""
        return Opened(client, owned=False)

    async def client_works(self, client: Any) -> bool:
        """Return whether the engine answers."""
        async with client.connect() as connection:
            return bool(await connection.scalar(self._sqlalchemy.text("SELECT true")))

    async def close_client(self, client: Any) -> None:
        """Close the engine's connections."""
        await client.dispose()

    async def setup(self, store: Opened) -> None:
        """Make the tables, as the first use of a session does."""
        with self._sqlalchemy.ending():
            await self._of(store, "setup").get_items(limit=1)

    async def close(self, store: Opened) -> None:
        """Close the engine's connections.

        Raises:
            NotOffered: it was closed before; a session has no `close`, and an engine goes on after it.
        """
        if store.closed:
            raise NotOffered("SQLAlchemySession has no close of its own")
        store.closed = True
        if store.owned:
            await store.engine.dispose()

    async def append(self, store: Opened, scope: Scope, given: Sequence[Message]) -> None:
        """Add items."""
        with self._sqlalchemy.ending():
            await self._of(store, scope.session).add_items(items(given))

    async def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the items, or the newest."""
        with self._sqlalchemy.ending():
            return messages(await self._of(store, scope.session).get_items(limit=limit))

    async def pop(self, store: Opened, scope: Scope) -> Message | None:
        """Remove and return the newest item."""
        with self._sqlalchemy.ending():
            item = await self._of(store, scope.session).pop_item()
        return None if item is None else message(item)

    async def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the session."""
        with self._sqlalchemy.ending():
            await self._of(store, scope.session).clear_session()

    def tables(self, store: Opened) -> list[str]:
        """Return the tables of sessions and messages."""
        return [SESSIONS, MESSAGES]

    async def raw_rows(self, store: Opened, scope: Scope) -> list[RawRow]:
        """Return the rows of a session."""
        found = []
        async with store.engine.connect() as connection:
            for table, column in ((SESSIONS, "session_id"), (MESSAGES, "id")):
                statement = f"SELECT {column} FROM {table} WHERE session_id = :session"  # noqa: S608 - own names
                rows = await connection.execute(
                    self._sqlalchemy.text(statement), {"session": scope.session}
                )
                found += [RawRow(table, str(key)) for (key,) in rows]
        return found

    async def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Cut an item's JSON off."""
        async with store.engine.begin() as connection:
            await connection.execute(
                self._sqlalchemy.text(_CORRUPT), {"session": scope.session, "index": index}
            )

    def _of(self, store: Opened, session: str) -> Any:
        return self._session(session, engine=store.engine, create_tables=True)
