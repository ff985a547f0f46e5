"""Group J: filters on what a search finds, and on what is listed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from memory_matrix.stores.protocol import Combine, Compare, Filter, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.filters import matches, operators
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.vectors import (
    axis,
    both_ways,
    crowd,
    embedded,
    expect_nearest,
    expect_recall,
    measured,
    queries,
    recall,
)

GROUP = "J"

SCOPE = Scope()
K = 10
NEAR, FAR = 3.0, -3.0
MANY = 300
"""As many records near the query as an index looks at before it gives up on those that match."""
START = dt.datetime(2026, 3, 1, 12, tzinfo=dt.timezone.utc)


def test_vec_filter_returns_k(memory: Memory) -> None:
    """Where k records match, all far from the query, k are found: the true nearest of them."""
    store = _filtering(memory, "eq")
    near = crowd(store, "near", MANY, NEAR, who="crowd")
    far = crowd(store, "far", 30, FAR, who="mine")
    store.put_all(SCOPE, _mixed(near, far))
    _expect_true_ones(store, SCOPE, far, filter=Compare("eq", "who", "mine"))


def test_vec_filter_2_percent_and_90_percent(memory: Memory) -> None:
    """Filters that match few and filters that match most both give k, and the nearest of these."""
    store = _filtering(memory, "eq")
    records = [
        embedded(f"r{n}", vector, {"share": _share(n)})
        for n, vector in enumerate(queries(store, "shares", MANY))
    ]
    store.put_all(SCOPE, records)
    for share in ("few", "most"):
        matching = [each for each in records if each.metadata["share"] == share]
        wanted = Compare("eq", "share", share)
        for searching in both_ways(store):
            what = f"a search in the {len(matching)} of {MANY} that match"
            shares = [
                recall(
                    searching,
                    what,
                    searching.search(SCOPE, query, 5, filter=wanted),
                    matching,
                    query,
                    5,
                )
                for query in queries(store, "queries", 5)
            ]
            expect_recall(searching, what, shares)


def test_vec_filter_namespace_prefix(memory: Memory) -> None:
    """A search in one namespace, or of one user, gives k of its own however crowded others are."""
    memory.require("search", "put")
    store = measured(memory)
    own = {part: _elsewhere(part) for part in store.policy.record_parts}
    if not own:
        store.not_offered("no part of a scope tells its records apart")
    store.put_all(SCOPE, crowd(store, "near", MANY, NEAR))
    records = {part: crowd(store, f"of-{part}-", 15, FAR) for part in own}
    for part, scope in own.items():
        store.put_all(scope, records[part])
    for part, scope in own.items():
        _expect_true_ones(store, scope, records[part])
    if "namespace" in own:
        _below_a_namespace(store)


def test_vec_filter_time_range(memory: Memory) -> None:
    """Records made between two times are found, the bounds as declared, in whatever zone they are."""
    memory.require_policy(time_filter=("inclusive", "exclusive"))
    store = _filtering(memory)
    records = [_put_at(store, n, START + dt.timedelta(minutes=n)) for n in range(6)]
    if any(each.created_at is None for each in records):
        store.not_offered("the store does not say when a record was made")
    times = sorted(each.created_at for each in records if each.created_at is not None)
    india = dt.timezone(dt.timedelta(hours=5, minutes=30))
    for zone in (dt.timezone.utc, india, dt.timezone(-dt.timedelta(hours=8))):
        for first, last in ((1, 4), (0, 5), (2, 2), (4, 1)):
            lower = Compare("gte", "created_at", times[first].astimezone(zone), own=True)
            upper = Compare("lte", "created_at", times[last].astimezone(zone), own=True)
            for wanted in (lower, upper, Combine("and", (lower, upper))):
                _expect_matching(store, records, wanted, declared=("gte", "lte"))


def test_vec_filter_and_or_not_nested(memory: Memory) -> None:
    """Filters joined by and, or and not, at any depth, match what the reference matches."""
    store = _filtering(memory)
    if not {"and", "or", "not"} & set(store.policy.filters):
        store.not_offered("it joins no filters")
    records = [_varied(n, vector) for n, vector in enumerate(queries(store, "nested", 36))]
    store.put_all(SCOPE, records)
    _expect_all_matching(store, records, _nested())


def test_vec_filter_in_empty_list(memory: Memory) -> None:
    """`in` an empty list matches nothing and `nin` everything, without an error."""
    store = _filtering(memory, "in")
    records = [_varied(n, vector) for n, vector in enumerate(queries(store, "empty", 6))]
    store.put_all(SCOPE, records)
    none = Compare("in", "kind", [])
    red = Compare("eq", "kind", "red")
    filters: list[Filter] = [
        none,
        Compare("nin", "kind", []),
        Combine("or", (none, red)),
        Combine("and", (red, none)),
        Combine("not", (none,)),
    ]
    _expect_all_matching(store, records, filters)


def test_vec_filter_missing_key_ne(memory: Memory) -> None:
    """Records that lack the key match `ne` and `nin`, or do not, as declared."""
    store = _filtering(memory)
    if not {"ne", "nin"} & set(store.policy.filters):
        store.not_offered("it has neither ne nor nin")
    records = _with_values(store, {"a": "x", "b": "y", "c": ""}, lacking=2)
    filters: list[Filter] = [
        Compare("ne", "value", "x"),
        Compare("ne", "value", "none such"),
        Compare("nin", "value", ["x", "y"]),
        Compare("nin", "value", ["none such"]),
        Compare("ne", "never", "x"),
    ]
    _expect_all_matching(store, records, filters)


def test_vec_filter_null_and_exists(memory: Memory) -> None:
    """A key whose value is None exists or not as declared, and is told from a missing key."""
    store = _filtering(memory)
    values = {"none": None, "text": "x", "zero": 0, "false": False, "empty": ""}
    records = _with_values(store, values, lacking=2)
    filters: list[Filter] = [
        Compare("exists", "value", True),
        Compare("exists", "value", False),
        Compare("exists", "never", True),
        Compare("ne", "value", "x"),
        Compare("eq", "value", ""),
    ]
    if store.policy.null_exists:
        filters += [Compare("eq", "value", None), Compare("ne", "value", None)]
        filters += [Compare("in", "value", ["x", None])]
    _expect_all_matching(store, records, filters)


def test_vec_filter_type_mixed_field(memory: Memory) -> None:
    """A filter on a key that holds texts here and numbers there compares like with like, and goes on."""
    store = _filtering(memory)
    values = {
        "int": 5,
        "digits": "5",
        "float": 5.5,
        "text": "abc",
        "true": True,
        "one": 1,
        "none": None,
        "list": [5],
        "dict": {"a": 5},
        "nan": "nan",
        "empty": "",
        "huge": 10**12,
    }
    records = _with_values(store, values, lacking=1)
    filters: list[Filter] = [Compare("eq", "value", each) for each in (5, "5", "abc", True, 1)]
    filters += [Compare("in", "value", [5, "abc", True]), Compare("nin", "value", [5, "abc"])]
    for bound in (4, 5.5, "5", "b"):
        filters += [Compare("lt", "value", bound), Compare("lte", "value", bound)]
        filters += [Compare("gt", "value", bound), Compare("gte", "value", bound)]
    _expect_all_matching(store, records, filters)


def test_vec_filter_list_membership(memory: Memory) -> None:
    """Lists are matched by what they hold: any of the values, or all of them, each whole."""
    store = _filtering(memory)
    if not {"contains-any", "contains-all"} & set(store.policy.filters):
        store.not_offered("it has neither contains-any nor contains-all")
    values = {
        "ab": ["a", "b"],
        "abc": ["c", "a", "b"],
        "joined": ["a,b"],
        "longer": ["abc"],
        "text": "a",
        "numbers": [1, 2],
        "digits": ["1"],
        "empty": [],
    }
    records = _with_values(store, values, lacking=1)
    wanted: list[list[Any]] = [["a"], ["a", "b"], ["b", "z"], ["a,b"], ["1"], [1], ["z"]]
    filters: list[Filter] = [Compare("contains-any", "value", each) for each in wanted]
    filters += [Compare("contains-all", "value", each) for each in wanted]
    _expect_all_matching(store, records, filters)


# ---- what a filter finds ----------------------------------------------------------------------


def _filtering(memory: Memory, *needed: str) -> Memory:
    """Return the store; end the case unless its searches take filters of the needed operators."""
    memory.require("search", "put")
    if not memory.policy.filters or not memory.offers("search", "filter"):
        memory.not_offered("its searches take no filter")
    for operator in needed:
        if operator not in memory.policy.filters:
            memory.not_offered(f"it has no filter {operator}")
    return measured(memory)


def _expect_all_matching(
    memory: Memory, records: Sequence[Record], filters: Iterable[Filter]
) -> None:
    """Try all filters that the store declares to translate; the case ends if there are none."""
    declared = set(memory.policy.filters)
    usable = [each for each in filters if operators(each) <= declared]
    if not usable:
        memory.not_offered("it translates none of the case's filters")
    for wanted in usable:
        _expect_matching(memory, records, wanted)


def _expect_matching(
    memory: Memory, records: Sequence[Record], wanted: Filter, declared: Iterable[str] = ()
) -> None:
    """Fail unless a filter finds what the reference finds, by search and by list."""
    if not operators(wanted) <= {*memory.policy.filters, *declared}:
        return
    matching = [each for each in records if matches(wanted, each, memory.policy)]
    query = axis(memory, 1.0)
    found = memory.search(SCOPE, query, len(records), filter=wanted)
    what = f"a search with {_shown(wanted)}"
    expect.contents(f"what is found by {what}", [name for name, _ in found], _ids(matching))
    expect_nearest(memory, what, found, matching, query, len(records))
    if memory.offers("list_records", "filter"):
        listed = memory.all_records(SCOPE, filter=wanted)
        expect.contents(f"what is listed with {_shown(wanted)}", _ids(listed), _ids(matching))


def _expect_true_ones(
    memory: Memory, scope: Scope, matching: Sequence[Record], **options: Any
) -> None:
    """Fail unless a search near others finds k of these, by the index and without."""
    query = axis(memory, NEAR)
    for searching in both_ways(memory):
        found = searching.search(scope, query, K, **options)
        what = f"a search for {K} of the {len(matching)} that match"
        expect_nearest(searching, what, found, matching, query, K)


def _ids(records: Iterable[Record]) -> list[str]:
    return [each.id for each in records]


def _shown(wanted: Filter) -> str:
    if isinstance(wanted, Compare):
        return f"{wanted.field!r} {wanted.op} {expect.shown(wanted.value)}"
    return f"{wanted.op}({', '.join(map(_shown, wanted.filters))})"


# ---- records to filter ------------------------------------------------------------------------


def _mixed(many: Sequence[Record], few: Sequence[Record]) -> list[Record]:
    """Return the few among the many."""
    step = len(many) // len(few)
    parts = (many[n * step : (n + 1) * step] for n in range(len(few)))
    mixed = [each for part, one in zip(parts, few, strict=True) for each in (*part, one)]
    return [*mixed, *many[len(few) * step :]]


def _share(number: int) -> str:
    if number % 50 == 7:
        return "few"
    return "most" if number % 50 not in {1, 12, 23, 34} else "others"


def _elsewhere(part: str) -> Scope:
    changed: dict[str, Any] = {part: ("elsewhere",) if part == "namespace" else "elsewhere"}
    return replace(SCOPE, **changed)


def _below_a_namespace(memory: Memory) -> None:
    """Search in a namespace beside shorter, longer and similar ones."""
    names = (("team",), ("team", "a"), ("teams",), ("te",), ("other", "team"))
    records = {name: crowd(memory, "-".join((*name, "")), 4, FAR) for name in names}
    for name, own in records.items():
        memory.put_all(Scope(namespace=name), own)
    longer = records["team", "a"] if memory.policy.namespaces == "prefix" else []
    wanted = [*records["team",], *longer]
    query = axis(memory, NEAR)
    for searching in both_ways(memory):
        found = searching.search(Scope(namespace=("team",)), query, 20)
        expect_nearest(searching, "a search in ('team',)", found, wanted, query, 20)


def _put_at(memory: Memory, number: int, moment: dt.datetime) -> Record:
    """Put a record made at a time, and return it with the time that the store gives it."""
    record = embedded(f"r{number}", axis(memory, 1.0, float(number)))
    given = replace(record, created_at=moment)
    if memory.attempt(partial(memory.put, SCOPE, given)).refused:
        memory.put(SCOPE, record)
    kept = memory.get(SCOPE, record.id)
    return replace(record, created_at=kept.created_at if kept else None)


def _varied(number: int, vector: Sequence[float]) -> Record:
    """Return a record of one of many kinds; some have no `flag`."""
    metadata: dict[str, Any] = {
        "kind": ("red", "green", "blue")[number % 3],
        "number": number // 3 - 6,
    }
    if number % 4:
        metadata["flag"] = number % 4 == 1
    return embedded(f"r{number}", vector, metadata)


def _nested() -> list[Filter]:
    red, blue = Compare("eq", "kind", "red"), Compare("eq", "kind", "blue")
    low, high = Compare("lt", "number", -2), Compare("gte", "number", 3)
    flag = Compare("eq", "flag", True)

    def both(*filters: Filter) -> Combine:
        return Combine("and", filters)

    def either(*filters: Filter) -> Combine:
        return Combine("or", filters)

    def no(each: Filter) -> Combine:
        return Combine("not", (each,))

    return [
        both(red, low),
        either(red, high),
        no(red),
        no(flag),
        both(either(red, blue), either(low, high)),
        either(both(red, low), both(blue, high)),
        both(red, either(low, both(high, flag))),
        either(low, both(red, flag), no(either(red, blue))),
        no(both(red, no(low))),
        no(no(flag)),
        both(no(red), no(blue), no(low)),
        no(either(no(either(red, flag)), both(low, blue))),
        both(red),
        either(blue),
        both(red, blue),
    ]


@dataclass(frozen=True)
class _Put:
    """A record with a value that the store may not take."""

    memory: Memory
    name: str
    metadata: dict[str, Any]

    def record(self, number: int) -> Record | None:
        """Put it; return it if the store took it."""
        record = embedded(self.name, axis(self.memory, 1.0, number / 8), self.metadata)
        refused = self.memory.attempt(partial(self.memory.put, SCOPE, record)).refused
        return None if refused else record


def _with_values(memory: Memory, values: dict[str, Any], *, lacking: int) -> list[Record]:
    """Put records whose key `value` is each of the values, and some without it; return them."""
    puts = [_Put(memory, name, {"value": value}) for name, value in values.items()]
    puts += [_Put(memory, f"lacking{n}", {"other": "x"}) for n in range(lacking)]
    records = [put.record(number) for number, put in enumerate(puts)]
    return [each for each in records if each is not None]
