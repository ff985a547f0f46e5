"""Items as records: what all of LangGraph's stores take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_matrix.stores.adapting.opening import Opened
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Compare, Filter, Page, Record, Scope, StoreEnv

TEXT = "memory_text"
"""The field of an item's value that holds the text; metadata are the fields beside it."""
DEFAULT_LIMIT = 10
"""As many items as `search` gives where nobody says."""
METRICS = {"cosine": "cosine", "l2": "l2", "ip": "inner_product"}
COMPARISONS = ("eq", "ne", "lt", "lte", "gt", "gte")

POLICY = Policy(
    non_string_keys="text",
    value_kinds={"tuple": "plain"},
    scope_parts=(),
    record_parts=("namespace",),
    namespaces="prefix",
    namespace_wildcard="*",
    namespace_refuses=".",
    default_limit=DEFAULT_LIMIT,
    cursor="offset",
    ttl="record",
    ttl_on_update="clear",
    ttl_zero="expired",
    filters=(*COMPARISONS, "and"),
    ne_matches_missing=False,
)
"""What the library says of `search`, of `put` and of `TTLConfig`, whichever database is below it."""


class Items:
    """What the adapters of plain stores share."""

    _put_op: Any

    def put(self, store: Opened, scope: Scope, record: Record, *, ttl: float | None = None) -> None:
        """Put an item."""
        store.library.put(scope.namespace, record.id, value(record), **living(ttl))

    def put_many(
        self, store: Opened, scope: Scope, records: Sequence[Record], *, ttl: float | None = None
    ) -> None:
        """Put items in one batch."""
        store.library.batch(puts(self._put_op, scope, records, ttl))

    def get(self, store: Opened, scope: Scope, id: str) -> Record | None:
        """Return an item."""
        return found(store.library.get(scope.namespace, id))

    def delete(self, store: Opened, scope: Scope, id: str) -> None:
        """Delete an item."""
        store.library.delete(scope.namespace, id)

    def list_records(
        self,
        store: Opened,
        scope: Scope,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> Page:
        """Return a page of the items at and below a namespace; a cursor is an offset."""
        asked = listing(self._conditions(filter), limit, cursor)
        return page(store.library.search(scope.namespace, **asked), asked)

    def list_namespaces(
        self, store: Opened, scope: Scope, prefix: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below `prefix`."""
        return list(store.library.list_namespaces(prefix=prefix))

    def _conditions(self, wanted: Filter | None) -> dict[str, Any] | None:
        return conditions(wanted)


class SearchedItems(Items):
    """What those share that have an index by embeddings."""

    def search(
        self, store: Opened, scope: Scope, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return the keys of the items most like a text, with their scores."""
        asked = {"query": query, "limit": k, "filter": self._conditions(filter)}
        return scored(store.library.search(scope.namespace, **asked))


def puts(put_op: Any, scope: Scope, records: Sequence[Record], ttl: float | None) -> list[Any]:
    """Return what a batch takes to put records."""
    return [put_op(scope.namespace, each.id, value(each), **living(ttl)) for each in records]


def value(record: Record) -> dict[str, Any]:
    """Return a record as an item's value."""
    return {**record.metadata, TEXT: record.text}


def living(ttl: float | None) -> dict[str, float]:
    """Return a time to live of seconds as the library takes it, in minutes."""
    return {} if ttl is None else {"ttl": ttl / 60}


def index(env: StoreEnv) -> dict[str, Any]:
    """Return the settings of an index of the texts' embeddings."""
    return {
        "dims": env.dimensions,
        "embed": env.embed,
        "fields": [TEXT],
        "distance_type": METRICS.get(env.metric, env.metric),
    }


def record(item: Any) -> Record:
    """Return an item as a record."""
    return Record(
        id=item.key,
        text=item.value[TEXT],
        metadata={key: value for key, value in item.value.items() if key != TEXT},
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def found(item: Any) -> Record | None:
    """Return what `get` gives as a record."""
    return None if item is None else record(item)


def scored(items: Sequence[Any]) -> list[tuple[str, float]]:
    """Return the keys of found items, with their scores."""
    return [(item.key, item.score) for item in items]


def listing(
    asked: Mapping[str, Any] | None, limit: int | None, cursor: int | None
) -> dict[str, Any]:
    """Return what `search` takes to list a page of what meets conditions; a cursor is an offset."""
    return {
        "filter": asked,
        "limit": DEFAULT_LIMIT if limit is None else limit,
        "offset": cursor or 0,
    }


def page(items: Sequence[Any], asked: Mapping[str, Any]) -> Page:
    """Return the items that `search` gave for a listing as a page."""
    more = asked["limit"] > 0 and len(items) == asked["limit"]
    return Page([record(each) for each in items], asked["offset"] + len(items) if more else None)


def conditions(wanted: Filter | None) -> dict[str, Any] | None:
    """Return a filter as the library takes it: operators by field, all of which must hold.

    Raises:
        ValueError: it asks one field the same thing twice, which the library cannot.
    """
    if wanted is None:
        return None
    fields: dict[str, dict[str, Any]] = {}
    for each in _comparisons(wanted):
        operators = fields.setdefault(each.field, {})
        if f"${each.op}" in operators:
            raise ValueError(f"the store takes one {each.op} for the field {each.field!r}")
        operators[f"${each.op}"] = each.value
    return dict(fields)


def plain_conditions(wanted: Filter | None) -> dict[str, Any] | None:
    """Return the same, but a plain value where a field is to be equal to it and nothing else.

    Raises:
        ValueError: as `conditions`.
    """
    by_field = conditions(wanted)
    return by_field and {
        field: operators["$eq"] if [*operators] == ["$eq"] else operators
        for field, operators in by_field.items()
    }


def _comparisons(wanted: Filter) -> list[Compare]:
    if isinstance(wanted, Compare):
        return [wanted]
    if wanted.op != "and":
        raise ValueError(f"the store has no filter {wanted.op!r}")
    return [each for below in wanted.filters for each in _comparisons(below)]
