"""What mutants of searches have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import run
from memory_matrix.stores.postgres import PostgresStore
from memory_matrix.stores.postgres.filters import Condition
from memory_matrix.stores.postgres.sql import OPERATORS
from memory_matrix.stores.postgres.values import vector_text
from memory_matrix.stores.protocol import Combine, Compare, Filter, Record, Scope

_NAIVE = """
SELECT id, {expression} {operator} %(query)s::vector({dimensions}) AS distance
FROM {records}
WHERE collection = %(collection)s AND {live} AND vector_dims(embedding) = {dimensions} AND {filter}
ORDER BY distance LIMIT %(k)s
"""


def naive_search(
    _: Any,
    store: PostgresStore,
    scope: Scope,
    query: Any,
    k: int,
    *,
    filter: Filter | None = None,
    threshold: float | None = None,
    expression: str = "embedding::vector({dimensions})",
) -> list[tuple[str, float]]:
    """Search as most applications do: the index gives what it gives, and the filter comes after it."""
    condition = Condition(filter)
    template = _NAIVE.replace("{expression}", expression).replace("{filter}", condition.sql)
    template = template.replace("{operator}", OPERATORS[store.plans.layout.metric])
    parameters = {"query": vector_text(query), "k": k, **condition.parameters}
    rows = run(store, template, scope, **parameters)
    return [row for row in rows if threshold is None or row[1] <= threshold]


def of_vectors(base: type[Any], change: Callable[[Sequence[Any]], Sequence[Any]]) -> type[Any]:
    """Return `base` with vectors changed on their way in; queries stay as they are."""

    def of_record(record: Record) -> Record:
        return record if record.vector is None else replace(record, vector=change(record.vector))

    def put(self: Any, store: Any, scope: Scope, record: Record, **options: Any) -> Any:
        return base.put(self, store, scope, of_record(record), **options)

    def put_many(
        self: Any, store: Any, scope: Scope, records: Sequence[Record], **options: Any
    ) -> Any:
        return base.put_many(self, store, scope, list(map(of_record, records)), **options)

    def update(self: Any, store: Any, scope: Scope, record_id: str, **changes: Any) -> Any:
        if changes.get("vector") is not None:
            changes["vector"] = change(changes["vector"])
        return base.update(self, store, scope, record_id, **changes)

    calls = {"put": put, "put_many": put_many, "update": update}
    return type(base.__name__, (base,), calls)


def of_filters(base: type[Any], change: Callable[[Filter], Filter]) -> type[Any]:
    """Return `base` with every filter changed, from the inside out."""

    def changed(given: Filter | None) -> Filter | None:
        if given is None:
            return None
        if isinstance(given, Combine):
            return change(Combine(given.op, tuple(_whole(each) for each in given.filters)))
        return change(given)

    def _whole(each: Filter) -> Filter:
        whole = changed(each)
        assert whole is not None
        return whole

    def search(self: Any, *arguments: Any, filter: Filter | None = None, **options: Any) -> Any:
        return base.search(self, *arguments, filter=changed(filter), **options)

    def list_records(
        self: Any, *arguments: Any, filter: Filter | None = None, **options: Any
    ) -> Any:
        return base.list_records(self, *arguments, filter=changed(filter), **options)

    calls = {"search": search, "list_records": list_records}
    return type(base.__name__, (base,), calls)


def of_compares(base: type[Any], change: Callable[[Compare], Filter]) -> type[Any]:
    """Return `base` with every comparison in a filter changed."""
    return of_filters(base, lambda each: change(each) if isinstance(each, Compare) else each)
