"""Stores that keep other vectors, or search in other ways, than they say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from integration.suite.mutants._postgres import change, run
from integration.suite.mutants._searching import naive_search, of_vectors
from memory_matrix.stores.errors import DimensionError
from memory_matrix.stores.policy import METRICS
from memory_matrix.stores.postgres import PostgresAdapter, PostgresStore
from memory_matrix.stores.protocol import Record, Scope, StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from support.mutants import mutant

Found = list[tuple[str, float]]
EVERYTHING = 10_000


def _each(change: Callable[[Any], Any]) -> Callable[[Sequence[Any]], list[Any]]:
    return lambda vector: list(map(change, vector))


def _fitted(vector: Sequence[float], dimensions: int = 8) -> list[float]:
    return [*vector, *[0.0] * dimensions][:dimensions]


@mutant("vec_exact_match_first")
class Quantises(of_vectors(RedisAdapter, _each(lambda each: round(each * 4) / 4))):
    """Keeps vectors in a coarse grid, so that neighbours become one."""


@mutant("vec_score_direction")
class GivesDistances(RedisAdapter):
    """Declares similarities and gives distances."""

    def search(self, *arguments: Any, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        return [(name, 1 - score) for name, score in found]


@mutant("vec_score_direction")
class LeavesItsRange(PostgresAdapter):
    """Declares similarities of 0 to 1, and gives less to what is opposite."""

    policy = replace(PostgresAdapter.policy, score="similarity", score_range=(0.0, 1.0))

    def search(self, *arguments: Any, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        return [(name, 1 - distance) for name, distance in found]


@mutant("vec_score_direction")
class OneScoreForAll(RedisAdapter):
    """Gives the best score to whatever it finds."""

    def search(self, *arguments: Any, **options: Any) -> Found:
        return [(name, 1.0) for name, _ in super().search(*arguments, **options)]


@mutant("vec_order_equals_brute_force")
class OrdersAfterTheLimit(RedisAdapter):
    """Takes the first k that it comes across, and brings these into order."""

    def search(
        self,
        store: Any,
        scope: Scope,
        query: Any,
        k: int,
        *,
        threshold: Any = None,
        filter: Any = None,
    ) -> Found:
        first = {
            each.id for each in super().list_records(store, scope, filter=filter, limit=k).items
        }
        found = super().search(store, scope, query, EVERYTHING, threshold=threshold)
        return [each for each in found if each[0] in first]


@mutant("vec_order_equals_brute_force")
class AlwaysEuclidean(PostgresAdapter):
    """Measures by l2 whatever it was asked for."""

    def open(self, env: StoreEnv) -> PostgresStore:
        return super().open(replace(env, metric="l2"))


@mutant("vec_recall_with_index")
class ClustersOfNothing(PostgresAdapter):
    """Makes its lists of neighbours while there are no records, and looks into one of them."""

    policy = replace(PostgresAdapter.policy, index="ivfflat")

    def setup(self, store: PostgresStore) -> None:
        super().setup(store)
        run(store, "DROP INDEX IF EXISTS {vector_index}", Scope())
        run(
            store,
            "CREATE INDEX IF NOT EXISTS {vector_index} ON {records} USING ivfflat"
            " ((embedding::vector({dimensions})) {operator_class}) WITH (lists = 100)"
            " WHERE vector_dims(embedding) = {dimensions}",
            Scope(),
        )

    search = naive_search


@mutant("vec_threshold_zero")
class ZeroIsNoThreshold(RedisAdapter):
    """Tests whether there is a threshold by its truth."""

    def search(self, *arguments: Any, threshold: float | None = None, **options: Any) -> Found:
        return super().search(*arguments, threshold=threshold or None, **options)


@mutant("vec_threshold_zero")
class ZeroIsTheDefault(PostgresAdapter):
    """Takes 0 for the threshold of its settings."""

    def search(self, *arguments: Any, threshold: float | None = None, **options: Any) -> Found:
        bound = None if threshold is None else threshold or 0.5
        return super().search(*arguments, threshold=bound, **options)


@mutant("vec_threshold_border")
class ExcludesTheBorder(RedisAdapter):
    """Declares a bound that is in, and leaves it out."""

    def search(self, *arguments: Any, threshold: float | None = None, **options: Any) -> Found:
        found = super().search(*arguments, threshold=threshold, **options)
        return [each for each in found if threshold is None or each[1] > threshold]


@mutant("vec_threshold_border")
class ThresholdOfSimilarity(PostgresAdapter):
    """Takes the threshold for one of similarity, though it gives distances."""

    def search(self, *arguments: Any, threshold: float | None = None, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        return [each for each in found if threshold is None or 1 - each[1] >= threshold]


@mutant("vec_k_zero_k_over_n")
class ZeroIsTen(RedisAdapter):
    """Takes 0 for the default."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        return super().search(store, scope, query, k or 10, **options)


@mutant("vec_k_zero_k_over_n")
class FillsUp(PostgresAdapter):
    """Gives k rows however few there are."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        found = super().search(store, scope, query, k, **options)
        return (found * k)[:k]


@mutant("vec_dimension_mismatch_write")
class StoresOneByOne(PostgresAdapter):
    """Stores what comes before the bad vector."""

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        for record in records:
            super().put(store, scope, record, **options)


@mutant("vec_dimension_mismatch_write")
class FitsVectors(of_vectors(RedisAdapter, _fitted)):
    """Cuts vectors that are too long, and fills up short ones."""


@mutant("vec_dimension_mismatch_query")
class FitsQueries(RedisAdapter):
    """Searches with what it makes of a query of another length."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        return super().search(store, scope, _fitted(query), k, **options)


@mutant("vec_dimension_mismatch_query")
class FindsNothing(PostgresAdapter):
    """Logs the error, and answers that there is nothing."""

    def search(self, *arguments: Any, **options: Any) -> Found:
        try:
            return super().search(*arguments, **options)
        except DimensionError:
            return []


@mutant("vec_nan_inf_component")
class NanIsZero(of_vectors(RedisAdapter, _each(lambda each: each if math.isfinite(each) else 0.0))):
    """Keeps 0 for what is no number."""


@mutant("vec_nan_inf_component")
class ClampsQueries(PostgresAdapter):
    """Brings what it searches for into what can be searched for."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        clamped = [max(-1e6, min(1e6, each)) for each in query]
        return super().search(store, scope, clamped, k, **options)


@mutant("vec_zero_vector_stored")
class DropsVectorsOfZeros(PostgresAdapter):
    """Stores what has a vector, which it tests by its truth."""

    def put(self, store: Any, scope: Scope, record: Record, **options: Any) -> None:
        if record.vector is None or any(record.vector):
            super().put(store, scope, record, **options)


@mutant("vec_zero_vector_stored")
class NoScoreFirst(RedisAdapter):
    """Divides by a length of 0, and has what comes of it first."""

    def search(self, *arguments: Any, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        scored = [(name, score or math.nan) for name, score in found]
        return sorted(scored, key=lambda each: not math.isnan(each[1]))


@mutant("vec_zero_query")
class NothingIsLikeZeros(RedisAdapter):
    """Declares an answer and gives none."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        return super().search(store, scope, query, k, **options) if any(query) else []


@mutant("vec_zero_query")
class NearlyZero(PostgresAdapter):
    """Declares that it refuses, and searches for something near it."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        somewhere = query if any(query) else [1e-6] * len(query)
        return super().search(store, scope, somewhere, k, **options)


@mutant("vec_int_and_numpy_components")
class KnowsFloatsOnly(
    of_vectors(RedisAdapter, _each(lambda each: each if type(each) is float else 0.0))
):
    """Keeps nothing of numbers of other types."""


@mutant("vec_int_and_numpy_components")
class QueriesOfSmallInts(PostgresAdapter):
    """Searches in bytes where a query is of ints."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        small = [each % 256 if type(each) is int else each for each in query]
        return super().search(store, scope, small, k, **options)


@mutant("vec_float32_rounding")
class ThreeDigits(of_vectors(RedisAdapter, _each(lambda each: round(each, 3)))):
    """Writes vectors as text of three digits."""


@mutant("vec_float32_rounding")
class Normalises(
    of_vectors(PostgresAdapter, lambda vector: [each / math.hypot(*vector) for each in vector])
):
    """Keeps the direction of vectors only."""


@mutant("vec_duplicate_vectors")
class OneForEachScore(RedisAdapter):
    """Keeps what it found by its score."""

    def search(self, *arguments: Any, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        return [(name, score) for score, name in {score: name for name, score in found}.items()]


@mutant("vec_duplicate_vectors")
class ShufflesTies(PostgresAdapter):
    """Takes any of those that are equal."""

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        found = super().search(store, scope, query, EVERYTHING, **options)
        random.shuffle(found)
        return sorted(found, key=lambda each: each[1])[:k]


@mutant("vec_update_reembeds")
class KeepsTheOldVector(RedisAdapter):
    """Updates all but the vector."""

    def update(self, store: Any, scope: Scope, record_id: str, **changes: Any) -> None:
        changes.pop("vector", None)
        super().update(store, scope, record_id, **changes)


@mutant("vec_update_reembeds")
class PutsAllButTheVector(PostgresAdapter):
    """Puts a record in the place of another, but for its vector."""

    def open(self, env: StoreEnv) -> PostgresStore:
        store = super().open(env)
        change(store, "put", "embedding = EXCLUDED.embedding", "embedding = r.embedding")
        return store


@mutant("vec_delete_leaves_index")
class LeavesItInTheIndex(RedisAdapter):
    """Marks records as deleted, which its searches do not look at."""

    def __init__(self) -> None:
        self._gone: set[str] = set()

    def delete(self, store: Any, scope: Scope, record_id: str) -> None:
        self._gone.add(record_id)

    def get(self, store: Any, scope: Scope, record_id: str) -> Record | None:
        return None if record_id in self._gone else super().get(store, scope, record_id)


@mutant("vec_delete_leaves_index")
class LooksAtTheDeleted(PostgresAdapter):
    """Finds k before it leaves out the deleted."""

    def __init__(self) -> None:
        self._gone: set[str] = set()

    def delete(self, store: Any, scope: Scope, record_id: str) -> None:
        self._gone.add(record_id)

    def search(self, *arguments: Any, **options: Any) -> Found:
        found = super().search(*arguments, **options)
        return [each for each in found if each[0] not in self._gone]


@mutant("vec_metric_typo_refused")
class CosineInstead(PostgresAdapter):
    """Takes cosine for every name that it does not know."""

    def open(self, env: StoreEnv) -> PostgresStore:
        known = env.metric if env.metric in METRICS else "cosine"
        return super().open(replace(env, metric=known))


@mutant("vec_two_dims_one_server")
class BeginsAnew(PostgresAdapter):
    """Makes its table anew where it finds other dimensions in it."""

    def setup(self, store: PostgresStore) -> None:
        super().setup(store)
        run(
            store,
            "DELETE FROM {records} WHERE vector_dims(embedding) <> {dimensions}",
            Scope(),
        )


@mutant("vec_two_dims_one_server")
class TheFirstDimensions(RedisAdapter):
    """Remembers the dimensions that it was opened with first, and fits all vectors to them."""

    def __init__(self) -> None:
        self._first: int | None = None

    def open(self, env: StoreEnv) -> Any:
        self._first = self._first or env.dimensions
        return super().open(replace(env, dimensions=self._first))

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        fitted = [
            replace(each, vector=_fitted(each.vector or (), self._first or 1)) for each in records
        ]
        super().put_many(store, scope, fitted, **options)

    def search(self, store: Any, scope: Scope, query: Any, k: int, **options: Any) -> Found:
        return super().search(store, scope, _fitted(query, self._first or 1), k, **options)


@mutant("vec_cosine_l2_ip")
class KnowsCosineOnly(RedisAdapter):
    """Declares three metrics, and has one."""

    def open(self, env: StoreEnv) -> Any:
        return super().open(replace(env, metric="cosine"))


@mutant("vec_cosine_l2_ip")
class TheLeastProductFirst(PostgresAdapter):
    """Forgets that more is better where inner products are compared."""

    def search(
        self, store: PostgresStore, scope: Scope, query: Any, k: int, **options: Any
    ) -> Found:
        if store.plans.layout.metric != "ip":
            return super().search(store, scope, query, k, **options)
        return super().search(store, scope, query, EVERYTHING, **options)[::-1][:k]
