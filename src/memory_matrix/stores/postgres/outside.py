"""Plans by which the memory test suite looks at the tables from outside, and lets time pass."""

from __future__ import annotations

from typing import Any

from memory_matrix.stores.errors import NotFoundError
from memory_matrix.stores.postgres.plans import Plan, Plans, Query, Steps
from memory_matrix.stores.postgres.values import Address, utc
from memory_matrix.stores.protocol import Message, RawRow, Record, Scope

_ROWS = """
SELECT %(sessions)s, s.session, s.expires_at AT TIME ZONE 'UTC'
FROM {sessions} AS s WHERE s.key = %(key)s
UNION ALL
SELECT %(messages)s, m.history || '.' || m.position, s.expires_at AT TIME ZONE 'UTC'
FROM {messages} AS m LEFT JOIN {sessions} AS s ON s.key = m.session_key WHERE m.session_key = %(key)s
UNION ALL
SELECT %(writes)s, w.write_id::text, s.expires_at AT TIME ZONE 'UTC'
FROM {writes} AS w LEFT JOIN {sessions} AS s ON s.key = w.target
WHERE w.target IN (%(key)s, %(collection)s)
UNION ALL
SELECT %(records)s, r.id, r.expires_at AT TIME ZONE 'UTC'
FROM {records} AS r WHERE r.collection = %(collection)s
"""

_EXPIRE = """
WITH sessions AS (
    UPDATE {sessions} SET expires_at = least(expires_at, {now} - interval '1 second')
    WHERE key = %(key)s AND expires_at IS NOT NULL
)
UPDATE {records} SET expires_at = least(expires_at, {now} - interval '1 second')
WHERE collection = %(collection)s AND expires_at IS NOT NULL
"""

_CORRUPT = """
UPDATE {messages} AS m SET metadata = '"broken"', payload = %(broken)s
FROM {sessions} AS s
WHERE s.key = %(key)s AND m.session_key = s.key AND m.history = s.history AND m.position = (
    SELECT position FROM {messages}
    WHERE session_key = s.key AND history = s.history ORDER BY position OFFSET %(index)s LIMIT 1
)
"""

_INDEXES = """
SELECT i.relname FROM pg_index AS x
JOIN pg_class AS i ON i.oid = x.indexrelid
JOIN pg_am AS a ON a.oid = i.relam AND a.amname = 'hnsw'
WHERE x.indrelid = %(records)s::regclass ORDER BY i.relname
"""

_DATA_TABLES = ("sessions", "messages", "records", "writes")


def rows(plans: Plans, scope: Scope) -> Plan[list[RawRow]]:
    """Return every row of a session and of a namespace's records."""

    def steps() -> Steps[list[RawRow]]:
        parameters = Address(scope).parts | _names(plans)
        answer = yield Query(plans.statements.custom(_ROWS), parameters)
        return [
            RawRow(table, key, None if end is None else utc(end)) for table, key, end in answer.rows
        ]

    return Plan(steps)


def expire(plans: Plans, scope: Scope) -> Plan[None]:
    """Let the time of what has a time to live be over."""

    def steps() -> Steps[None]:
        parameters = plans.now() | Address(scope).parts
        yield Query(plans.statements.custom(_EXPIRE), parameters)

    return Plan(steps)


def corrupt(plans: Plans, scope: Scope, index: int) -> Plan[None]:
    """Make a message unreadable."""

    def steps() -> Steps[None]:
        broken = None if plans.codec is None else b"\xff\x00broken"
        parameters = Address(scope).parts | {"index": index, "broken": broken}
        answer = yield Query(plans.statements.custom(_CORRUPT), parameters)
        if not answer.count:
            raise NotFoundError(f"There is no message {index} to corrupt.")

    return Plan(steps)


def tables(plans: Plans) -> list[str]:
    """Return the names of the tables that hold data."""
    return [plans.layout.table(name) for name in _DATA_TABLES]


def indexes(plans: Plans) -> Plan[list[str]]:
    """Return the names of the vector indexes."""

    def steps() -> Steps[list[str]]:
        answer = yield Query(_INDEXES, _names(plans))
        return [row[0] for row in answer.rows]

    return Plan(steps)


def older(plans: Plans, scope: Scope) -> Plan[None]:
    """Make the tables of the release before, and put a session and a record into them."""

    def steps() -> Steps[None]:
        yield Query(plans.statements.first_ddl)
        if plans.layout.dimensions is not None:
            yield Query("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            yield Query(plans.statements.vectors_ddl)
        messages = [Message("user", "from an older release"), Message("assistant", "still here")]
        yield from plans.append(scope, messages, None).steps()
        vector = None if plans.layout.dimensions is None else (1.0,) * plans.layout.dimensions
        record = Record("old", "from an older release", vector, {"kind": "old"})
        yield from plans.put(scope, [record], None, None).steps()

    return Plan(steps, atomic=True, makes_tables=True)


def _names(plans: Plans) -> dict[str, Any]:
    return {name: plans.layout.table(name) for name in _DATA_TABLES}
