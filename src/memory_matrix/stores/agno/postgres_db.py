"""The adapter for the sessions of `PostgresDb`: what is appended at once is the messages of one run.

A handle is the library's `AgentSession`. It is read, changed and written as an agent does with each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from time import time
from typing import Any
from uuid import uuid4

from memory_matrix.stores.adapting.on_postgres import OnPostgres
from memory_matrix.stores.adapting.on_sqlalchemy import OnEngine, SqlAlchemy
from memory_matrix.stores.adapting.opening import Opened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import epoch
from memory_matrix.stores.policy import MESSAGE_FIELDS, Policy
from memory_matrix.stores.protocol import Message, NotOffered, Page, Scope, StoreEnv

PROJECT = "agno"
WITH_EXTRA = f"{PROJECT}[postgres]"
SESSIONS, RUNS = "agno_sessions", "agno_runs"
AGENT = "agent"
STATE = "session_state"


class PostgresDb(OnPostgres, OnEngine):
    """One database object; a session is the scope's session, of the scope's user."""

    project = WITH_EXTRA
    table_names = (SESSIONS, RUNS)
    policy = Policy(
        # Metadata is a message's provider_data.
        nul="clean",
        value_kinds={"tuple": "plain"},
        message_fields=MESSAGE_FIELDS,
        scope_parts=("user", "session"),
        limit_negative="none",
        list_order="created",
        list_direction="down",
        cursor="offset",
    )

    def __init__(self) -> None:
        self._db = required(WITH_EXTRA, "agno.db.postgres", "PostgresDb")
        self._engine = required(WITH_EXTRA, "agno.db.postgres", "create_postgres_engine")
        self._type = required(PROJECT, "agno.db.base", "SessionType").AGENT
        self._session = required(PROJECT, "agno.session.agent", "AgentSession")
        self._run = required(PROJECT, "agno.run.agent", "RunOutput")
        self._completed = required(PROJECT, "agno.run.base", "RunStatus").completed
        self._message = required(PROJECT, "agno.models.message", "Message")
        self._sqlalchemy = SqlAlchemy(WITH_EXTRA)
        self.refusals = self._sqlalchemy.refusals

    def open(self, env: StoreEnv) -> Opened:
        """Return a database on an engine of its own; it connects when it is used."""
        return self.open_with(env, self.client(env))

    def client(self, env: StoreEnv) -> Any:
        """Return an engine."""
        url, settings = self._sqlalchemy.on_psycopg(env)
        return self._engine(url, **settings)

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a database on an engine of the caller's."""
        return Opened(env, self._db(db_engine=client, db_schema=env.schema))

    def close(self, store: Opened) -> None:
        """Close the database."""
        store.library.close()

    def setup(self, store: Opened) -> None:
        """Make the tables, as the first write does."""
        scope = Scope(session=f"setup {uuid4()}", user="setup")
        self.append(store, scope, [Message("user", "setup")])
        self.clear(store, scope)

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Add a run to the session as it is now."""
        if messages:
            self.append_with(store, self.load(store, scope), messages)

    def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the messages of the session, or the newest."""
        session = self._load(store, scope)
        return [] if session is None else list(map(_message, session.get_messages(limit=limit)))

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the session."""
        with self._sqlalchemy.ending():
            store.library.delete_session(scope.session, user_id=scope.user)

    def list_sessions(
        self,
        store: Opened,
        scope: Scope,
        *,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of a user's sessions, the newest first; a cursor is the number of a page."""
        page = cursor or 1
        asked = {} if limit is None else {"limit": limit, "page": page}
        with self._sqlalchemy.ending():
            found, total = store.library.get_sessions(
                session_type=self._type,
                user_id=scope.user,
                sort_by="created_at",
                deserialize=False,
                include_runs=False,
                **asked,
            )
        more = limit is not None and page * limit < total
        return Page([each["session_id"] for each in found], page + 1 if more else None, total)

    def load(self, store: Opened, scope: Scope) -> Any:
        """Return the session as it is now, or a new one, which is not stored yet."""
        session = self._load(store, scope)
        return session or self._session(
            session_id=scope.session,
            agent_id=AGENT,
            user_id=scope.user,
            session_data={},
            created_at=int(time()),
        )

    def append_with(self, store: Opened, handle: Any, messages: Sequence[Message]) -> None:
        """Add a run to a session, and write both."""
        run = self._run(
            run_id=str(uuid4()),
            agent_id=AGENT,
            session_id=handle.session_id,
            user_id=handle.user_id,
            messages=[self._message_of(each) for each in messages],
            status=self._completed,
        )
        handle.upsert_run(run)
        with self._sqlalchemy.ending():
            store.library.upsert_session(handle)
            store.library.upsert_run(
                run,
                session_id=handle.session_id,
                user_id=handle.user_id,
                run_index=len(handle.runs) - 1,
            )

    def set_state(self, store: Opened, handle: Any, delta: Mapping[str, Any]) -> None:
        """Change the state of a session, and write it."""
        data = handle.session_data or {}
        handle.session_data = {**data, STATE: {**data.get(STATE, {}), **delta}}
        with self._sqlalchemy.ending():
            store.library.upsert_session(handle)

    def get_state(self, store: Opened, scope: Scope) -> dict[str, Any]:
        """Return the state of a session."""
        session = self._load(store, scope)
        return {} if session is None else (session.session_data or {}).get(STATE, {})

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {table: {"session_id": scope.session} for table in self.table_names}

    def _load(self, store: Opened, scope: Scope) -> Any:
        with self._sqlalchemy.ending():
            return store.library.get_session(scope.session, self._type, user_id=scope.user)

    def _message_of(self, message: Message) -> Any:
        given: dict[str, Any] = {}
        if message.id is not None:
            given["id"] = message.id
        if message.metadata:
            given["provider_data"] = dict(message.metadata)
        if message.tool is not None:
            given["tool_calls"] = [dict(message.tool)]
        if message.created_at is not None:
            given["created_at"] = _whole_epoch(message.created_at)
        return self._message(role=message.role, content=message.text, **given)


def _message(found: Any) -> Message:
    return Message(
        role=found.role,
        text=found.content,
        id=found.id,
        metadata=found.provider_data or {},
        tool=found.tool_calls[0] if found.tool_calls else None,
        created_at=datetime.fromtimestamp(found.created_at, timezone.utc),
    )


def _whole_epoch(at: datetime) -> int:
    """Return a time as the library takes it."""
    seconds = epoch(at)
    if at.microsecond:
        raise NotOffered("the time of a message is in whole seconds")
    return int(seconds)
