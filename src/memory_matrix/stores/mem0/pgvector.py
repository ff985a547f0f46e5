"""The adapter for `PGVector`: a payload has a record's text, its user and its metadata, as mem0 keeps them.

Ids are UUIDs, one in a collection: a record's is made of its user and its own id, which the payload has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from memory_matrix.stores.adapting.on_postgres import OnPgvector
from memory_matrix.stores.adapting.opening import Opened
from memory_matrix.stores.adapting.requiring import refusals, required
from memory_matrix.stores.mem0.filters import USER, wanted
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Filter, Page, Record, Scope, StoreEnv, Vector

PROJECT = "mem0ai"
WITH_EXTRA = f"{PROJECT}[vector_stores]"
COLLECTION = "mem0"
TEXT, ID = "data", "memory_id"
"""What of a payload is not metadata, beside the user."""
DEFAULT_LIMIT = 100
"""As many as `list` gives where nobody says."""

_REFUSALS = ("OperationalError", "ReadOnlySqlTransaction", "UniqueViolation")
"""What psycopg says of connections and servers, and of an id that is there."""


class PGVector(OnPgvector):
    """A collection, set up as mem0's configuration has it: with an HNSW index."""

    project = WITH_EXTRA
    table_names = (COLLECTION,)
    own_database = True  # it looks for its collections in `public`
    policy = Policy(
        non_string_keys="text",
        value_kinds={"tuple": "plain"},
        scope_parts=(),
        record_parts=("user",),
        same_id="refuse",  # `insert` and `update` are two calls
        duplicate_ids="refuse",
        default_limit=DEFAULT_LIMIT,
        dimensions="one",
        score_range=(0.0, 1.0),
        filters=("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "exists", "and", "or", "not"),
        ne_matches_missing=False,
        vectors="no",
        index="hnsw",
    )

    def __init__(self) -> None:
        self._store = required(PROJECT, "mem0.vector_stores.pgvector", "PGVector")
        self._settings = required(PROJECT, "mem0.configs.vector_stores.pgvector", "PGVectorConfig")
        self._pool = required(WITH_EXTRA, "psycopg_pool", "ConnectionPool")
        timeout = required(WITH_EXTRA, "psycopg_pool", "PoolTimeout")
        self.refusals = (*refusals(WITH_EXTRA, "psycopg.errors", *_REFUSALS), timeout)

    def open(self, env: StoreEnv) -> Opened:
        """Return a store with a pool of its own."""
        return self._made(env, connection_string=env.postgres_dsn, maxconn=env.pool_size)

    def client(self, env: StoreEnv, *, single: bool = False) -> Any:
        """Return a pool; `single`: of one connection."""
        size = 1 if single else env.pool_size
        return self._pool(env.postgres_dsn, min_size=1, max_size=size, timeout=env.wait, open=True)

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a store on a pool of the caller's."""
        return self._made(env, connection_pool=client)

    def client_works(self, client: Any) -> bool:
        """Return whether the pool's connections answer."""
        with client.connection() as connection:
            return bool(connection.execute("SELECT true").fetchone())

    def close_client(self, client: Any) -> None:
        """Close the pool."""
        client.close()

    def setup(self, store: Opened) -> None:
        """Make the collection, as the first use does."""
        store.library.list(top_k=0)

    def put(self, store: Opened, scope: Scope, record: Record) -> None:
        """Insert a record."""
        self.put_many(store, scope, [record])

    def put_many(self, store: Opened, scope: Scope, records: Sequence[Record]) -> None:
        """Insert records in one call."""
        store.library.insert(
            vectors=[_listed(each.vector) for each in records],
            payloads=[_payload(scope, each) for each in records],
            ids=[_key(scope, each.id) for each in records],
        )

    def get(self, store: Opened, scope: Scope, id: str) -> Record | None:
        """Return a record."""
        found = store.library.get(_key(scope, id))
        return None if found is None else _record(found)

    def update(
        self,
        store: Opened,
        scope: Scope,
        id: str,
        *,
        text: str | None = None,
        vector: Vector | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Update a record's vector and its payload, which is put together as mem0 does.

        Raises:
            LookupError: there is none.
        """
        found = self.get(store, scope, id)
        if found is None:
            raise LookupError(f"there is no memory {id!r}")
        changed = Record(
            id,
            text=found.text if text is None else text,
            metadata={**found.metadata, **(metadata or {})},
        )
        store.library.update(
            _key(scope, id), vector=_listed(vector), payload=_payload(scope, changed)
        )

    def delete(self, store: Opened, scope: Scope, id: str) -> None:
        """Delete a record."""
        store.library.delete(_key(scope, id))

    def list_records(
        self, store: Opened, scope: Scope, *, filter: Filter | None = None, limit: int | None = None
    ) -> Page:
        """Return records of a user."""
        size = {} if limit is None else {"top_k": limit}
        (found,) = store.library.list(filters=wanted(scope.user, filter), **size)
        return Page([_record(each) for each in found])

    def search(
        self, store: Opened, scope: Scope, query: Vector, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the records of a user that are most like a vector, with their scores."""
        found = store.library.search(
            query="", vectors=_listed(query), top_k=k, filters=wanted(scope.user, filter)
        )
        return [(each.payload[ID], each.score) for each in found]

    def close(self, store: Opened) -> None:
        """Close the pool, as the store does when it is deleted."""
        store.library.connection_pool.close()

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {COLLECTION: {f"payload ->> '{USER}'": scope.user}}

    def _made(self, env: StoreEnv, **more: Any) -> Opened:
        settings = self._settings(
            collection_name=COLLECTION, embedding_model_dims=env.dimensions, **more
        )
        return Opened(env, self._store(**settings.model_dump()))


def _listed(vector: Sequence[float] | None) -> Sequence[float] | None:
    """Return a vector as a list, which is what the library's calls take."""
    return list(vector) if isinstance(vector, tuple) else vector


def _key(scope: Scope, id: str | None) -> str | None:
    return None if id is None else str(uuid5(NAMESPACE_OID, repr((scope.user, id))))


def _payload(scope: Scope, record: Record) -> dict[str, Any]:
    return {**record.metadata, TEXT: record.text, USER: scope.user, ID: record.id}


def _record(found: Any) -> Record:
    metadata = dict(found.payload)
    text, _, id_ = (metadata.pop(own) for own in (TEXT, USER, ID))
    return Record(id_, text=text, metadata=metadata)
