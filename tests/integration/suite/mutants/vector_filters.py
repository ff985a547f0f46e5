"""Stores whose filters match something else, or match after the search has ended."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from integration.suite.mutants._searching import naive_search, of_compares, of_filters
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Combine, Compare, Filter, Scope
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant

Found = list[tuple[str, float]]

EVERYTHING = Combine("and", ())


@mutant(
    "vec_filter_returns_k",
    "vec_filter_2_percent_and_90_percent",
    "vec_filter_namespace_prefix",
)
class FiltersAfterTheIndex(PostgresAdapter):
    """Filters the few that the index looked at."""

    search = naive_search


@mutant("vec_filter_returns_k", "vec_filter_2_percent_and_90_percent")
class FiltersTheBest(RedisAdapter):
    """Finds k, and gives those that match."""

    def search(
        self, store: Any, scope: Scope, query: Any, k: int, *, filter: Any = None, **options: Any
    ) -> Found:
        found = super().search(store, scope, query, k, **options)
        matching = {each.id for each in super().list_records(store, scope, filter=filter).items}
        return [each for each in found if each[0] in matching]


@mutant("vec_filter_namespace_prefix")
class SearchesBelow(RedisAdapter):
    """Searches in all namespaces that begin with its letters."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        below = [
            each
            for each in super().list_namespaces(store, scope, ())
            if "/".join(each).startswith("/".join(scope.namespace))
        ]
        places = [replace(scope, namespace=each) for each in below]
        found = [
            super(SearchesBelow, self).search(store, each, query, k, **options) for each in places
        ]
        return sorted((each for part in found for each in part), key=lambda each: -each[1])[:k]


def _without_borders(each: Compare) -> Filter:
    if each.own and each.op in {"gte", "lte"}:
        return replace(each, op=each.op.removesuffix("e"))
    return each


@mutant("vec_filter_time_range")
class LeavesOutTheBorders(of_compares(PostgresAdapter, _without_borders)):
    """Declares bounds that are in, and leaves them out."""


def _in_utc_as_it_stands(each: Compare) -> Filter:
    if isinstance(each.value, dt.datetime):
        return replace(each, value=each.value.replace(tzinfo=dt.timezone.utc))
    return each


@mutant("vec_filter_time_range")
class DropsTheZone(of_compares(RedisAdapter, _in_utc_as_it_stands)):
    """Compares what clocks show, wherever they are."""


def _each_is_not(each: Filter) -> Filter:
    if isinstance(each, Combine) and each.op == "not":
        inner = each.filters[0]
        if isinstance(inner, Combine) and inner.op in {"and", "or"}:
            return Combine(inner.op, tuple(Combine("not", (one,)) for one in inner.filters))
    return each


@mutant("vec_filter_and_or_not_nested")
class NegatesEach(of_filters(PostgresAdapter, _each_is_not)):
    """Takes `not (a and b)` for `not a and not b`."""


def _flat(each: Filter) -> Filter:
    if isinstance(each, Combine) and each.op == "and":
        parts = [
            one.filters if isinstance(one, Combine) and one.op == "or" else (one,)
            for one in each.filters
        ]
        return Combine("and", tuple(one for part in parts for one in part))
    return each


@mutant("vec_filter_and_or_not_nested")
class LosesItsBrackets(of_filters(RedisAdapter, _flat)):
    """Takes the parts of an inner filter for parts of the outer one."""


def _empty_is_none(each: Compare) -> Filter:
    return EVERYTHING if each.op == "in" and not each.value else each


@mutant("vec_filter_in_empty_list")
class EmptyListIsNoFilter(of_compares(RedisAdapter, _empty_is_none)):
    """Filters where there are values to filter by."""


def _as_sql_has_it(each: Compare) -> Filter:
    there = Compare("exists", each.field, True)
    return Combine("and", (there, each)) if each.op in {"ne", "nin"} and not each.own else each


@mutant("vec_filter_missing_key_ne")
class MissingIsNeither(of_compares(PostgresAdapter, _as_sql_has_it)):
    """Declares that what lacks the key is unequal, and has SQL compare it."""


def _none_is_missing(each: Compare) -> Filter:
    if each.op == "exists":
        there = Combine(
            "and", (Compare("exists", each.field, True), Compare("ne", each.field, None))
        )
        return there if each.value else Combine("not", (there,))
    return each


@mutant("vec_filter_null_and_exists")
class NoneIsMissing(of_compares(RedisAdapter, _none_is_missing)):
    """Declares that a key whose value is None exists, and looks at the value."""


def _as_text(each: Compare) -> Filter:
    if each.op == "eq" and type(each.value) is int:
        return Combine("or", (each, replace(each, value=str(each.value))))
    return each


@mutant("vec_filter_type_mixed_field")
class ComparesTexts(of_compares(PostgresAdapter, _as_text)):
    """Compares what values look like."""


def _true_is_one(each: Compare) -> Filter:
    if each.op == "eq" and each.value is True:
        return Combine("or", (each, replace(each, value=1)))
    return each


@mutant("vec_filter_type_mixed_field")
class TrueIsOne(of_compares(RedisAdapter, _true_is_one)):
    """Compares as Python does."""


def _any_for_all(each: Compare) -> Filter:
    return replace(each, op="contains-any") if each.op == "contains-all" else each


@mutant("vec_filter_list_membership")
class AnyForAll(of_compares(RedisAdapter, _any_for_all)):
    """Is content with one of the values."""


def _in_text_too(each: Compare) -> Filter:
    if each.op == "contains-any":
        return Combine("or", (each, Compare("in", each.field, each.value)))
    return each


@mutant("vec_filter_list_membership")
class TextsAreLists(of_compares(PostgresAdapter, _in_text_too)):
    """Takes a text for a list of one."""
