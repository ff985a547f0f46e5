"""Filters as mem0's vector stores take them: one mapping, in which each key has one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_matrix.stores.protocol import Compare, Filter

USER = "user_id"


def wanted(user: str, filter: Filter | None) -> dict[str, Any]:
    """Return what holds for the records of a user that match a filter."""
    whose = {USER: user}
    return whose if filter is None else _merged(whose, _translated(filter))


def _translated(wanted: Filter) -> dict[str, Any]:
    if isinstance(wanted, Compare):
        return _comparison(wanted)
    parts = [_translated(each) for each in wanted.filters]
    if wanted.op == "and":
        return _merged(*parts)
    return {f"${wanted.op}": parts}


def _comparison(wanted: Compare) -> dict[str, Any]:
    if wanted.op == "exists":
        anything = {wanted.field: "*"}
        return anything if wanted.value else {"$not": [anything]}
    if wanted.op == "eq":
        return {wanted.field: wanted.value}
    value = list(wanted.value) if wanted.op in {"in", "nin"} else wanted.value
    return {wanted.field: {wanted.op: value}}


def _merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return filters all of which must hold as one, in which each key has one place.

    Those that are about the same are put as what is not: that any of them does not hold.
    """
    merged: dict[str, Any] = {}
    for key, value in (item for part in parts for item in part.items()):
        if key in merged:
            return {"$not": [{"$not": [part]} for part in parts]}
        merged[key] = value
    return merged
