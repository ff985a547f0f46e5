"""Group J: vectors, scores and what a search finds."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from memory_matrix.stores.protocol import Compare, Record, Scope, Vector
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.vectors import (
    as_when_large,
    axis,
    both_ways,
    embedded,
    expect_nearest,
    expect_recall,
    measured,
    moved,
    queries,
    recall,
    scattered,
)

GROUP = "J"

SCOPE = Scope()
LARGE = 3000
"""As many records as an index needs before it overlooks some."""


def test_vec_exact_match_first(memory: Memory) -> None:
    """A search for a stored vector finds that record first, with the best score of all."""
    store = _searching(memory)
    vectors = [_unit(vector) for vector in queries(store, "exact", 15)]
    records = [embedded(f"own{n}", vector) for n, vector in enumerate(vectors)]
    records += [embedded(f"near{n}", _unit(_nudged(each))) for n, each in enumerate(vectors)]
    store.put_all(SCOPE, records)
    for record in records:
        found = store.search(SCOPE, record.vector or (), 5)
        first = found[0][0] if found else None
        expect.equal(f"what a search for the vector of {record.id} finds first", first, record.id)
        better = [name for name, score in found[1:] if _better(store, score, found[0][1])]
        expect.equal("what else has a better score than the vector itself", better, [])


def test_vec_score_direction(memory: Memory) -> None:
    """Scores grow or fall from best to worst as declared, and stay within the declared range."""
    store = _searching(memory)
    records = _circle(store)
    store.put_all(SCOPE, records)
    found = store.search(SCOPE, axis(store, 1.0), len(records))
    expect_nearest(store, "a search on a circle", found, records, axis(store, 1.0), len(records))
    scores = [score for _, score in found]
    _expect_declared_scores(store, scores)
    expect.true(
        _better(store, scores[0], scores[-1]),
        f"the best score, by a {store.policy.score}, should be better than the worst: got {scores}",
    )


def test_vec_order_equals_brute_force(memory: Memory) -> None:
    """The k nearest are those that brute force finds, in its order but for equal scores."""
    store = _searching(memory)
    records = scattered(store, "r", 100)
    records += [embedded(f"equal{n}", records[n].vector or ()) for n in range(10)]
    store.put_all(SCOPE, records)
    for query in queries(store, "queries", 8):
        for k in (1, 10, len(records)):
            found = store.search(SCOPE, query, k)
            expect_nearest(store, f"a search for {k}", found, records, query, k)
            _expect_declared_scores(store, [score for _, score in found])


def test_vec_recall_with_index(memory: Memory) -> None:
    """Over 3,000 records the index finds at least the declared share of the true 10 nearest."""
    store = _searching(memory)
    records = scattered(store, "r", LARGE)
    store.put_all(SCOPE, records)
    large = as_when_large(store)
    expect_recall(large, "the index", _shares(large, records, queries(store, "queries", 10)))


def test_vec_threshold_zero(memory: Memory) -> None:
    """A threshold of 0 is a bound like any other: it is not taken for none, or for the default."""
    store = _with_threshold(memory)
    everything = _put_levels(store)
    inside = _inside(store, everything, 0.0)
    for zero in (0, 0.0):
        found = store.search(SCOPE, axis(store, 1.0), 100, threshold=zero)
        expect.contents(f"what a threshold of {zero!r} lets in", _ids(found), inside)


def test_vec_threshold_border(memory: Memory) -> None:
    """A score equal to the threshold is in or out as declared; worse ones are out."""
    store = _with_threshold(memory)
    everything = _put_levels(store)
    for _, bound in everything:
        found = store.search(SCOPE, axis(store, 1.0), 100, threshold=bound)
        what = f"what a threshold of {bound!r}, {store.policy.threshold} as declared, lets in"
        expect.contents(what, _ids(found), _inside(store, everything, bound))
        few = store.search(SCOPE, axis(store, 1.0), 2, threshold=bound)
        expect.equal(f"how many of two {what}", len(few), min(2, len(found)))


def test_vec_k_zero_k_over_n(memory: Memory) -> None:
    """A search for 0 records is as declared; one for more than there are finds each once."""
    store = _searching(memory)
    records = scattered(store, "r", 12)
    query = axis(store, 1.0)
    expect.equal("what a search for 5 finds in an empty place", store.search(SCOPE, query, 5), [])
    store.put_all(SCOPE, records)
    none = partial(store.search, SCOPE, query, 0)
    if store.policy.k_zero == "refuse":
        store.refused("a search for 0 records", none)
    else:
        expect.equal("what a search for 0 records finds", none(), [])
    for k in (len(records), len(records) + 1, 1000):
        found = store.search(SCOPE, query, k)
        expect_nearest(store, f"a search for {k} of {len(records)}", found, records, query, k)


def test_vec_dimension_mismatch_write(memory: Memory) -> None:
    """A vector that is too short or too long is refused by every write, and nothing of it is there."""
    store = _searching(memory)
    records = scattered(store, "r", 5)
    store.put_all(SCOPE, records)
    for length in (1, store.env.dimensions - 1, store.env.dimensions + 1):
        wrong = (0.5,) * length
        for what, write in _writes_of(store, wrong, records[0].id):
            store.refused(f"{what} with a vector of {length} dimensions", write)
        _expect_untouched(store, f"after vectors of {length} dimensions", records)


def test_vec_dimension_mismatch_query(memory: Memory) -> None:
    """A query that is too short or too long is refused, and the next one is answered."""
    store = _searching(memory)
    records = scattered(store, "r", 5)
    store.put_all(SCOPE, records)
    for length in (1, store.env.dimensions - 1, store.env.dimensions + 1):
        query = partial(store.search, SCOPE, (0.5,) * length, 3)
        store.refused(f"a query of {length} dimensions", query)
        _expect_untouched(store, f"after a query of {length} dimensions", records)


def test_vec_nan_inf_component(memory: Memory) -> None:
    """NaN or infinity in a vector or a query is refused, and nothing of it is there."""
    store = _searching(memory)
    records = scattered(store, "r", 5)
    store.put_all(SCOPE, records)
    for odd in (math.nan, math.inf, -math.inf):
        wrong = axis(store, 1.0, odd)
        for what, write in _writes_of(store, wrong, records[0].id):
            store.refused(f"{what} with {odd} in a vector", write)
        store.refused(f"a query with {odd}", partial(store.search, SCOPE, wrong, 3))
        _expect_untouched(store, f"after {odd} in a vector", records)


def test_vec_zero_vector_stored(memory: Memory) -> None:
    """A vector of zeros is refused, or kept and found by id and list; searches go on as before."""
    store = _searching(memory)
    records = scattered(store, "r", 10)
    store.put_all(SCOPE, records)
    zero = embedded("zero", axis(store))
    if store.policy.zero_vector == "refuse":
        store.refused("a vector of zeros", partial(store.put, SCOPE, zero))
        _expect_untouched(store, "after a vector of zeros", records)
        return
    store.put(SCOPE, zero)
    _expect_there(store, "zero")
    for searching in both_ways(store):
        for query in queries(store, "queries", 4):
            found = searching.search(SCOPE, query, len(records) + 1)
            worst = math.isnan(found[0][1]) if found else True
            expect.true(not worst, f"the first of {found} has no score, beside a vector of zeros")
            others = [each for each in found if each[0] != "zero"]
            what = "a search beside a vector of zeros"
            expect_nearest(searching, what, others, records, query, len(records))


def test_vec_zero_query(memory: Memory) -> None:
    """A query of zeros has the same answer with an index and without, or is refused as declared."""
    store = _searching(memory)
    for metric in store.policy.metrics:
        _zero_query(_of_metric(store, metric), Scope(namespace=(metric,)))


def test_vec_int_and_numpy_components(memory: Memory) -> None:
    """Ints, tuples, arrays and numpy's numbers are taken as the same numbers as floats, or refused."""
    store = _searching(memory)
    numbers = [1, 2, 0, -3, *(0 for _ in range(store.env.dimensions - 4))]
    wanted = axis(store, 1.0, 2.0, 0.0, -3.0)
    others = scattered(store, "other", 5)
    store.put_all(SCOPE, others)
    for kind, vector in _kinds(numbers).items():
        own = Record(f"by {kind}", embedded("", wanted).text, vector)
        if not store.attempt(partial(store.put, SCOPE, own)).refused:
            _expect_found_by(store, f"a vector as {kind}", wanted, own.id)
            store.delete(SCOPE, own.id)
        query = store.attempt(partial(store.search, SCOPE, vector, 5))
        if not query.refused:
            what = f"a query as {kind}"
            expect_nearest(store, what, query.value or (), others, wanted, 5)


def test_vec_float32_rounding(memory: Memory) -> None:
    """A vector comes back within a millionth of what it was, or is refused."""
    memory.require_policy(vectors="keep")
    store = _searching(memory)
    for number, vector in enumerate(_hard_numbers(store)):
        record = embedded(f"r{number}", vector)
        if store.attempt(partial(store.put, SCOPE, record)).refused:
            continue
        found = store.get(SCOPE, record.id)
        got = list(found.vector) if found and found.vector is not None else []
        same = len(got) == len(vector) and all(map(_rounded_alike, got, vector))
        expect.true(
            same,
            f"the vector read back: expected {expect.shown(vector)} within a millionth, "
            f"got {expect.shown(got)}",
        )


def test_vec_duplicate_vectors(memory: Memory) -> None:
    """Records with one vector are all found, and a limit takes the same of them each time."""
    store = _searching(memory)
    twins = [embedded(f"twin{n}", axis(store, 1.0, 2.0)) for n in range(15)]
    others = [embedded(f"other{n}", axis(store, -1.0, 1.0 + n)) for n in range(5)]
    store.put_all(SCOPE, [*twins[:8], *others, *twins[8:]])
    query = axis(store, 1.0, 2.0)
    for searching in both_ways(store):
        for k in (6, len(twins), 20):
            found = searching.search(SCOPE, query, k)
            what = f"a search for {k} among {len(twins)} with one vector"
            expect_nearest(searching, what, found, [*twins, *others], query, k)
            again = searching.search(SCOPE, query, k)
            expect.equal(f"{what}, made again", _ids(again), _ids(found))


def test_vec_update_reembeds(memory: Memory) -> None:
    """After an update or a put of the same id a record is found by what is new, not by what was."""
    memory.require("update")
    store = _searching(memory)
    records = {each.id: each for each in _circle(store)}
    store.put_all(SCOPE, list(records.values()))
    target, *_ = records
    for number, query in enumerate(queries(store, "places", 3)):
        store.update(SCOPE, target, **moved(store, query))
        records[target] = embedded(target, query)
        _expect_all_nearest(store, f"after update {number}", records)
        store.update(SCOPE, target, metadata={"number": number})
        _expect_all_nearest(store, f"after update {number} of its metadata", records)
    if store.policy.same_id == "last-wins":
        records[target] = embedded(target, axis(store, 3.0, -1.0))
        store.put(SCOPE, records[target])
        _expect_all_nearest(store, "after another put", records)


def test_vec_delete_leaves_index(memory: Memory) -> None:
    """Deleted records are never found again, and with 30% of them gone the index finds the rest."""
    memory.require("delete")
    store = _searching(memory)
    records = scattered(store, "r", 500)
    one_by_one = [each.id for each in records[::10]]
    at_once = [each.id for each in records[1::10] + records[2::10]]
    by_filter = store.offers("delete_where") and "eq" in store.policy.filters
    if by_filter:
        records = [replace(each, metadata={"goes": str(each.id in at_once)}) for each in records]
    store.put_all(SCOPE, records)
    for name in one_by_one if by_filter else [*one_by_one, *at_once]:
        store.delete(SCOPE, name)
    if by_filter:
        store.delete_where(SCOPE, Compare("eq", "goes", "True"))
        left = [name for name in at_once[::20] if store.get(SCOPE, name) is not None]
        expect.equal("what get still gives of what delete_where deleted", left, [])
    kept = [each for each in records if each.id not in {*one_by_one, *at_once}]
    for searching in both_ways(store):
        shares = _shares(searching, kept, queries(store, "queries", 10))
        expect_recall(searching, "a search after deletes", shares)
        for record in records[::50]:  # each of them is gone
            found = searching.found(SCOPE, record.vector or (), 5)
            expect.true(record.id not in found, f"the deleted record {record.id} is found")


def test_vec_metric_typo_refused(memory: Memory) -> None:
    """A metric that does not exist is refused, and not replaced by another."""
    memory.require("search")
    if len(memory.policy.metrics) < 2:
        memory.not_offered("it has one metric, which is not chosen by name")
    for name in ("cosin", "euclid", ""):
        other = memory.another(metric=name)
        memory.refused(f"the metric {name!r}", partial(_open_and_search, other))


def test_vec_two_dims_one_server(memory: Memory) -> None:
    """Collections with other dimensions work side by side; where they may not, the second is refused."""
    store = _searching(memory)
    records = scattered(store, "first", 8)
    store.put_all(SCOPE, records)
    for what, other in _of_other_dimensions(store):
        _works(other, what, Scope(namespace=("other",)))
        _expect_untouched(store, f"beside {what}", records)
    beside = store.another(dimensions=store.env.dimensions // 2)
    scope = Scope(namespace=("beside",))
    if store.policy.dimensions == "any":
        _works(beside, "other dimensions beside it", scope)
        _expect_untouched(store, "beside other dimensions", records)
    else:
        stray = scattered(beside, "stray", 1)
        store.refused("other dimensions beside it", lambda: beside.put_all(scope, stray))
        _expect_untouched(store, "after other dimensions were refused", records)


def test_vec_cosine_l2_ip(memory: Memory) -> None:
    """By each declared metric the order is that of brute force, and scores are as declared."""
    memory.require("search")
    for metric in memory.policy.metrics:
        store = _of_metric(memory, metric)
        scope = Scope(namespace=(metric,))
        records = [
            embedded(f"r{n}", tuple(component * (1 + n % 5) for component in vector))
            for n, vector in enumerate(queries(store, "lengths", 60))
        ]
        store.put_all(scope, records)
        for searching in both_ways(store):
            for query in queries(store, "queries", 5):
                found = searching.search(scope, query, 10)
                expect_nearest(searching, f"a search by {metric}", found, records, query, 10)
                _expect_sorted(searching, [score for _, score in found])


# ---- stores and what is in them ---------------------------------------------------------------


def _searching(memory: Memory) -> Memory:
    memory.require("search", "put")
    return measured(memory)


def _of_metric(memory: Memory, metric: str) -> Memory:
    if metric == memory.env.metric:
        return memory
    return memory.another(metric=metric, prefix=f"{memory.env.prefix}{metric}:")


def _of_other_dimensions(memory: Memory) -> Iterator[tuple[str, Memory]]:
    """Yield stores with other dimensions in a schema or under a prefix of their own."""
    base = memory.next_door() if "postgres" in memory.tested.needs else memory
    for dimensions in (memory.env.dimensions // 2, memory.env.dimensions * 2):
        prefix = f"{memory.env.prefix}{dimensions}:"
        other = base.another(dimensions=dimensions, prefix=prefix)
        yield f"{dimensions} dimensions in a place of their own", other
        base = memory.next_door() if "postgres" in memory.tested.needs else memory


def _works(memory: Memory, what: str, scope: Scope) -> None:
    records = scattered(memory, "other", 8)
    memory.put_all(scope, records)
    query = records[0].vector or ()
    expect_nearest(memory, what, memory.search(scope, query, 5), records, query, 5)


def _open_and_search(memory: Memory) -> list[str]:
    records = scattered(memory, "r", 3)
    memory.put_all(SCOPE, records)
    return memory.found(SCOPE, records[0].vector or (), 1)


def _circle(memory: Memory) -> list[Record]:
    """Return records at angles of 0 to 180 degrees to the first axis."""
    angles = (0, 15, 40, 65, 90, 120, 150, 180)
    return [
        embedded(f"at{angle}", axis(memory, math.cos(turn), math.sin(turn)))
        for angle, turn in zip(angles, map(math.radians, angles), strict=True)
    ]


def _unit(vector: Sequence[float]) -> Vector:
    length = math.hypot(*vector)
    return tuple(component / length for component in vector)


def _nudged(vector: Vector) -> Vector:
    return (vector[0] + 0.05, vector[1] - 0.05, *vector[2:])


def _writes_of(
    memory: Memory, vector: Vector, known: str
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the calls that write a vector, each with nothing else wrong."""
    wrong = embedded("wrong", vector)
    yield "a put", partial(memory.put, SCOPE, wrong)
    if memory.offers("put_many"):
        good = [embedded(name, axis(memory, 1.0)) for name in ("before", "after")]
        batch = [good[0], wrong, good[1]]
        yield "a batch", partial(memory.put_many, SCOPE, batch)
    if memory.offers("update"):
        yield "an update", partial(memory.update, SCOPE, known, **moved(memory, vector))


def _expect_untouched(memory: Memory, when: str, records: Sequence[Record]) -> None:
    """Fail unless just these records are there, and are found by their vectors."""
    if memory.policy.batch == "reports":
        for name in ("before", "after"):
            if memory.get(SCOPE, name) is not None:
                memory.delete(SCOPE, name)
    for name in ("wrong", "before", "after", "zero"):
        expect.true(memory.get(SCOPE, name) is None, f"{when} the record {name!r} is there")
    for record in records:
        query = record.vector or ()
        found = memory.search(SCOPE, query, len(records) + 5)
        expect_nearest(memory, f"a search {when}", found, records, query, len(records))


def _expect_there(memory: Memory, name: str) -> None:
    found = memory.get(SCOPE, name)
    expect.equal("the record with a vector of zeros, by get", found and found.id, name)
    if memory.offers("list_records"):
        listed = [each.id for each in memory.all_records(SCOPE)]
        expect.true(name in listed, f"the record with a vector of zeros is not listed: {listed}")


def _expect_all_nearest(memory: Memory, when: str, records: Mapping[str, Record]) -> None:
    for searching in both_ways(memory):
        for record in records.values():
            query = record.vector or ()
            found = searching.search(SCOPE, query, len(records))
            what = f"a search {when}"
            expect_nearest(searching, what, found, records.values(), query, len(records))


def _shares(
    memory: Memory, records: Sequence[Record], asked: Sequence[Vector], k: int = 10
) -> list[float]:
    return [
        recall(memory, f"a search for {k}", memory.search(SCOPE, query, k), records, query, k)
        for query in asked
    ]


# ---- scores -----------------------------------------------------------------------------------


def _better(memory: Memory, one: float, other: float) -> bool:
    return one > other if memory.policy.score == "similarity" else one < other


def _expect_sorted(memory: Memory, scores: Sequence[float]) -> None:
    wrong = [pair for pair in pairwise(scores) if _better(memory, pair[1], pair[0])]
    expect.true(
        not wrong, f"scores, declared a {memory.policy.score}, from best to worst: got {scores}"
    )


def _expect_declared_scores(memory: Memory, scores: Sequence[float]) -> None:
    _expect_sorted(memory, scores)
    if memory.policy.score_range is not None:
        least, most = memory.policy.score_range
        outside = [score for score in scores if not least - 1e-6 <= score <= most + 1e-6]
        expect.equal(f"scores outside the declared {least} to {most}", outside, [])


def _with_threshold(memory: Memory) -> Memory:
    memory.require_policy(threshold=("inclusive", "exclusive"))
    if not memory.offers("search", "threshold"):
        memory.not_offered("the adapter's `search` takes no `threshold`")
    return _searching(memory)


def _put_levels(memory: Memory) -> list[tuple[str, float]]:
    """Put records whose cosines to the first axis are exact, and return all ids with their scores."""
    half = (0.5, 0.5, 0.5, 0.5)
    vectors = {
        "same": (1.0,),
        "half": half,
        "side": (0.0, 1.0),
        "minus-half": (-0.5, *half[1:]),
        "opposite": (-1.0,),
    }
    memory.put_all(SCOPE, [embedded(name, axis(memory, *v)) for name, v in vectors.items()])
    found = memory.search(SCOPE, axis(memory, 1.0), 100)
    expect.equal("what a search without a threshold finds", _ids(found), list(vectors))
    return found


def _inside(memory: Memory, everything: Sequence[tuple[str, float]], bound: float) -> list[str]:
    inclusive = memory.policy.threshold == "inclusive"
    return [
        name
        for name, score in everything
        if _better(memory, score, bound) or (inclusive and score == bound)
    ]


def _ids(found: Sequence[tuple[str, float]]) -> list[str]:
    return [name for name, _ in found]


# ---- odd vectors ------------------------------------------------------------------------------


def _zero_query(memory: Memory, scope: Scope) -> None:
    records = scattered(memory, "r", 30)
    memory.put_all(scope, records)
    zero = axis(memory)
    if memory.env.metric == "cosine" and memory.policy.zero_query == "refuse":
        memory.refused("a query of zeros", partial(memory.search, scope, zero, 5))
        return
    for searching in both_ways(memory):
        for k in (5, len(records)):
            found = searching.search(scope, zero, k)
            what = f"a search for {k} by zeros, by {memory.env.metric}"
            expect_nearest(searching, what, found, records, zero, k)


def _kinds(numbers: list[int]) -> dict[str, Any]:
    """Return a vector in every form that applications have it."""
    floats = [float(number) for number in numbers]
    kinds: dict[str, Any] = {
        "a list of ints": numbers,
        "a tuple of ints": tuple(numbers),
        "a list of floats": floats,
        "ints and floats": [floats[0], *numbers[1:]],
        "an array of floats": array("f", floats),
        "an array of doubles": array("d", floats),
    }
    try:
        import numpy as np
    except ImportError:
        return kinds
    array32 = np.array(floats, dtype=np.float32)
    kinds |= {
        "a numpy array of float32": array32,
        "a numpy array of float64": np.array(floats),
        "a numpy array of ints": np.array(numbers),
        "a list of numpy numbers": list(array32),
    }
    return kinds


def _expect_found_by(memory: Memory, what: str, query: Vector, name: str) -> None:
    """Fail unless a record is found first by a query of floats, and has those floats."""
    found = memory.found(SCOPE, query, 1)
    expect.equal(f"what is found by the same numbers as floats, of {what}", found, [name])
    kept = memory.get(SCOPE, name)
    if memory.policy.vectors == "keep" and kept is not None:
        expect.equal(f"the vector read back, of {what}", list(kept.vector or ()), list(query))


def _hard_numbers(memory: Memory) -> Iterator[Vector]:
    """Yield vectors of numbers that floats of 4 bytes round, and of the largest and the smallest."""
    yield axis(memory, 0.1, -1 / 3, 2 / 3, math.pi)
    yield axis(memory, 16777217.0, -0.5, 1.0)
    yield axis(memory, 1e-20, 1.0)
    yield axis(memory, 3.4028234e38, 1.0)
    yield axis(memory, 1e39, 1.0)
    yield axis(memory, 1e-50, 1.0)
    yield (0.7,) * memory.env.dimensions


def _rounded_alike(got: float, wanted: float) -> bool:
    return math.isclose(got, wanted, rel_tol=1e-6, abs_tol=1e-30)
