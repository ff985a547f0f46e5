"""Stores whose indexes are not used, are there twice, or show what was."""

from __future__ import annotations

from dataclasses import replace
from functools import partialmethod
from typing import Any

from integration.suite.mutants._postgres import change, run
from integration.suite.mutants._searching import naive_search
from memory_matrix.stores.postgres import PostgresAdapter, PostgresStore
from memory_matrix.stores.protocol import Compare, Page, Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant

_INDEX = """
CREATE INDEX {named} ON {records} USING hnsw ((embedding::vector({dimensions})) {operators})
WHERE vector_dims(embedding) = {dimensions}
"""


def _make_index(store: PostgresStore, named: str, operators: str) -> None:
    template = _INDEX.replace("{named}", named).replace("{operators}", operators)
    run(store, template, Scope())


@mutant("idx_used_for_search")
class AnotherExpression(PostgresAdapter):
    """Searches by another expression than the one that has the index."""

    search = partialmethod(naive_search, expression="embedding")


@mutant("idx_used_for_session_read")
class WrapsTheKey(PostgresAdapter):
    """Reads by a function of the key, which no index knows."""

    def open(self, env: StoreEnv) -> PostgresStore:
        store = super().open(env)
        found = "WHERE session_key = %(key)s"
        change(store, "read", found, "WHERE session_key::text = %(key)s::text")
        return store


@mutant("idx_used_for_session_read")
class GetsByListing(PostgresAdapter):
    """Looks through all records for one."""

    def get(self, store: Any, scope: Scope, id: str) -> Record | None:
        records = super().list_records(store, scope).items
        return next((each for each in records if each.id == id), None)


@mutant("idx_created_once")
class OneMoreEachTime(PostgresAdapter):
    """Makes an index without a name, and so another one each time."""

    def setup(self, store: PostgresStore) -> None:
        super().setup(store)
        _make_index(store, "", "{operator_class}")


@mutant("idx_created_once")
class OfAnotherMetric(PostgresAdapter):
    """Indexes vectors by another metric than it searches by."""

    def setup(self, store: PostgresStore) -> None:
        super().setup(store)
        run(store, "DROP INDEX {vector_index}", Scope())
        _make_index(store, "{vector_index}", "vector_l2_ops")


@mutant("idx_search_returns_updated_fields")
class ListsTheFirst(RedisAdapter):
    """Lists when a record was made for when it was changed."""

    def list_records(self, *arguments: Any, **options: Any) -> Page:
        page = super().list_records(*arguments, **options)
        return replace(
            page, items=[replace(each, updated_at=each.created_at) for each in page.items]
        )


@mutant("idx_search_returns_updated_fields")
class FiltersByWhatWas(PostgresAdapter):
    """Filters searches by the metadata that records had first."""

    def __init__(self) -> None:
        self._first: dict[str, Record] = {}

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        self._first.setdefault(record.id, record)
        super().put(store, scope, record, **options)

    def search(
        self, *arguments: Any, filter: Any = None, **options: Any
    ) -> list[tuple[str, float]]:
        found = super().search(*arguments, **options)
        if not isinstance(filter, Compare):
            return found
        return [
            each
            for each in found
            if each[0] in self._first
            and self._first[each[0]].metadata.get(filter.field) == filter.value
        ]
