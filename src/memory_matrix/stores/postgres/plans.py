"""What each call does, without I/O: generators that yield queries and are sent their answers.

A driver, blocking or async, runs a plan on a connection. What a call was given is checked before its
first query, so that a refusal reaches no server.
"""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from memory_matrix.stores.errors import (
    ConflictError,
    CorruptError,
    NotFoundError,
    RefusedError,
    SchemaError,
)
from memory_matrix.stores.postgres.filters import Condition
from memory_matrix.stores.postgres.layout import CURRENT, SCHEMA_VERSION, Layout, version_of
from memory_matrix.stores.postgres.sql import Statements, statements_of
from memory_matrix.stores.postgres.values import (
    Address,
    Clock,
    Payload,
    Payloads,
    checked_id,
    checked_limit,
    checked_mapping,
    checked_namespace,
    checked_text,
    checked_time,
    checked_ttl,
    checked_vector,
    digest,
    json_text,
    shown,
    text_array,
    utc,
    vector_from,
    vector_text,
)
from memory_matrix.stores.protocol import Codec, Filter, Level, Message, Page, Record, Scope

T = TypeVar("T")

KEEP: Any = type("Keep", (), {"__repr__": lambda _: "KEEP"})()
"""In an update: this is not named, and stays as it is."""

_NO_TEXTS = ("payloads", "times")
"""The columns of what is written that hold bytes or times."""
_BREADTH = 200
"""How many near records the index keeps in view; more for a larger k."""


@dataclass(frozen=True)
class Query:
    """One statement and its parameters."""

    sql: str
    parameters: Mapping[str, Any] | None = None
    patient: bool = False
    """Whether it may take longer than a call may: it makes tables, or waits for others to."""


@dataclass(frozen=True)
class Answer:
    """What the server said: the rows, and how many rows the statement touched."""

    rows: list[tuple[Any, ...]]
    count: int


Steps = Generator[Query, Answer, T]


@dataclass(frozen=True)
class Plan(Generic[T]):
    """A call: how to begin it, and what a driver has to know of it."""

    steps: Callable[[], Steps[T]]
    atomic: bool = False
    """Whether its queries need one transaction."""
    repeatable: bool = False
    """Whether it can be made again after the connection was lost: it reads, or knows that it was done."""
    makes_tables: bool = False
    """Whether it does not need the tables to be there."""


@dataclass
class Handle:
    """A session as it was when it was loaded; an append through it moves it on."""

    scope: Scope
    incarnation: uuid.UUID | None
    """Which session of that name; None where there was none."""
    version: int = 0


@dataclass(frozen=True)
class Found:
    """What is on the server."""

    tables: bool
    comment: str | None
    column: bool
    index: bool
    extension: str | None

    @property
    def version(self) -> int | None:
        """The version of the layout; None where the tables are not the store's."""
        return version_of(self.comment)

    @property
    def iterative(self) -> bool:
        """Whether an index scan goes on until enough records match."""
        numbers = (self.extension or "0").split(".")[:2]
        return tuple(int(each) for each in numbers if each.isdigit()) >= (0, 8)


@dataclass
class Plans:
    """Makes the plans of one store."""

    layout: Layout
    ttl: float | None = None
    codec: Codec | None = None
    clock: Clock | None = None
    statements: Statements = field(init=False)
    payloads: Payloads = field(init=False)
    found: Found | None = None
    """What is on the server, once somebody looked."""

    def __post_init__(self) -> None:
        """Render the statements."""
        self.ttl = checked_ttl(self.ttl)
        self.statements = copy(statements_of(self.layout))
        self.payloads = Payloads(self.codec)

    # ---- what is there ------------------------------------------------------------------------

    def ready(self) -> Plan[None]:
        """See that the tables are there, and of this release."""

        def steps() -> Steps[None]:
            found = yield from self._look()
            if not found.tables:
                raise SchemaError("The store's tables are not there; call `setup()` once.")
            if found.version != SCHEMA_VERSION:
                raise _other_layout(found)
            if self.layout.dimensions is not None and not found.column:
                raise SchemaError(
                    "The store's tables have no vectors; call `setup()` with dimensions once."
                )
            self.found = found

        return Plan(steps, repeatable=True)

    def setup(self) -> Plan[None]:
        """Make what is not there yet; one at a time, whoever else is at it."""

        def steps() -> Steps[None]:
            found = yield from self._look()
            if not self._complete(found):
                yield Query(self.statements.lock, patient=True)
                found = yield from self._look()
            if not self._complete(found):
                found = yield from self._make(found)
            self.found = found

        return Plan(steps, atomic=True, makes_tables=True)

    def _make(self, found: Found) -> Steps[Found]:
        if found.tables and (found.version is None or found.version > SCHEMA_VERSION):
            raise _other_layout(found)
        ddl = self.statements.tables_ddl if found.version != SCHEMA_VERSION else ""
        if self.layout.dimensions is not None:
            if found.extension is None:
                found = replace(found, extension=(yield from _make_extension()))
            ddl += self.statements.vectors_ddl
        yield Query(ddl, patient=True)
        return Found(
            tables=True,
            comment=CURRENT,
            column=found.column or self.layout.dimensions is not None,
            index=found.index or self.layout.indexed,
            extension=found.extension,
        )

    def _look(self) -> Steps[Found]:
        answer = yield Query(self.statements.look)
        return Found(*answer.rows[0])

    def _complete(self, found: Found) -> bool:
        vectors = self.layout.dimensions is None or found.column
        return (
            found.version == SCHEMA_VERSION and vectors and (found.index or not self.layout.indexed)
        )

    def sweep(self, write_ids_kept: float) -> Plan[int]:
        """Delete what has expired, and write ids older than so many seconds."""
        return self._single(
            self.statements.sweep,
            lambda: {"kept": checked_ttl(write_ids_kept), **self.now()},
            _number,
        )

    # ---- conversations ------------------------------------------------------------------------

    def append(self, scope: Scope, messages: Sequence[Message], write_id: str | None) -> Plan[None]:
        """Append messages at the end of a session."""

        def steps() -> Steps[None]:
            parameters = self._session(scope) | self._messages(messages)
            sql = self.statements.append
            if write_id is not None:
                sql = self.statements.append_once
                parameters |= _once(parameters["key"], write_id)
            if messages:
                yield Query(sql, parameters)

        return Plan(steps, repeatable=write_id is not None)

    def replace(self, scope: Scope, messages: Sequence[Message]) -> Plan[None]:
        """Put messages in the place of the history."""

        def steps() -> Steps[None]:
            parameters = self._session(scope) | self._messages(messages) | {"replace": True}
            if parameters["count"]:
                yield Query(self.statements.append, parameters)
            else:
                yield Query(self.statements.empty, parameters)

        return Plan(steps)

    def load(self, scope: Scope) -> Plan[Handle]:
        """Return a handle on the session as it is."""

        def handle(answer: Answer) -> Handle:
            return Handle(scope, *(answer.rows[0] if answer.rows else (None, 0)))

        return self._reading(self.statements.load, lambda: self._session(scope), handle)

    def append_with(self, handle: Handle, messages: Sequence[Message]) -> Plan[None]:
        """Append where nobody else wrote since the handle was loaded."""

        def steps() -> Steps[None]:
            parameters = self._session(handle.scope) | self._messages(messages)
            parameters |= {"incarnation": handle.incarnation, "version": handle.version}
            if not messages:
                return
            new = handle.incarnation is None
            sql = self.statements.append_to_new if new else self.statements.append_to_loaded
            answer = yield Query(sql, parameters)
            if not answer.rows:
                raise _conflict(handle)
            handle.incarnation, handle.version = answer.rows[0]

        return Plan(steps)

    def read(
        self, scope: Scope, limit: int | None, after: str | dt.datetime | None
    ) -> Plan[list[Message]]:
        """Return messages, oldest first."""

        def parameters() -> dict[str, Any]:
            return self._session(scope) | {"limit": checked_limit(limit), "after": _bound(after)}

        def messages(answer: Answer) -> list[Message]:
            return [self._message(scope, row) for row in reversed(answer.rows)]

        sql = self.statements.read
        if after is not None:
            is_time = isinstance(after, dt.datetime)
            sql = self.statements.read_after_time if is_time else self.statements.read_after_id
        return self._reading(sql, parameters, messages)

    def pop(self, scope: Scope) -> Plan[Message | None]:
        """Remove and return the newest message."""
        return self._single(
            self.statements.pop,
            lambda: self._session(scope),
            lambda answer: self._message(scope, answer.rows[0]) if answer.rows else None,
        )

    def delete_message(self, scope: Scope, message_id: str) -> Plan[int]:
        """Delete the messages with an id, and return how many there were."""
        return self._single(
            self.statements.delete_message,
            lambda: self._session(scope) | {"id": checked_id(message_id, "The message id")},
            _number,
        )

    def clear(self, scope: Scope) -> Plan[None]:
        """Delete the session."""
        return self._single(self.statements.clear, lambda: self._session(scope), lambda _: None)

    def count(self, scope: Scope) -> Plan[int]:
        """Return how many messages the session has."""
        return self._reading(self.statements.count, lambda: self._session(scope), _number)

    def list_sessions(self, scope: Scope, limit: int | None, cursor: str | None) -> Plan[Page]:
        """Return the ids of a user's sessions, oldest first."""
        return self._reading(
            self.statements.list_sessions,
            lambda: self._session(scope) | _page_bounds(limit, cursor, str(uuid.UUID(int=0))),
            lambda answer: _page(answer, limit, lambda row: row[2]),
        )

    # ---- records ------------------------------------------------------------------------------

    def put(
        self, scope: Scope, records: Sequence[Record], ttl: float | None, write_id: str | None
    ) -> Plan[None]:
        """Store records, all or none."""

        def steps() -> Steps[None]:
            parameters = self._records(scope) | {"ttl": checked_ttl(ttl)} | self._columns(records)
            sql = self.statements.put
            if write_id is not None:
                sql = self.statements.put_once
                parameters |= _once(parameters["collection"], write_id)
            if records:
                yield Query(sql, parameters)

        return Plan(steps, repeatable=write_id is not None)

    def get(self, scope: Scope, record_id: str) -> Plan[Record | None]:
        """Return a record."""
        return self._reading(
            self.statements.get,
            lambda: self._record_key(scope, record_id),
            lambda answer: self._record(scope, answer.rows[0]) if answer.rows else None,
        )

    def update(self, scope: Scope, record_id: str, changes: Mapping[str, Any]) -> Plan[None]:
        """Change what is named of a record."""
        named = {name: value for name, value in changes.items() if value is not KEEP}

        def steps() -> Steps[None]:
            parameters = self._record_key(scope, record_id) | self._changes(record_id, named)
            answer = yield Query(self.statements.update(named), parameters)
            if not answer.count:
                raise NotFoundError(f"There is no record {shown(record_id)} to update.")

        return Plan(steps)

    def delete(self, scope: Scope, record_id: str) -> Plan[None]:
        """Delete a record, if it is there."""
        return self._single(
            self.statements.delete, lambda: self._record_key(scope, record_id), lambda _: None
        )

    def delete_all(self, scope: Scope) -> Plan[int]:
        """Delete all records of the namespace, and return how many there were."""
        return self._single(self.statements.delete_all, lambda: self._records(scope), _number)

    def delete_where(self, scope: Scope, filter: Filter) -> Plan[int]:
        """Delete the records that match, and return how many there were."""

        def steps() -> Steps[int]:
            condition = Condition(filter)
            sql = self.statements.delete_where(condition.sql)
            answer = yield Query(sql, self._records(scope) | condition.parameters)
            return _number(answer)

        return Plan(steps)

    def list_records(
        self,
        scope: Scope,
        filter: Filter | None,
        limit: int | None,
        cursor: str | None,
    ) -> Plan[Page]:
        """Return the records that match, oldest first."""

        def steps() -> Steps[Page]:
            condition = Condition(filter)
            parameters = (
                self._records(scope) | _page_bounds(limit, cursor, "") | condition.parameters
            )
            answer = yield Query(self.statements.list_records(condition.sql), parameters)
            return _page(answer, limit, lambda row: self._record(scope, row))

        return Plan(steps, repeatable=True)

    def list_namespaces(self, scope: Scope, prefix: Sequence[str]) -> Plan[list[tuple[str, ...]]]:
        """Return the namespaces of the scope's user that begin with the parts of `prefix`."""

        def parameters() -> dict[str, Any]:
            parts = checked_namespace(prefix)
            return self._records(scope) | {"prefix": text_array(parts), "length": len(parts)}

        def namespaces(answer: Answer) -> list[tuple[str, ...]]:
            return sorted(tuple(row[0]) for row in answer.rows)

        return self._reading(self.statements.list_namespaces, parameters, namespaces)

    def search(
        self,
        scope: Scope,
        query: Sequence[float],
        k: int,
        filter: Filter | None,
        threshold: float | None,
    ) -> Plan[list[tuple[str, float]]]:
        """Return the nearest records, by the index where it is complete."""

        def steps() -> Steps[list[tuple[str, float]]]:
            condition = Condition(filter)
            parameters = self._records(scope) | self._query(query, k, threshold)
            parameters |= condition.parameters
            if not k:
                return []
            answer = Answer([], 0)
            if self.layout.indexed and self.found is not None and self.found.iterative:
                answer = yield Query(self.statements.search(condition.sql), parameters)
            if len(answer.rows) < k:  # an index may overlook a record; looking at each does not
                answer = yield Query(self.statements.search_exactly(condition.sql), parameters)
            return [(row[0], row[1]) for row in answer.rows]

        return Plan(steps, repeatable=True)

    # ---- state --------------------------------------------------------------------------------

    def set_state(
        self, target: Handle | Scope, delta: Mapping[str, Any], level: Level
    ) -> Plan[None]:
        """Merge `delta` into the state of a level."""

        def steps() -> Steps[None]:
            parameters = self._state(target, level)
            parameters["state"] = json_text(checked_mapping(delta, "The state"), "The state")
            if level == "session" and isinstance(target, Handle) and target.incarnation is not None:
                parameters["incarnation"] = target.incarnation
                yield from self._set_state_with(target, parameters)
            else:
                yield Query(self.statements.set_state, parameters)

        return Plan(steps)

    def _set_state_with(self, handle: Handle, parameters: Mapping[str, Any]) -> Steps[None]:
        answer = yield Query(self.statements.set_state_with, parameters)
        if not answer.rows:
            raise _conflict(handle)
        version = answer.rows[0][-1]
        if version == handle.version + 1:
            handle.version = version

    def get_state(self, target: Handle | Scope, level: Level) -> Plan[dict[str, Any]]:
        """Return the state of a level."""
        return self._reading(
            self.statements.get_state,
            lambda: self._state(target, level),
            lambda answer: (
                self.payloads.decode(answer.rows[0][0], None, "The state") if answer.rows else {}
            ),
        )

    def _state(self, target: Handle | Scope, level: Level) -> dict[str, Any]:
        """Return what addresses the row of a state; those that sessions share have no owner."""
        address = Address(target.scope if isinstance(target, Handle) else target)
        session = self._session(address.scope) | {"count": 0}
        shared = {"owner": None, "session": None, "ttl": None}
        if level == "session":
            return session
        if level == "user":
            return session | shared | {"key": address.owner}
        if level == "app":
            return session | shared | {"key": address.app, "user": None}
        raise RefusedError(f"There is no level {shown(level)}; there are session, user and app.")

    # ---- parameters and rows --------------------------------------------------------------------

    def _reading(
        self, sql: str, parameters: Callable[[], Mapping[str, Any]], result: Callable[[Answer], T]
    ) -> Plan[T]:
        return self._single(sql, parameters, result, repeatable=True)

    def _single(
        self,
        sql: str,
        parameters: Callable[[], Mapping[str, Any]],
        result: Callable[[Answer], T],
        *,
        repeatable: bool = False,
    ) -> Plan[T]:
        def steps() -> Steps[T]:
            answer = yield Query(sql, parameters())
            return result(answer)

        return Plan(steps, repeatable=repeatable)

    def now(self) -> dict[str, Any]:
        """Return the clock's time as a parameter; None lets the database tell it."""
        return {"now": None if self.clock is None else checked_time(self.clock(), "The clock")}

    def _session(self, scope: Scope) -> dict[str, Any]:
        defaults = {"ttl": self.ttl, "state": "{}", "replace": False}
        return Address(scope).parts | self.now() | defaults

    def _records(self, scope: Scope) -> dict[str, Any]:
        return Address(scope).parts | self.now()

    def _record_key(self, scope: Scope, record_id: str) -> dict[str, Any]:
        return self._records(scope) | {"id": checked_id(record_id, "The record id")}

    def _messages(self, messages: Sequence[Message]) -> dict[str, Any]:
        rows = [self._message_row(index, each) for index, each in enumerate(messages)]
        names = ("ids", "roles", "texts", "metadata", "tools", "payloads", "times")
        return {"count": len(rows)} | _arrays(names, rows)

    def _message_row(self, index: int, message: Message) -> tuple[Any, ...]:
        what = f"message {index}"
        if not isinstance(message, Message):
            raise RefusedError(f"The {what} is {shown(message)}; it should be a Message.")
        return (
            None if message.id is None else checked_id(message.id, f"The id of {what}"),
            checked_text(message.role, f"The role of {what}"),
            checked_text(message.text, f"The text of {what}"),
            *self._content(message, what),
            _optional_time(message.created_at, f"created_at of {what}"),
        )

    def _content(self, message: Message, what: str) -> tuple[str | None, str | None, bytes | None]:
        """Return metadata and tool as JSON, or both as the serializer writes them."""
        metadata = checked_mapping(message.metadata, f"The metadata of {what}")
        tool = None
        if message.tool is not None:
            tool = checked_mapping(message.tool, f"The tool of {what}")
        if self.codec is not None:
            content = {"metadata": metadata, "tool": tool}
            return None, None, self.payloads.encode(content, f"The metadata or tool of {what}").data
        return (
            json_text(metadata, f"The metadata of {what}"),
            None if tool is None else json_text(tool, f"The tool of {what}"),
            None,
        )

    def _message(self, scope: Scope, row: tuple[Any, ...]) -> Message:
        position, message_id, role, text, metadata, tool, payload, created = row
        what = f"The message at position {position} of session {shown(scope.session)}"
        if payload is not None:
            content = self.payloads.decode(None, payload, what)
        else:
            content = {
                "metadata": self.payloads.decode(metadata, None, what),
                "tool": None if tool is None else self.payloads.decode(tool, None, what),
            }
        if content.keys() != {"metadata", "tool"}:
            raise CorruptError(f"{what} cannot be read: it has neither metadata nor tool.")
        return Message(role, text, message_id, created_at=utc(created), **content)

    def _columns(self, records: Sequence[Record]) -> dict[str, Any]:
        """Return the columns of records; of those with one id the last counts."""
        rows = {row[0]: row for row in map(self._record_row, records)}
        names = ("ids", "texts", "metadata", "payloads", "times", "vectors")
        return _arrays(names, list(rows.values()))

    def _record_row(self, record: Record) -> tuple[Any, ...]:
        if not isinstance(record, Record):
            raise RefusedError(f"There is {shown(record)} to put; it should be a Record.")
        record_id = checked_id(record.id, "The record id")
        what = f"record {shown(record_id)}"
        payload = self._metadata(record.metadata, what)
        return (
            record_id,
            checked_text(record.text, f"The text of {what}"),
            payload.json,
            payload.data,
            _optional_time(record.created_at, f"created_at of {what}"),
            None if record.vector is None else self._vector(record.vector, f"The {what}"),
        )

    def _metadata(self, metadata: object, what: str) -> Payload:
        name = f"The metadata of {what}"
        return self.payloads.encode(checked_mapping(metadata, name), name)

    def _vector(self, vector: object, what: str) -> str:
        return vector_text(checked_vector(vector, self.layout.dimensions, what))

    def _record(self, scope: Scope, row: tuple[Any, ...]) -> Record:
        _, record_id, text, metadata, payload, vector, created, updated = row
        what = f"The record {shown(record_id)} of namespace {shown(scope.namespace)}"
        return Record(
            record_id,
            text,
            vector_from(vector),
            self.payloads.decode(metadata, payload, what),
            created_at=utc(created),
            updated_at=utc(updated),
        )

    def _changes(self, record_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        what = f"record {shown(record_id)}"
        parameters: dict[str, Any] = {}
        if "text" in changes:
            parameters["text"] = checked_text(changes["text"], f"The text of {what}")
        if "metadata" in changes:
            payload = self._metadata(changes["metadata"], what)
            parameters |= {"metadata": payload.json, "payload": payload.data}
        if "vector" in changes:
            vector = changes["vector"]
            parameters["vector"] = None if vector is None else self._vector(vector, f"The {what}")
        if "ttl" in changes:
            parameters["ttl"] = checked_ttl(changes["ttl"])
        return parameters

    def _query(self, query: object, k: int, threshold: float | None) -> dict[str, Any]:
        vector = checked_vector(query, self.layout.dimensions, "The query")
        if self.layout.metric == "cosine" and not any(vector):
            raise RefusedError("The query is a vector of zeros, which has no cosine to any other.")
        if checked_limit(k, "k") is None:
            raise RefusedError("k is None; it should be a whole number of 0 or more.")
        if threshold is not None and (type(threshold) not in {int, float} or math.isnan(threshold)):
            raise RefusedError(f"threshold is {shown(threshold)}; it should be a number.")
        return {
            "query": vector_text(vector),
            "k": k,
            "ef": min(1000, max(_BREADTH, 2 * k)),
            "threshold": threshold,
        }


def _bound(after: object) -> str | dt.datetime | None:
    if isinstance(after, dt.datetime):
        return checked_time(after, "after")
    return None if after is None else checked_id(after, "after")


def _optional_time(time: object, what: str) -> dt.datetime | None:
    return None if time is None else checked_time(time, what)


def _make_extension() -> Steps[str]:
    """Make the extension, and return its version."""
    answer = yield Query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    if not answer.rows:
        raise SchemaError(
            "The server has no vector extension; install pgvector there, or open the store without "
            "dimensions."
        )
    yield Query("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    made = yield Query("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    return str(made.rows[0][0])


def _arrays(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Return the columns of `rows`, each as a parameter that is an array."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {
        name: list(column) if name in _NO_TEXTS else text_array(column)
        for name, column in zip(names, columns, strict=True)
    }


def _once(target: uuid.UUID, write_id: str) -> dict[str, Any]:
    return {"target": target, "write_id": digest("write", checked_id(write_id, "write_id"))}


def _page_bounds(limit: int | None, cursor: str | None, first: str) -> dict[str, Any]:
    """Return after which number a page begins, and after what among those of one number."""
    size = checked_limit(limit)
    number, slash, tie = (f"-1/{first}" if cursor is None else str(cursor)).partition("/")
    if not slash or not number.removeprefix("-").isdecimal() or len(number) > 18:
        raise RefusedError(f"The cursor is {shown(cursor)}; it should be one that a page gave.")
    return {
        "limit": None if size is None else size + 1,
        "number": int(number),
        "tie": checked_text(tie, "The cursor"),
    }


def _page(answer: Answer, limit: int | None, item: Callable[[tuple[Any, ...]], Any]) -> Page:
    """Return a page; one row more than asked for tells that there is a next one."""
    rows = answer.rows[:limit]
    more = bool(rows) and len(answer.rows) > len(rows)
    return Page([item(row) for row in rows], f"{rows[-1][0]}/{rows[-1][1]}" if more else None)


def _number(answer: Answer) -> int:
    return int(answer.rows[0][0])


def _conflict(handle: Handle) -> ConflictError:
    return ConflictError(
        f"The session {shown(handle.scope.session)} was written or deleted by somebody else since "
        "it was loaded; load it again."
    )


def _other_layout(found: Found) -> SchemaError:
    if found.version is None:
        return SchemaError(
            "There are tables of the store's names that are not the store's; open it with other "
            "`tables`."
        )
    if found.version > SCHEMA_VERSION:
        return SchemaError(
            f"The store's tables are of a later release (layout {found.version}, this release has "
            f"{SCHEMA_VERSION}); nothing was changed. Use that release."
        )
    return SchemaError(
        f"The store's tables are of an earlier release (layout {found.version}, this release has "
        f"{SCHEMA_VERSION}); call `setup()` once, which brings them up to date."
    )
