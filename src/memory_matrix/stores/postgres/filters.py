"""Filters as SQL on the metadata's jsonb, or on a record's own columns, with values as parameters.

Each part is true or false, never NULL, so that `not` means what it says. Nothing is cast that could
fail: a comparison looks at the value's type first. Texts compare by code points, as Python's do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.postgres.values import checked_text, checked_time, json_text, shown
from memory_matrix.stores.protocol import Combine, Compare, Filter

_ORDER = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_EVERYTHING = "true"
_DEEPEST = 100


class Condition:
    """A filter as SQL, and the parameters that the SQL names."""

    def __init__(self, filter: Filter | None) -> None:
        self.parameters: dict[str, Any] = {}
        self.sql = _EVERYTHING if filter is None else self._of(filter, 0)

    def _of(self, found: object, depth: int) -> str:
        if depth > _DEEPEST:
            raise RefusedError(f"The filter is nested deeper than {_DEEPEST} levels.")
        if isinstance(found, Combine):
            return self._combined(found, depth)
        if not isinstance(found, Compare):
            raise RefusedError(f"The filter holds {shown(found)}; it can hold Compare and Combine.")
        compare = self._own if found.own else self._metadata
        return f"coalesce({compare(found)}, false)"

    def _combined(self, found: Combine, depth: int) -> str:
        parts = [self._of(each, depth + 1) for each in found.filters]
        if found.op == "not" and len(parts) == 1:
            return f"(NOT {parts[0]})"
        if found.op not in {"and", "or"}:
            raise RefusedError(
                f"The filter joins {len(parts)} filters by {shown(found.op)}; there are and, or, "
                "and not with one filter."
            )
        empty = "true" if found.op == "and" else "false"
        return f"({f' {found.op.upper()} '.join(parts) or empty})"

    def _metadata(self, found: Compare) -> str:
        key = self._parameter(checked_text(found.field, "A key in the filter"), "text")
        value = f"(metadata -> {key})"
        if found.op == "exists":
            return f"(metadata ? {key}) = {self._parameter(_flag(found), 'boolean')}"
        if found.op in _ORDER:
            return self._ordered(found, key, value)
        operator = _operator(found, _METADATA)
        return operator(value, self._json(found))

    def _ordered(self, found: Compare, key: str, value: str) -> str:
        sign = _ORDER[found.op]
        if type(found.value) is str:
            text = self._parameter(checked_text(found.value, "A text in the filter"), "text")
            return _typed(value, "string", f'(metadata ->> {key}) COLLATE "C" {sign} {text}')
        if type(found.value) in {int, float}:
            return _typed(value, "number", f"{value} {sign} {self._json(found)}")
        raise RefusedError(
            f"The filter {found.op} has {shown(found.value)}; it orders numbers and texts."
        )

    def _own(self, found: Compare) -> str:
        column, kind, check = _column(found.field)
        if found.op == "exists":
            return f"true = {self._parameter(_flag(found), 'boolean')}"
        operator = _operator(found, _COLUMN)
        if found.op in {"in", "nin"}:
            values = [check(each) for each in _values(found)]
            return operator(column, self._parameter(values, f"{kind}[]"))
        return operator(column, self._parameter(check(found.value), kind))

    def _json(self, found: Compare) -> str:
        if found.op in _MANY:
            texts = [json_text(each, "The filter") for each in _values(found)]
            return self._parameter(texts, "jsonb[]")
        return self._parameter(json_text(found.value, "The filter"), "jsonb")

    def _parameter(self, value: Any, kind: str) -> str:
        name = f"filter{len(self.parameters)}"
        self.parameters[name] = value
        if kind == "jsonb[]":
            return f"%({name})s::text[]::jsonb[]"
        return f"%({name})s::{kind}"


def _typed(value: str, kind: str, comparison: str) -> str:
    return f"CASE WHEN jsonb_typeof({value}) = '{kind}' THEN {comparison} ELSE false END"


def _items(value: str) -> str:
    """Return the items of a list as an array; none where the value is no list."""
    lists = f"CASE WHEN jsonb_typeof({value}) = 'array' THEN {value} END"
    return f"ARRAY(SELECT jsonb_array_elements({lists}))"


def _compared(sign: str, value: str, other: str) -> str:
    return f"{value} {sign} {other}"


_MANY = frozenset({"in", "nin", "contains-any", "contains-all"})
_Operator = Callable[[str, str], str]
_COLUMN: Mapping[str, _Operator] = {
    "eq": lambda value, other: f"{value} = {other}",
    "ne": lambda value, other: f"{value} IS DISTINCT FROM {other}",
    "in": lambda value, others: f"{value} = ANY ({others})",
    "nin": lambda value, others: f"NOT coalesce({value} = ANY ({others}), false)",
    **{op: partial(_compared, sign) for op, sign in _ORDER.items()},
}
_METADATA: Mapping[str, _Operator] = {
    "eq": _COLUMN["eq"],
    "ne": _COLUMN["ne"],
    "in": _COLUMN["in"],
    "nin": _COLUMN["nin"],
    "contains-any": lambda value, others: f"{_items(value)} && {others}",
    "contains-all": lambda value, others: (
        f"(jsonb_typeof({value}) = 'array' AND {_items(value)} @> {others})"
    ),
}


def _operator(found: Compare, operators: Mapping[str, _Operator]) -> _Operator:
    if found.op not in operators:
        raise RefusedError(
            f"The filter on {shown(found.field)} has the operator {shown(found.op)}; there are "
            f"{', '.join(operators)}."
        )
    return operators[found.op]


def _values(found: Compare) -> Sequence[Any]:
    if not isinstance(found.value, list | tuple | set | frozenset):
        raise RefusedError(f"The filter {found.op} has {shown(found.value)}; it takes a list.")
    return tuple(found.value)


def _flag(found: Compare) -> bool:
    if not isinstance(found.value, bool) and found.value is not None:
        raise RefusedError(f"The filter exists has {shown(found.value)}; it takes True or False.")
    return found.value is not False


def _column(field: str) -> tuple[str, str, Callable[[object], Any]]:
    if field in {"id", "text"}:
        return f'{field} COLLATE "C"', "text", lambda value: checked_text(value, f"The {field}")
    if field in {"created_at", "updated_at"}:
        return field, "timestamptz", lambda value: checked_time(value, f"The filter on {field}")
    raise RefusedError(
        f"The filter is on {shown(field)}, which no record has; there are id, text, created_at "
        "and updated_at."
    )
