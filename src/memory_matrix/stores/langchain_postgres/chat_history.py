"""The adapter for `PostgresChatMessageHistory`, on one connection as the library takes it.

A session's id has to be a UUID there, and is made of the scope's session: what cases find of odd ids holds
of no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from memory_matrix.stores.adapting.langchain_messages import LangChainMessages
from memory_matrix.stores.adapting.on_postgres import OnPostgres, connect_timeout, execute
from memory_matrix.stores.adapting.opening import OnClient, Opened
from memory_matrix.stores.adapting.requiring import refusals, required
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Scope, StoreEnv

PROJECT = "langchain-postgres"
TABLE = "chat_history"

_REFUSALS = ("OperationalError", "InterfaceError", "ReadOnlySqlTransaction")


class PostgresChatMessageHistory(OnPostgres, OnClient):
    """One history object per call, all on one connection that is made as the documentation does."""

    project = PROJECT
    table_names = (TABLE,)
    policy = Policy(
        non_string_keys="text",  # messages are JSON
        value_kinds={"tuple": "plain"},
        message_fields=("id", "role", "text", "metadata", "tool"),
        connection="single",
    )
    autocommit = False

    def __init__(self) -> None:
        self._history = required(PROJECT, PROJECT.replace("-", "_"), "PostgresChatMessageHistory")
        self._messages = LangChainMessages(PROJECT)
        self._connect = required(PROJECT, "psycopg", "connect")
        self.refusals = refusals(PROJECT, "psycopg.errors", *_REFUSALS)

    def client(self, env: StoreEnv, *, single: bool = True) -> Any:
        """Return a connection: the library takes no pool."""
        return self._connect(
            env.postgres_dsn, autocommit=self.autocommit, connect_timeout=connect_timeout(env)
        )

    def client_works(self, client: Any) -> bool:
        """Return whether the connection answers."""
        return bool(client.execute("SELECT true").fetchone()[0])

    def close_client(self, client: Any) -> None:
        """Close the connection."""
        client.close()

    def setup(self, store: Opened) -> None:
        """Make the table."""
        self._history.create_tables(store.client, TABLE)

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Add messages."""
        self._of(store, scope).add_messages(self._messages.written(messages))

    def read(self, store: Opened, scope: Scope) -> list[Message]:
        """Return the messages."""
        return self._messages.read(self._of(store, scope).get_messages())

    def replace(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Set the messages."""
        self._of(store, scope).messages = self._messages.written(messages)

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the messages."""
        self._of(store, scope).clear()

    def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Let a message be of a type that there is not."""
        broken = f"""
            UPDATE {TABLE} SET message = '{{"type": "nothing", "data": {{}}}}' WHERE id =
            (SELECT id FROM {TABLE} WHERE session_id = %s ORDER BY id LIMIT 1 OFFSET %s)
        """  # noqa: S608 - own name
        execute(store.env, broken, _id(scope), index)

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {TABLE: {"session_id": _id(scope)}}

    def _of(self, store: Opened, scope: Scope) -> Any:
        return self._history(TABLE, _id(scope), sync_connection=store.client)


class AutocommitPostgresChatMessageHistory(PostgresChatMessageHistory):
    """The same on a connection with autocommit, which no call leaves in a transaction."""

    autocommit = True


def _id(scope: Scope) -> Any:
    """Return the session's name as a UUID; what is no name is left to the library to refuse."""
    name: object = scope.session
    return str(uuid5(NAMESPACE_URL, name)) if isinstance(name, str) else name
