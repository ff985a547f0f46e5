"""Filters on records, evaluated where their metadata has been decoded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.protocol import Combine, Compare, Filter, Record
from memory_matrix.stores.redis.values import same, utc

Test = Callable[[Record], bool]

_MISSING = object()
_OWN = ("id", "text", "created_at", "updated_at")


def compiled(condition: Filter | None) -> Test:
    """Return what tells whether a record matches; without a condition, all do.

    Raises:
        RefusedError: it has an operator, a field or a value that means nothing.
    """
    return _all if condition is None else _test(condition)


def _all(_: Record) -> bool:
    return True


def _test(each: object) -> Test:
    if isinstance(each, Combine):
        return _combined(each)
    if not isinstance(each, Compare) or each.op not in _OPERATORS:
        raise RefusedError(f"{each!r} is no filter; there are {', '.join(_OPERATORS)}, and/or/not.")
    value = _wanted(each)
    field, is_own, holds = each.field, each.own, _OPERATORS[each.op]
    return lambda record: holds(_found(record, field, is_own), value)


def _combined(each: Any) -> Test:
    tests = [_test(part) for part in each.filters]
    if each.op == "and":
        return lambda record: all(test(record) for test in tests)
    if each.op == "or":
        return lambda record: any(test(record) for test in tests)
    if each.op == "not" and len(tests) == 1:
        return lambda record: not tests[0](record)
    raise RefusedError(f"{each.op!r} of {len(tests)} filters means nothing; `not` takes one.")


def _wanted(each: Compare) -> Any:
    if each.own and each.field not in _OWN:
        raise RefusedError(f"A record has no field {each.field!r}; it has {', '.join(_OWN)}.")
    if each.op in {"in", "nin", "contains-any", "contains-all"}:
        if not isinstance(each.value, list | tuple):
            raise RefusedError(f"The filter {each.op} on {each.field!r} needs a list of values.")
        return [_comparable(value) for value in each.value]
    return _comparable(each.value)


def _comparable(value: Any) -> Any:
    return utc(value, "A time in a filter") if isinstance(value, dt.datetime) else value


def _found(record: Record, field: str, is_own: bool) -> Any:
    source: Mapping[str, Any] = vars(record) if is_own else record.metadata
    return source.get(field, _MISSING)


def equal(left: Any, right: Any) -> bool:
    """Return whether two values of metadata are one: 1 and 1.0 are, 1 and True are not."""
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return same(left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(found: Any, value: Any) -> bool:
        numbers = _is_number(found) and _is_number(value)
        alike = type(found) is type(value) and isinstance(found, str | dt.datetime)
        return (numbers or alike) and holds(found, value)

    return compare


def _in(found: Any, values: list[Any]) -> bool:
    return found is not _MISSING and any(equal(found, value) for value in values)


def _contains(found: Any, value: Any) -> bool:
    return any(equal(each, value) for each in found)


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda found, value: found is not _MISSING and equal(found, value),
    "ne": lambda found, value: found is _MISSING or not equal(found, value),
    "lt": _ordered(lambda found, value: bool(found < value)),
    "lte": _ordered(lambda found, value: bool(found <= value)),
    "gt": _ordered(lambda found, value: bool(found > value)),
    "gte": _ordered(lambda found, value: bool(found >= value)),
    "in": _in,
    "nin": lambda found, values: not _in(found, values),
    "exists": lambda found, wanted: (found is not _MISSING) is bool(wanted),
    "contains-any": lambda found, values: (
        isinstance(found, list) and any(_contains(found, value) for value in values)
    ),
    "contains-all": lambda found, values: (
        isinstance(found, list) and all(_contains(found, value) for value in values)
    ),
}
