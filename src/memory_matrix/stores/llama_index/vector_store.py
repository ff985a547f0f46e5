"""The adapter for `PGVectorStore`: nodes are records, those of each user told apart by a metadata filter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from memory_matrix.stores.adapting.on_postgres import OnPgvector
from memory_matrix.stores.adapting.on_sqlalchemy import SqlAlchemy
from memory_matrix.stores.adapting.opening import Opened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Compare, Filter, Page, Record, Scope, StoreEnv

PROJECT = "llama-index-vector-stores-postgres"
NAME = "memories"
TABLE = f"data_{NAME}"
USER = "memory_user"
"""The key of a node's metadata that says whose it is."""

OPERATORS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
    "in": "in",
    "nin": "nin",
    "contains-any": "any",
    "contains-all": "all",
}
_OF_LISTS = ("in", "nin", "contains-any", "contains-all")


class PGVectorStore(OnPgvector):
    """One table with an HNSW index, as the library's documentation begins."""

    project, client_project = PROJECT, "psycopg2-binary"
    table_names = (TABLE,)
    policy = Policy(
        # Metadata are kept as pydantic writes them in JSON, in which bytes have to be UTF-8.
        nan="none",
        value_kinds={
            **dict.fromkeys(("datetime", "uuid", "decimal"), "text"),
            **dict.fromkeys(("set", "tuple", "enum"), "plain"),
        },
        scope_parts=(),
        record_parts=("user",),
        score_range=(-1.0, 1.0),
        dimensions="one",
        filters=(*OPERATORS, "and", "or"),
        index="hnsw",
    )

    def __init__(self) -> None:
        self._store = required(PROJECT, "llama_index.vector_stores.postgres", "PGVectorStore")
        self._node = required(PROJECT, "llama_index.core.schema", "TextNode")
        types = "llama_index.core.vector_stores"
        self._query = required(PROJECT, types, "VectorStoreQuery")
        self._compare = required(PROJECT, types, "MetadataFilter")
        self._combine = required(PROJECT, types, "MetadataFilters")
        self._sqlalchemy = SqlAlchemy(PROJECT, "InternalError")  # that a server is read-only
        self.refusals = self._sqlalchemy.refusals

    def open(self, env: StoreEnv) -> Opened:
        """Return a store; it connects when it is used.

        Raises:
            ValueError: another metric than cosine, the one that the library's queries have.
        """
        if env.metric != "cosine":
            raise ValueError(f"PGVectorStore orders by cosine distance, not by {env.metric}")
        url, more = self._sqlalchemy.on_psycopg(env, "psycopg2")
        on_asyncpg, _ = self._sqlalchemy.on_asyncpg(env)
        library = self._store.from_params(
            connection_string=url.render_as_string(hide_password=False),
            async_connection_string=on_asyncpg.render_as_string(hide_password=False),
            table_name=NAME,
            schema_name=env.schema,
            embed_dim=env.dimensions,
            hnsw_kwargs={"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40},
            create_engine_kwargs=more,
        )
        return Opened(env, library)

    def setup(self, store: Opened) -> None:
        """Make the table and its index, as the first use of the store does."""
        store.library.add([])

    def close(self, store: Opened) -> None:
        """Close the store, whose only `close` is async."""
        asyncio.run(store.library.close())

    def put(self, store: Opened, scope: Scope, record: Record) -> None:
        """Add a node."""
        self.put_many(store, scope, [record])

    def put_many(self, store: Opened, scope: Scope, records: Sequence[Record]) -> None:
        """Add nodes."""
        store.library.add([self._written(scope, each) for each in records])

    def get(self, store: Opened, scope: Scope, id: str) -> Record | None:
        """Return a node."""
        found = store.library.get_nodes([id], self._wanted(scope))
        return _record(found[0]) if found else None

    def delete(self, store: Opened, scope: Scope, id: str) -> None:
        """Delete a node."""
        store.library.delete_nodes([id], self._wanted(scope))

    def delete_all(self, store: Opened, scope: Scope) -> None:
        """Delete a user's nodes."""
        store.library.delete_nodes(filters=self._wanted(scope))

    def delete_where(self, store: Opened, scope: Scope, filter: Filter) -> None:
        """Delete those of a user's nodes that match."""
        store.library.delete_nodes(filters=self._wanted(scope, filter))

    def list_records(self, store: Opened, scope: Scope, *, filter: Filter | None = None) -> Page:
        """Return a user's nodes, or those that match."""
        found = store.library.get_nodes(filters=self._wanted(scope, filter))
        return Page([_record(each) for each in found])

    def search(
        self,
        store: Opened,
        scope: Scope,
        query: Sequence[float],
        k: int,
        *,
        filter: Filter | None = None,
    ) -> list[tuple[str, float]]:
        """Return the ids of a user's nodes that are most like a vector, with their similarities."""
        asked = self._query(
            query_embedding=list(query), similarity_top_k=k, filters=self._wanted(scope, filter)
        )
        found = store.library.query(asked)
        return list(zip(found.ids, found.similarities, strict=True))

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {TABLE: {f"metadata_ ->> '{USER}'": scope.user}}

    def _written(self, scope: Scope, record: Record) -> Any:
        return self._node(
            id_=record.id,
            text=record.text,
            embedding=None if record.vector is None else list(record.vector),
            metadata={**record.metadata, USER: scope.user},
        )

    def _wanted(self, scope: Scope, wanted: Filter | None = None) -> Any:
        """Return the filter for a user's nodes, and what else is wanted of them."""
        user = self._compare(key=USER, value=scope.user)
        return self._combine(filters=[user, *([] if wanted is None else [self._filter(wanted)])])

    def _filter(self, wanted: Filter) -> Any:
        """Return a filter as the library takes it.

        Raises:
            ValueError: it is on a field of the record's own.
        """
        if isinstance(wanted, Compare):
            if wanted.own:
                raise ValueError(f"PGVectorStore filters by metadata, not by {wanted.field}")
            operator = OPERATORS[wanted.op]
            value = list(wanted.value) if wanted.op in _OF_LISTS else wanted.value
            return self._compare(key=wanted.field, value=value, operator=operator)
        below = [self._filter(each) for each in wanted.filters]
        return self._combine(filters=below, condition=wanted.op)


def _record(node: Any) -> Record:
    return Record(
        id=node.node_id,
        text=node.text,
        vector=tuple(map(float, node.embedding)),
        metadata={key: value for key, value in node.metadata.items() if key != USER},
    )
