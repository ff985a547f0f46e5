"""The tables of the store: their names, what makes them, and what tells which release made them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_matrix.stores.errors import RefusedError

SCHEMA_VERSION = 2
"""Raised when the layout changes; 1 had no write ids."""

OPERATORS = {"cosine": "<=>", "l2": "<->", "ip": "<#>"}
OPERATOR_CLASSES = {"cosine": "vector_cosine_ops", "l2": "vector_l2_ops", "ip": "vector_ip_ops"}
_INDEXABLE = 2000
"""The most dimensions that pgvector's HNSW takes."""
FEW = 16
"""Up to so many dimensions half of pgvector's default links find all there is, in a third of the time."""

LINKS = "m = 16, ef_construction = 64"
FEWER_LINKS = "m = 8, ef_construction = 32"

# Few relations on purpose: what makes a table slow to make is its TOAST table and its sequences.
# A user's or an app's state is a row of its own among the sessions, without an owner.
BASE = """
CREATE TABLE IF NOT EXISTS {sessions} (
    key uuid PRIMARY KEY,
    owner uuid,
    app text NOT NULL,
    user_id text,
    session text,
    incarnation uuid NOT NULL,
    number bigint NOT NULL,
    history bigint NOT NULL DEFAULT 1,
    next_position bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 1,
    state jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz
);
CREATE INDEX IF NOT EXISTS {sessions_order} ON {sessions} (owner, number);
CREATE TABLE IF NOT EXISTS {messages} (
    session_key uuid NOT NULL REFERENCES {sessions} ON DELETE CASCADE,
    history bigint NOT NULL,
    position bigint NOT NULL,
    id text,
    role text NOT NULL,
    text text NOT NULL,
    metadata jsonb,
    tool jsonb,
    payload bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (session_key, history, position)
);
CREATE TABLE IF NOT EXISTS {records} (
    collection uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    owner uuid NOT NULL,
    app text NOT NULL,
    user_id text NOT NULL,
    namespace text[] NOT NULL,
    number bigint NOT NULL,
    text text NOT NULL,
    metadata jsonb NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (collection, id)
);
CREATE INDEX IF NOT EXISTS {records_order} ON {records} (owner, collection, number);
"""

WRITES = """
CREATE TABLE IF NOT EXISTS {writes} (
    target uuid NOT NULL,
    write_id uuid NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (target, write_id)
);
"""

VERSION = """
COMMENT ON TABLE {sessions} IS {version};
"""

VECTORS = """
ALTER TABLE {records} ADD COLUMN IF NOT EXISTS embedding vector;
"""

INDEX = """
CREATE INDEX IF NOT EXISTS {vector_index} ON {records}
    USING hnsw ((embedding::vector({dimensions})) {operator_class}) WITH ({links})
    WHERE vector_dims(embedding) = {dimensions};
"""

NAMES = ("sessions", "messages", "records", "writes", "sessions_order", "records_order")
COMMENT = "memory-matrix, layout "
CURRENT = f"{COMMENT}{SCHEMA_VERSION}"
"""The comment on the sessions' table of this release."""


def version_of(comment: str | None) -> int | None:
    """Return the layout's version that the comment on the sessions' table names."""
    text = (comment or "").removeprefix(COMMENT)
    return int(text) if text.isdecimal() and text != comment else None


@dataclass(frozen=True)
class Layout:
    """What decides the SQL: the tables' common prefix, and what vectors there are."""

    tables: str = "memory"
    dimensions: int | None = None
    metric: str = "cosine"

    def __post_init__(self) -> None:
        """Refuse what has no tables."""
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,29}", self.tables):
            raise RefusedError(
                f"tables is {self.tables!r}; it should be up to 30 small letters, digits and _, "
                "which the names of the tables begin with."
            )
        if self.metric not in OPERATORS:
            raise RefusedError(
                f"There is no metric {self.metric!r}; there are {', '.join(OPERATORS)}."
            )
        if self.dimensions is not None and not (
            type(self.dimensions) is int and 0 < self.dimensions <= 16000
        ):
            raise RefusedError(
                f"dimensions is {self.dimensions!r}; pgvector has 1 to 16,000, None is without."
            )

    @property
    def indexed(self) -> bool:
        """Whether its vectors have an index."""
        return self.dimensions is not None and self.dimensions <= _INDEXABLE

    @property
    def vector_index(self) -> str:
        """The name of that index."""
        return f"{self.tables}_{self.metric}_{self.dimensions}"

    def table(self, name: str) -> str:
        """Return the full name of a table or an index."""
        return f"{self.tables}_{name}"
