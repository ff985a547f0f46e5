"""The SQL of the store, rendered once for its tables, vectors and metric.

A call is one statement wherever that can be: a statement is a transaction of its own, in one round trip.
Writers of one session take the lock of its row, and only then are given their positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from psycopg import sql

from memory_matrix.stores.postgres.layout import (
    BASE,
    COMMENT,
    CURRENT,
    FEW,
    FEWER_LINKS,
    INDEX,
    LINKS,
    NAMES,
    OPERATOR_CLASSES,
    OPERATORS,
    VECTORS,
    VERSION,
    WRITES,
    Layout,
)

_NOW = "coalesce(%(now)s::timestamptz, statement_timestamp())"
_LIVE = f"(expires_at IS NULL OR expires_at > {_NOW})"
_ENDED = f"(s.expires_at IS NOT NULL AND s.expires_at <= {_NOW})"
_END = f"{_NOW} + make_interval(secs => %(ttl)s::float8)"

_NUMBER = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The order of creation by the server's own clock, whatever time the store is told to take."""

_TOUCH_SESSION = """
    UPDATE {sessions} SET version = version + 1, updated_at = {now}, expires_at = {end}
    WHERE key = %(key)s AND EXISTS (SELECT FROM gone)
"""

# A session whose time has passed begins anew; EXCLUDED holds what a new one would have.
_UPSERT_SESSION = """
    INSERT INTO {sessions} AS s (key, owner, app, user_id, session, incarnation, number,
        next_position, state, created_at, updated_at, expires_at)
    SELECT %(key)s::uuid, %(owner)s::uuid, %(app)s, %(user)s, %(session)s, gen_random_uuid(),
        {number}, %(count)s::bigint, %(state)s::jsonb, {now}, {now}, {end}
    {gate}
    ON CONFLICT (key) DO UPDATE SET
        incarnation = CASE WHEN {ended} THEN EXCLUDED.incarnation ELSE s.incarnation END,
        number = CASE WHEN {ended} THEN EXCLUDED.number ELSE s.number END,
        history = CASE WHEN {ended} OR %(replace)s THEN s.history + 1 ELSE s.history END,
        next_position = EXCLUDED.next_position
            + CASE WHEN {ended} OR %(replace)s THEN 0 ELSE s.next_position END,
        version = s.version + 1,
        state = CASE WHEN {ended} THEN EXCLUDED.state ELSE s.state || EXCLUDED.state END,
        created_at = CASE WHEN {ended} THEN EXCLUDED.created_at ELSE s.created_at END,
        updated_at = EXCLUDED.updated_at,
        expires_at = EXCLUDED.expires_at
    {condition}
    RETURNING key, incarnation, history, next_position, version
"""

_UPDATE_SESSION = """
    UPDATE {sessions} AS s SET
        next_position = next_position + %(count)s,
        version = version + 1,
        state = state || %(state)s::jsonb,
        updated_at = {now},
        expires_at = {end}
    WHERE key = %(key)s AND incarnation = %(incarnation)s AND {live} {condition}
    RETURNING key, incarnation, history, next_position, version
"""

# The written session is the newest there is, even where the statement began before others ended.
_OLD = """old AS (
    DELETE FROM {messages} AS m USING written AS w
    WHERE m.session_key = w.key AND m.history < w.history
)"""

_EMPTY_HISTORY = """
WITH written AS (
    UPDATE {sessions} SET history = history + 1, next_position = 0, version = version + 1,
        updated_at = {now}, expires_at = {end}
    WHERE key = %(key)s AND {live}
    RETURNING key, history
), {old}
SELECT count(*) FROM written
"""

_INSERT_MESSAGES = """
{old}, messages AS (
    INSERT INTO {messages}
        (session_key, history, position, id, role, text, metadata, tool, payload, created_at)
    SELECT w.key, w.history, w.next_position - %(count)s + m.ordinality, m.id, m.role, m.text,
        m.metadata::jsonb, m.tool::jsonb, m.payload, coalesce(m.created_at, {now})
    FROM written AS w, unnest(
        %(ids)s::text[], %(roles)s::text[], %(texts)s::text[], %(metadata)s::text[],
        %(tools)s::text[], %(payloads)s::bytea[], %(times)s::timestamptz[]
    ) WITH ORDINALITY AS m (id, role, text, metadata, tool, payload, created_at, ordinality)
)
SELECT incarnation, version FROM written
"""

# A write id that is there already lets nothing through, unless its session's time has passed.
_GATE = """
gate AS (
    INSERT INTO {writes} AS w (target, write_id, written_at)
    VALUES (%(target)s, %(write_id)s, {now})
    ON CONFLICT (target, write_id) DO UPDATE SET written_at = EXCLUDED.written_at
    WHERE EXISTS (SELECT FROM {sessions} AS s WHERE s.key = w.target AND {ended})
    RETURNING 1
),
"""

_CLEAR = """
WITH gone AS (DELETE FROM {sessions} WHERE key = %(key)s)
DELETE FROM {writes} WHERE target = %(key)s
"""

_MESSAGE = """m.position, m.id, m.role, m.text, m.metadata::text, m.tool::text, m.payload,
    m.created_at AT TIME ZONE 'UTC'"""

_HISTORY = "(SELECT history FROM {sessions} WHERE key = %(key)s AND {live})"

_READ = """
SELECT {message} FROM {messages} AS m
WHERE session_key = %(key)s AND history = {history} {after}
ORDER BY position DESC LIMIT %(limit)s
"""
_AFTER_ID = """AND position > (
    SELECT max(position) FROM {messages}
    WHERE session_key = %(key)s AND history = {history} AND id = %(after)s
)"""
_AFTER_TIME = "AND created_at > %(after)s::timestamptz"

_LOCKED = "locked AS (SELECT history FROM {sessions} WHERE key = %(key)s AND {live} FOR UPDATE)"

_POP = """
WITH {locked}, newest AS (
    SELECT position FROM {messages}
    WHERE session_key = %(key)s AND history = (SELECT history FROM locked)
    ORDER BY position DESC LIMIT 1 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM {messages} AS m
    WHERE session_key = %(key)s AND history = (SELECT history FROM locked)
        AND position = (SELECT position FROM newest)
    RETURNING {message}
), touched AS ({touch})
SELECT * FROM gone
"""

_DELETE_MESSAGE = """
WITH {locked}, gone AS (
    DELETE FROM {messages}
    WHERE session_key = %(key)s AND history = (SELECT history FROM locked) AND id = %(id)s
    RETURNING 1
), touched AS ({touch})
SELECT count(*) FROM gone
"""

_COUNT = """
SELECT count(*) FROM {messages} WHERE session_key = %(key)s AND history = {history}
"""

_LIST_SESSIONS = """
SELECT number, key::text, session FROM {sessions}
WHERE owner = %(owner)s AND {live} AND (number, key) > (%(number)s, %(tie)s::uuid)
ORDER BY number, key LIMIT %(limit)s
"""

_RECORD = """number, id, text, metadata::text, payload, {vector_text},
    created_at AT TIME ZONE 'UTC', updated_at AT TIME ZONE 'UTC'"""

_PUT = """
WITH {gate} written AS (
    INSERT INTO {records} AS r (collection, owner, app, user_id, namespace, number, id, text,
        metadata, payload, created_at, updated_at, expires_at {vector_column})
    SELECT %(collection)s::uuid, %(owner)s::uuid, %(app)s, %(user)s, %(namespace)s::text[], {number},
        p.id, p.text, p.metadata::jsonb, p.payload, coalesce(p.created_at, {now}), {now}, {end}
        {vector_value}
    FROM unnest(
        %(ids)s::text[], %(texts)s::text[], %(metadata)s::text[], %(payloads)s::bytea[],
        %(times)s::timestamptz[], %(vectors)s::text[]
    ) AS p (id, text, metadata, payload, created_at, vector)
    {gated}
    ON CONFLICT (collection, id) DO UPDATE SET
        text = EXCLUDED.text, metadata = EXCLUDED.metadata, payload = EXCLUDED.payload,
        number = CASE WHEN {record_ended} THEN EXCLUDED.number ELSE r.number END,
        created_at = CASE
            WHEN {record_ended} OR EXCLUDED.created_at <> {now} THEN EXCLUDED.created_at
            ELSE r.created_at END,
        updated_at = EXCLUDED.updated_at, expires_at = EXCLUDED.expires_at {vector_set}
    RETURNING 1
)
SELECT count(*) FROM written
"""

_GET = """
SELECT {record} FROM {records} WHERE collection = %(collection)s AND id = %(id)s AND {live}
"""

_UPDATE = """
UPDATE {records} SET updated_at = {now} {changes}
WHERE collection = %(collection)s AND id = %(id)s AND {live}
"""

_DELETE = """
DELETE FROM {records} WHERE collection = %(collection)s AND id = %(id)s
"""

_DELETE_WHERE = """
WITH gone AS (
    DELETE FROM {records} WHERE collection = %(collection)s AND {filter}
    RETURNING {live} AS live
) {forgotten}
SELECT count(*) FILTER (WHERE live) FROM gone
"""

_FORGOTTEN = ", forgotten AS (DELETE FROM {writes} WHERE target = %(collection)s)"

_LIST_RECORDS = """
SELECT {record} FROM {records}
WHERE owner = %(owner)s AND collection = %(collection)s AND {live} AND {filter}
    AND (number, id) > (%(number)s, %(tie)s)
ORDER BY number, id LIMIT %(limit)s
"""

_LIST_NAMESPACES = """
SELECT DISTINCT ON (collection) namespace FROM {records}
WHERE owner = %(owner)s AND {live} AND namespace[1:%(length)s] = %(prefix)s::text[]
ORDER BY collection
"""

# The settings hold for this statement only. `LATERAL` and the mention of one of them make sure that
# they are set before the index is looked at.
_SEARCH = """
SELECT f.id, f.distance FROM (
    SELECT set_config('hnsw.iterative_scan', 'strict_order', true) AS iterative,
        set_config('hnsw.ef_search', %(ef)s::text, true) AS ef
) AS settings
CROSS JOIN LATERAL (
    SELECT id, number, {distance} AS distance FROM {records}
    WHERE settings.iterative IS NOT NULL AND {searched}
    ORDER BY {distance} LIMIT %(k)s
) AS f
WHERE %(threshold)s::float8 IS NULL OR f.distance <= %(threshold)s::float8
ORDER BY f.distance, f.number
"""

_SEARCH_EXACTLY = """
WITH matching AS MATERIALIZED (
    SELECT id, number, {distance} AS distance FROM {records} WHERE {searched}
)
SELECT id, distance FROM matching
WHERE %(threshold)s::float8 IS NULL OR distance <= %(threshold)s::float8
ORDER BY distance, number LIMIT %(k)s
"""

_SEARCHED = """collection = %(collection)s AND {live} AND {filter}
    AND vector_dims(embedding) = {dimensions} {directed}"""

_SWEEP = """
WITH sessions AS (
    DELETE FROM {sessions} WHERE expires_at <= {now} RETURNING 1
), records AS (
    DELETE FROM {records} WHERE expires_at <= {now} RETURNING 1
), messages AS (
    DELETE FROM {messages} AS m USING {sessions} AS s
    WHERE m.session_key = s.key AND m.history < s.history
), writes AS (
    DELETE FROM {writes} WHERE written_at < {now} - make_interval(secs => %(kept)s::float8)
)
SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM records)
"""

# Others may be at it, and take their time.
_LOCK = """
SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || {lock_name}, 0))
"""

# Only the first schema of the search path counts: tables of a later one are another store's.
_LOOK = """
SELECT to_regclass(here || {sessions}) IS NOT NULL,
    obj_description(to_regclass(here || {sessions}), 'pg_class'),
    EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass(here || {records})
        AND attname = 'embedding' AND NOT attisdropped),
    to_regclass(here || {vector_index}) IS NOT NULL,
    (SELECT extversion FROM pg_extension WHERE extname = 'vector')
FROM (SELECT quote_ident(current_schema()) || '.' AS here) AS place
"""


class Statements:
    """The statements of one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._names: dict[str, sql.Composable] = {
            name: sql.Identifier(layout.table(name)) for name in NAMES
        }
        self._names |= {
            "vector_index": sql.Identifier(layout.vector_index),
            "dimensions": sql.Literal(layout.dimensions or 0),
            "operator_class": sql.SQL(OPERATOR_CLASSES[layout.metric]),
            "links": sql.SQL(LINKS if (layout.dimensions or 0) > FEW else FEWER_LINKS),
            "version": sql.Literal(CURRENT),
        }
        self._names |= {name: sql.SQL(text) for name, text in _fragments(layout).items()}
        for name, text in (
            ("message", _MESSAGE),
            ("record", _RECORD),
            ("locked", _LOCKED),
            ("old", _OLD),
            ("history", _HISTORY),
        ):
            self._names[name] = self._part(text)
        self._names["touch"] = self._part(_TOUCH_SESSION)
        self.count = self._text(_COUNT)
        self.pop = self._text(_POP)
        self.empty = self._text(_EMPTY_HISTORY)
        self.delete_message = self._text(_DELETE_MESSAGE)
        self.clear = self._text(_CLEAR)
        self.list_sessions = self._text(_LIST_SESSIONS)
        self.load = self._text(
            "SELECT incarnation, version FROM {sessions} WHERE key = %(key)s AND {live}"
        )
        self.get = self._text(_GET)
        self.delete = self._text(_DELETE)
        self.list_namespaces = self._text(_LIST_NAMESPACES)
        self.get_state = self._text(
            "SELECT state::text FROM {sessions} WHERE key = %(key)s AND {live}"
        )
        self.sweep = self._text(_SWEEP)

        self._write_appends()
        self._write_puts()
        self._write_filtered()

    def _write_appends(self) -> None:
        upsert = self._part(_UPSERT_SESSION, gate=_EMPTY, condition=_EMPTY)
        once = self._part(_UPSERT_SESSION, gate=sql.SQL("FROM gate"), condition=_EMPTY)
        new = self._part(_UPSERT_SESSION, gate=_EMPTY, condition=self._part("WHERE {ended}"))
        loaded = self._part(_UPDATE_SESSION, condition=sql.SQL("AND version = %(version)s"))
        self.append = self._writing(upsert)
        self.append_once = self._writing(once, _GATE)
        self.append_to_new = self._writing(new)
        self.append_to_loaded = self._writing(loaded)
        self.set_state = self._text(_UPSERT_SESSION, gate=_EMPTY, condition=_EMPTY)
        self.set_state_with = self._text(_UPDATE_SESSION, condition=_EMPTY)
        self.read = self._text(_READ, after=_EMPTY)
        self.read_after_id = self._text(_READ, after=self._part(_AFTER_ID))
        self.read_after_time = self._text(_READ, after=sql.SQL(_AFTER_TIME))

    def _write_puts(self) -> None:
        gated = sql.SQL("WHERE EXISTS (SELECT FROM gate)")
        self.put = self._text(_PUT, gate=_EMPTY, gated=_EMPTY)
        self.put_once = self._text(_PUT, gate=self._part(_GATE), gated=gated)

    def _write_filtered(self) -> None:
        """Render what holds a filter, whose SQL comes later."""
        later = sql.SQL(_FILTER)
        forgotten = self._part(_FORGOTTEN)
        self._delete_where = self._text(_DELETE_WHERE, filter=later, forgotten=_EMPTY)
        self.delete_all = self._text(_DELETE_WHERE, filter=sql.SQL("true"), forgotten=forgotten)
        self._list_records = self._text(_LIST_RECORDS, filter=later)
        directed = "AND vector_norm(embedding) > 0" if self.layout.metric == "cosine" else ""
        distance = self._part(
            f"embedding::vector({{dimensions}}) {OPERATORS[self.layout.metric]} "
            "%(query)s::vector({dimensions})"
        )
        searched = self._part(_SEARCHED, filter=later, directed=sql.SQL(directed))
        self._search = self._text(_SEARCH, distance=distance, searched=searched)
        self._search_exactly = self._text(_SEARCH_EXACTLY, distance=distance, searched=searched)

    def update(self, columns: Iterable[str]) -> str:
        """Update the named columns of a record."""
        changes = "".join(f", {_CHANGES[column]}" for column in columns)
        return self._text(_UPDATE, changes=self._part(changes))

    def delete_where(self, condition: str) -> str:
        """Delete the records that match."""
        return self._delete_where.replace(_FILTER, condition)

    def list_records(self, condition: str) -> str:
        """List the records that match."""
        return self._list_records.replace(_FILTER, condition)

    def search(self, condition: str) -> str:
        """Search among the records that match, by the index."""
        return self._search.replace(_FILTER, condition)

    def search_exactly(self, condition: str) -> str:
        """Search among the records that match by looking at each."""
        return self._search_exactly.replace(_FILTER, condition)

    @property
    def ddl(self) -> str:
        """What makes all that is not there yet; the vector extension must be there."""
        return self.tables_ddl + self.vectors_ddl

    @property
    def tables_ddl(self) -> str:
        """What makes the tables, or those that an older release had not."""
        return self._text(BASE + WRITES + VERSION)

    @property
    def vectors_ddl(self) -> str:
        """What makes the column of the vectors and its index."""
        if self.layout.dimensions is None:
            return ""
        return self._text(VECTORS + (INDEX if self.layout.indexed else ""))

    @property
    def first_ddl(self) -> str:
        """What the release before made."""
        return self._text(BASE + VERSION, version=sql.Literal(f"{COMMENT}1"))

    @property
    def lock(self) -> str:
        """What waits until nobody else makes the tables of this schema, until the transaction ends."""
        return self._text(_LOCK, lock_name=sql.Literal(f"memory-matrix:{self.layout.tables}"))

    @property
    def look(self) -> str:
        """What tells what is there: tables, the vectors' column and index, the extension's version."""
        names = {
            "sessions": sql.Literal(self.layout.table("sessions")),
            "records": sql.Literal(self.layout.table("records")),
            "vector_index": sql.Literal(self.layout.vector_index),
        }
        return self._text(_LOOK, **names)

    def custom(self, template: str) -> str:
        """Return a statement of the caller's with the names of the tables filled in."""
        return self._text(template)

    def _writing(self, session: sql.Composable, gate: str = "") -> str:
        template = "WITH {gate} written AS ({session}), " + _INSERT_MESSAGES
        return self._text(template, session=session, gate=self._part(gate))

    def _part(self, template: str, **parts: sql.Composable) -> sql.Composable:
        return sql.SQL(template).format(**{**self._names, **parts})

    def _text(self, template: str, **parts: sql.Composable) -> str:
        return self._part(template, **parts).as_string(None)


@lru_cache(maxsize=64)
def statements_of(layout: Layout) -> Statements:
    """Return the statements of a layout, which are the same for all its stores."""
    return Statements(layout)


_EMPTY = sql.SQL("")
_FILTER = "<filter>"
"""Where the SQL of a filter goes; its values are parameters."""
_CHANGES = {
    "text": "text = %(text)s",
    "metadata": "metadata = %(metadata)s::jsonb, payload = %(payload)s",
    "vector": "embedding = %(vector)s::vector",
    "ttl": "expires_at = {end}",
}


def _fragments(layout: Layout) -> dict[str, str]:
    vectors = layout.dimensions is not None
    return {
        "now": _NOW,
        "live": _LIVE,
        "ended": _ENDED,
        "record_ended": _ENDED.replace("s.", "r."),
        "end": _END,
        "number": _NUMBER,
        "vector_text": "embedding::text" if vectors else "NULL",
        "vector_column": ", embedding" if vectors else "",
        "vector_value": ", p.vector::vector" if vectors else "",
        "vector_set": ", embedding = EXCLUDED.embedding" if vectors else "",
    }
