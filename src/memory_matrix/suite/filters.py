"""The reference evaluator of filters: what a filter means, given what a store declares."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Combine, Compare, Filter, Record
from memory_matrix.suite import expect

_MISSING = object()


def matches(filter_: Filter, record: Record, policy: Policy) -> bool:
    """Return whether `record` matches.

    In a store whose `ne` leaves out records that lack the key, a comparison with a missing key is
    neither true nor false, and so is its `not`, as in SQL.
    """
    return _holds(filter_, record, policy) is True


def operators(filter_: Filter) -> set[str]:
    """Return all operators that a filter is made of."""
    inner = filter_.filters if isinstance(filter_, Combine) else ()
    return {filter_.op}.union(*map(operators, inner))


def _holds(filter_: Filter, record: Record, policy: Policy) -> bool | None:
    if isinstance(filter_, Compare):
        return _compared(filter_, record, policy)
    parts = [_holds(each, record, policy) for each in filter_.filters]
    if filter_.op == "not":
        return None if parts[0] is None else not parts[0]
    decisive = filter_.op == "or"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _compared(filter_: Compare, record: Record, policy: Policy) -> bool | None:
    source: Mapping[str, Any] = vars(record) if filter_.own else record.metadata
    found = source.get(filter_.field, _MISSING)
    if found is None and not policy.null_exists:
        found = _MISSING
    if filter_.op == "exists":
        return (found is not _MISSING) is filter_.value
    if found is _MISSING:
        return filter_.op in {"ne", "nin"} if policy.ne_matches_missing else None
    op: str = filter_.op
    if isinstance(found, dt.datetime) and policy.time_filter == "exclusive":
        op = op.removesuffix("e") if op in {"lte", "gte"} else op
    return _OPERATORS[op](found, filter_.value)


def _equal(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    if isinstance(left, dt.datetime) and isinstance(right, dt.datetime):
        return left == right
    return expect.same(left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison that is true of numbers, of texts and of times only."""

    def compare(found: Any, value: Any) -> bool:
        alike = type(found) is type(value) and isinstance(found, str | dt.datetime)
        return (alike or (_is_number(found) and _is_number(value))) and holds(found, value)

    return compare


def _among(found: Any, values: Any) -> bool:
    return any(_equal(found, each) for each in values)


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda found, value: not _equal(found, value),
    "lt": _ordered(lambda found, value: bool(found < value)),
    "lte": _ordered(lambda found, value: bool(found <= value)),
    "gt": _ordered(lambda found, value: bool(found > value)),
    "gte": _ordered(lambda found, value: bool(found >= value)),
    "in": _among,
    "nin": lambda found, values: not _among(found, values),
    "contains-any": lambda found, values: (
        isinstance(found, list) and any(_among(each, found) for each in values)
    ),
    "contains-all": lambda found, values: (
        isinstance(found, list) and all(_among(each, found) for each in values)
    ),
}
