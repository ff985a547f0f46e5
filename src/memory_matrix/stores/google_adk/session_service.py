"""Adapters for `DatabaseSessionService` on Postgres: an event with content is a message.

A handle is the library's `Session`. A change of state is an event too, and a limit counts events: so one
adapter has limits, and another has states. Releases that come to the database by coroutines are given asyncpg,
as their documentation has it, and earlier ones psycopg.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from importlib import import_module
from typing import Any

from memory_matrix.errors import UsageError
from memory_matrix.stores.adapting.on_postgres import OnPostgres, execute, there
from memory_matrix.stores.adapting.on_sqlalchemy import OnAsyncEngine, SqlAlchemy
from memory_matrix.stores.adapting.opening import AsyncOpened, Store
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import epoch
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Level, Message, NotOffered, Page, Scope, StoreEnv

PROJECT = "google-adk"
WITH_EXTRA = f"{PROJECT}[db]"
MODULE = "google.adk.sessions.database_session_service"

SESSIONS, EVENTS = "sessions", "events"
PREFIXES: Mapping[Level, str] = {"session": "", "user": "user:", "app": "app:"}
"""What the keys of a level begin with, in the state that a session shows."""
INVOCATION = "invocation"

_CORRUPT = """
    UPDATE events SET {column} = '"not what it should be"' WHERE (app_name, user_id, session_id, id) =
    (SELECT app_name, user_id, session_id, id FROM events
     WHERE app_name = %s AND user_id = %s AND session_id = %s ORDER BY timestamp LIMIT 1 OFFSET %s)
"""
_COLUMN = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = %s AND table_name = 'events' AND column_name IN ('event_data', 'content')
"""


class _Service(OnPostgres, OnAsyncEngine):
    """One service object; a session is the scope's app, user and session."""

    project = WITH_EXTRA
    table_names = (SESSIONS, EVENTS, "app_states", "user_states")
    policy = Policy(
        # Metadata is the event's custom_metadata, which has to be what JSON has.
        value_kinds={"tuple": "plain"},
        message_fields=("id", "role", "text", "metadata", "created_at"),
        scope_parts=("app", "user", "session"),
        after="inclusive",
        batch="single",
        conflict="refuse",  # its error says to load the session again
        loops="one",  # that of the engine
    )

    def __init__(self) -> None:
        self._service = required(WITH_EXTRA, MODULE, "DatabaseSessionService")
        self._config = required(
            PROJECT, "google.adk.sessions.base_session_service", "GetSessionConfig"
        )
        self._event = required(PROJECT, "google.adk.events", "Event")
        self._actions = required(PROJECT, "google.adk.events", "EventActions")
        self._content = required(PROJECT, "google.genai.types", "Content")
        self._part = required(PROJECT, "google.genai.types", "Part")
        self._sqlalchemy = SqlAlchemy(WITH_EXTRA)
        self.refusals = (*self._sqlalchemy.refusals, *_own_errors())
        self._on_coroutines = hasattr(import_module(MODULE), "create_async_engine")
        self.client_project = "asyncpg" if self._on_coroutines else "psycopg"
        takes = inspect.signature(self._service).parameters
        self._takes_settings = any(each.kind is each.VAR_KEYWORD for each in takes.values())
        on_given = "db_engine" in takes
        self.client: Callable[[StoreEnv], Any] | None = self._client if on_given else None
        self.open_with: Callable[[StoreEnv, Any], AsyncOpened] | None = (
            self._open_with if on_given else None
        )

    def open(self, env: StoreEnv) -> AsyncOpened:
        """Return a service with an engine of its own."""
        url, settings = self._engine_of(env)
        given = settings if self._takes_settings else {}
        with self._sqlalchemy.ending():
            service = self._service(url.render_as_string(hide_password=False), **given)
        return AsyncOpened(env, service)

    def _engine_of(self, env: StoreEnv) -> tuple[Any, dict[str, Any]]:
        on = self._sqlalchemy.on_asyncpg if self._on_coroutines else self._sqlalchemy.on_psycopg
        return on(env)

    def _client(self, env: StoreEnv) -> Any:
        url, settings = self._engine_of(env)
        make = required(WITH_EXTRA, "sqlalchemy.ext.asyncio", "create_async_engine")
        return make(url, **settings)

    def _open_with(self, env: StoreEnv, client: Any) -> AsyncOpened:
        return AsyncOpened(env, self._service(db_engine=client))

    async def setup(self, store: AsyncOpened) -> None:
        """Make the tables, as the first use does."""
        await self._load(store, Scope(session="setup", user="setup", app="setup"))

    async def close(self, store: AsyncOpened) -> None:
        """Close the service, or the engine of a release whose service has no `close`.

        Raises:
            NotOffered: it was closed before, in such a release.
        """
        if hasattr(store.library, "close"):
            await store.library.close()
        elif store.closed:
            raise NotOffered("this DatabaseSessionService has no close of its own")
        else:
            await _awaited(store.library.db_engine.dispose())
        store.closed = True

    async def append(self, store: AsyncOpened, scope: Scope, messages: Sequence[Message]) -> None:
        """Append one event per message, to the session as it is now."""
        if messages:
            await self.append_with(store, await self.load(store, scope), messages)

    async def clear(self, store: AsyncOpened, scope: Scope) -> None:
        """Delete the session."""
        with self._sqlalchemy.ending():
            await _awaited(store.library.delete_session(**_names(scope)))

    async def list_sessions(self, store: AsyncOpened, scope: Scope) -> Page:
        """Return the ids of a user's sessions."""
        with self._sqlalchemy.ending():
            found = await _awaited(
                store.library.list_sessions(app_name=scope.app, user_id=scope.user)
            )
        return Page([each.id for each in found.sessions])

    async def load(self, store: AsyncOpened, scope: Scope) -> Any:
        """Return the session as it is now, made if there is none."""
        session = await self._load(store, scope)
        if session is not None:
            return session
        with self._sqlalchemy.ending():
            return await _awaited(store.library.create_session(**_names(scope)))

    async def append_with(
        self, store: AsyncOpened, handle: Any, messages: Sequence[Message]
    ) -> None:
        """Append one event per message."""
        for message in messages:
            await self._append(store, handle, self._event_of(message))

    def tables(self, store: Store) -> list[str]:
        """Return those of the tables that the release has."""
        return there(store.env, self.table_names)

    def corrupt(self, store: AsyncOpened, scope: Scope, index: int) -> None:
        """Put something else in the place of an event's content."""
        ((column,),) = execute(store.env, _COLUMN, store.env.schema)
        statement = _CORRUPT.format(column=column)
        execute(store.env, statement, scope.app, scope.user, scope.session, index)

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        whose = {"app_name": scope.app, "user_id": scope.user}
        return {
            SESSIONS: {**whose, "id": scope.session},
            EVENTS: {**whose, "session_id": scope.session},
        }

    async def _read(self, store: AsyncOpened, scope: Scope, **more: Any) -> list[Message]:
        session = await self._load(store, scope, **more)
        events = [] if session is None else session.events
        return [_message(each) for each in events if each.content is not None]

    async def _load(self, store: AsyncOpened, scope: Scope, **more: Any) -> Any:
        with self._sqlalchemy.ending():
            return await _awaited(store.library.get_session(**_names(scope), **more))

    async def _append(self, store: AsyncOpened, session: Any, event: Any) -> None:
        with self._sqlalchemy.ending():
            await _awaited(store.library.append_event(session, event))

    def _event_of(self, message: Message) -> Any:
        given: dict[str, Any] = {}
        if message.id is not None:
            given["id"] = message.id
        if message.created_at is not None:
            given["timestamp"] = epoch(message.created_at)
        if message.metadata:
            given["custom_metadata"] = dict(message.metadata)
        content = self._content(role=message.role, parts=[self._part(text=message.text)])
        return self._event(author=message.role, invocation_id=INVOCATION, content=content, **given)


class DatabaseSessionService(_Service):
    """Sessions as histories."""

    async def read(
        self,
        store: AsyncOpened,
        scope: Scope,
        *,
        limit: int | None = None,
        after: datetime | None = None,
    ) -> list[Message]:
        """Return the messages: the newest, or those since a time.

        Raises:
            NotOffered: `after` has no zone; the library takes seconds since 1970.
        """
        if limit is None and after is None:
            return await self._read(store, scope)
        since = None if after is None else epoch(after)
        config = self._config(num_recent_events=limit, after_timestamp=since)
        return await self._read(store, scope, config=config)


class DatabaseSessionState(_Service):
    """Sessions with their states, and those of users and apps."""

    async def read(self, store: AsyncOpened, scope: Scope) -> list[Message]:
        """Return the messages."""
        return await self._read(store, scope)

    async def set_state(
        self, store: AsyncOpened, handle: Any, delta: Mapping[str, Any], *, level: Level = "session"
    ) -> None:
        """Append an event that changes the state."""
        named = {f"{PREFIXES[level]}{key}": value for key, value in delta.items()}
        actions = self._actions(state_delta=named)
        event = self._event(author="user", invocation_id=INVOCATION, actions=actions)
        await self._append(store, handle, event)

    async def get_state(
        self, store: AsyncOpened, scope: Scope, *, level: Level = "session"
    ) -> dict[str, Any]:
        """Return what of the session's state is of a level."""
        session = await self._load(store, scope)
        return {} if session is None else _of_level(session.state, level)


def _own_errors() -> list[type[Exception]]:
    """Return the error of a session that is there already; the first releases have none."""
    try:
        module = "google.adk.errors.already_exists_error"
        return [required(PROJECT, module, "AlreadyExistsError")]
    except UsageError:
        return []


async def _awaited(returned: Any) -> Any:
    """Return what a call gives; the calls of the first releases are plain."""
    return await returned if inspect.isawaitable(returned) else returned


def _names(scope: Scope) -> dict[str, str]:
    return {"app_name": scope.app, "user_id": scope.user, "session_id": scope.session}


def _message(event: Any) -> Message:
    (part,) = event.content.parts
    return Message(
        role=event.author,
        text=part.text,
        id=event.id,
        metadata=event.custom_metadata or {},
        created_at=datetime.fromtimestamp(event.timestamp, timezone.utc),
    )


def _of_level(state: Mapping[str, Any], level: Level) -> dict[str, Any]:
    """Return what of a session's state is of a level, under the keys that it was set by."""
    others = tuple(prefix for other, prefix in PREFIXES.items() if other != level and prefix)
    prefix = PREFIXES[level]
    return {
        key.removeprefix(prefix): value
        for key, value in state.items()
        if key.startswith(prefix) and not key.startswith(others)
    }
