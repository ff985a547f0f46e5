"""The adapter for `PostgresChatStore`: a key's messages, which are one row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from memory_matrix.stores.adapting.on_postgres import OnPostgres, execute
from memory_matrix.stores.adapting.on_sqlalchemy import OnEngine, SqlAlchemy
from memory_matrix.stores.adapting.opening import OnClient, Opened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import extras, of_extras
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Page, Scope, StoreEnv

PROJECT = "llama-index-storage-chat-store-postgres"
TABLE = "chatstore"

_SEARCH_PATH = re.compile(r"-c\s*search_path=\S*")


class PostgresChatStore(OnPostgres, OnEngine, OnClient):
    """A chat store in the schema that it is told by `schema_name`; its key is the scope's session."""

    project = PROJECT
    table_names = (TABLE,)
    policy = Policy(
        # A message is kept as pydantic writes it in JSON.
        nul="keep",
        nan="none",
        non_string_keys="text",
        value_kinds={
            **dict.fromkeys(("datetime", "uuid", "decimal", "bytes"), "text"),
            **dict.fromkeys(("set", "tuple", "enum"), "plain"),
        },
        message_fields=("role", "text", "metadata", "tool"),
        delete_by="index",
        batch="single",
    )

    def __init__(self) -> None:
        self._store = required(
            PROJECT, "llama_index.storage.chat_store.postgres", "PostgresChatStore"
        )
        self._message = required(PROJECT, "llama_index.core.llms", "ChatMessage")
        self._engine = required(PROJECT, "sqlalchemy", "create_engine")
        self._sessions = required(PROJECT, "sqlalchemy.orm", "sessionmaker")
        self._sqlalchemy = SqlAlchemy(PROJECT, "InternalError")  # that a server is read-only
        self.refusals = self._sqlalchemy.refusals

    def client(self, env: StoreEnv) -> Any:
        """Return an engine."""
        url, more = self._sqlalchemy.on_psycopg(env)
        return self._engine(self._reached(url), **more)

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a store on an engine of the caller's; opening makes the table."""
        nothing_async: Any = None
        sessions = self._sessions(client)
        made = self._store(sessions, nothing_async, TABLE, schema_name=env.schema)
        return Opened(env, made, client)

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Add messages, one by one as the library does."""
        for message in messages:
            store.library.add_message(scope.session, self._chat_message(message))

    def read(self, store: Opened, scope: Scope) -> list[Message]:
        """Return the messages."""
        return [_message(each) for each in store.library.get_messages(scope.session)]

    def replace(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Set the messages."""
        store.library.set_messages(scope.session, [self._chat_message(each) for each in messages])

    def pop(self, store: Opened, scope: Scope) -> Message | None:
        """Delete and return the last message."""
        found = store.library.delete_last_message(scope.session)
        return None if found is None else _message(found)

    def delete_message(self, store: Opened, scope: Scope, which: int) -> None:
        """Delete the message at an index."""
        store.library.delete_message(scope.session, which)

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the key."""
        store.library.delete_messages(scope.session)

    def list_sessions(self, store: Opened, scope: Scope) -> Page:
        """Return the keys."""
        return Page(list(store.library.get_keys()))

    def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Take all of a message but a role that there is not."""
        broken = f"""UPDATE {TABLE} SET value[%s] = '{{"role": "nobody"}}' WHERE key = %s"""  # noqa: S608 - own name
        execute(store.env, broken, index + 1, scope.session)

    def _reached(self, url: Any) -> Any:
        """Return the URL without a search_path: the library is told the schema."""
        options = _SEARCH_PATH.sub("", url.query.get("options", ""))
        return url.update_query_dict({"options": options})

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {TABLE: {"key": scope.session}}

    def _chat_message(self, message: Message) -> Any:
        more = extras(message)
        return self._message(role=message.role, content=message.text, additional_kwargs=more)


class SearchPathPostgresChatStore(PostgresChatStore):
    """The same, with the schema in the search_path of its connections too."""

    def _reached(self, url: Any) -> Any:
        return url


def _message(found: Any) -> Message:
    return Message(found.role.value, found.content, **of_extras(found.additional_kwargs))
