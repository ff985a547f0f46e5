"""Records with vectors, and the reference search: brute force over all of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import mul
from typing import Any

from memory_matrix.isolation.postgres import with_parameters
from memory_matrix.stores.protocol import Record, Vector
from memory_matrix.suite import expect
from memory_matrix.suite.embedding import as_text
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed

Found = Sequence[tuple[str, float]]

_CLOSE = 1e-5
"""How far apart two likenesses count as one: servers compute them from floats of 4 bytes."""
_AS_LARGE = dict.fromkeys(("enable_seqscan", "enable_bitmapscan", "enable_sort", "jit"), "off")
"""What makes Postgres take an index on a few rows. A plan that is switched off costs so much that each
search would be compiled first, for a third of a second: not what happens on a large table."""


# ---- records --------------------------------------------------------------------------------


def embedded(
    id_: str, vector: Iterable[float], metadata: Mapping[str, Any] | None = None
) -> Record:
    """Return a record with this vector, which is what its text says too."""
    components = tuple(vector)
    return Record(id_, as_text(components), components, dict(metadata or {}))


def axis(memory: Memory, *components: float) -> Vector:
    """Return a vector that begins with `components`, and is 0 in all dimensions after."""
    return (*components, *(0.0 for _ in range(memory.env.dimensions - len(components))))


def random_vector(source: random.Random, dimensions: int) -> Vector:
    """Return a vector whose components, within -4 and 4, are exact in 4 bytes."""
    return tuple(source.randint(-4096, 4096) / 1024 for _ in range(dimensions))


def crowd(memory: Memory, name: str, count: int, centre: float, **metadata: Any) -> list[Record]:
    """Return records around `centre` on the first axis: those at 3 are far from those at -3."""
    source = random.Random(name)  # noqa: S311 - the same each time
    vectors = [random_vector(source, memory.env.dimensions) for _ in range(count)]
    return [
        embedded(
            f"{name}{number}",
            (centre + vector[0] / 16, *(each / 4 for each in vector[1:])),
            metadata,
        )
        for number, vector in enumerate(vectors)
    ]


def scattered(memory: Memory, name: str, count: int) -> list[Record]:
    """Return records in all directions."""
    vectors = queries(memory, name, count)
    return [embedded(f"{name}{number}", vector) for number, vector in enumerate(vectors)]


def queries(memory: Memory, name: str, count: int) -> list[Vector]:
    """Return vectors in all directions: the same each time, and others for each name."""
    source = random.Random(name)  # noqa: S311 - the same each time
    return [random_vector(source, memory.env.dimensions) for _ in range(count)]


def moved(memory: Memory, vector: Vector) -> dict[str, Any]:
    """Return what an update names to give a record another vector."""
    by_text = memory.policy.search_by == "text"
    return {"text": as_text(vector)} if by_text else {"vector": vector}


# ---- stores ---------------------------------------------------------------------------------


def measured(memory: Memory) -> Memory:
    """Return the store in the first metric that it declares, or by cosine where it has that."""
    metrics = memory.policy.metrics
    return memory if memory.env.metric in metrics else memory.another(metric=metrics[0])


def as_when_large(memory: Memory, settings: Mapping[str, str] = _AS_LARGE) -> Memory:
    """Return a store object for which Postgres plans as it does for large tables: by indexes.

    On a few records it would look at each, and hide what its indexes overlook. Other servers do not
    plan: there it is the store itself.
    """
    place = memory.site.postgres
    if place is None or memory.env.postgres_dsn is None:
        return memory
    dsn = with_parameters(
        memory.env.postgres_dsn, application=place.application, settings=dict(settings)
    )
    return memory.another(postgres_dsn=dsn)


def both_ways(memory: Memory) -> list[Memory]:
    """Return the store as it is, and as it is when large where that differs."""
    large = as_when_large(memory)
    return [memory] if large is memory else [memory, large]


# ---- the reference search -------------------------------------------------------------------


def likeness(memory: Memory, one: Sequence[float], other: Sequence[float]) -> float:
    """Return how alike two vectors are by the store's metric: more for more alike."""
    return _LIKENESS[memory.env.metric](one, other)


def expect_nearest(
    memory: Memory,
    what: str,
    found: Found,
    candidates: Iterable[Record],
    query: Sequence[float],
    k: int,
) -> None:
    """Fail unless `found` are the `k` candidates most like `query`, best first; ties in any order."""
    alike = _alike(memory, candidates, query)
    best = sorted(alike, key=lambda name: -alike[name])[:k]
    names = _names(what, found, alike)
    pairs = zip([alike[name] for name in names], [alike[name] for name in best], strict=False)
    close = all(math.isclose(got, want, rel_tol=_CLOSE, abs_tol=_CLOSE) for got, want in pairs)
    if len(names) != len(best) or not close:
        expect.equal(what, names, best)
        raise CaseFailed(f"{what}: expected {expect.shown(best)}, got {expect.shown(names)}")


def recall(
    memory: Memory,
    what: str,
    found: Found,
    candidates: Iterable[Record],
    query: Sequence[float],
    k: int,
) -> float:
    """Return the share of the `k` candidates most like `query` that are found.

    Raises:
        CaseFailed: something else is found, or not as many as there are.
    """
    alike = _alike(memory, candidates, query)
    best = sorted(alike.values(), reverse=True)[:k]
    names = _names(what, found, alike)
    expect.equal(f"how many are found by {what}", len(names), len(best))
    return sum(alike[name] >= best[-1] - _CLOSE for name in names) / len(best)


def expect_recall(memory: Memory, what: str, shares: Sequence[float]) -> None:
    """Fail unless the mean of `shares` is the recall that the store declares, or more."""
    mean, declared = sum(shares) / len(shares), memory.policy.recall
    expect.true(
        mean >= declared,
        f"the share of the true nearest that {what} found: expected {declared} or more as "
        f"declared, got {mean:.3f}",
    )


def _alike(
    memory: Memory, candidates: Iterable[Record], query: Sequence[float]
) -> dict[str, float]:
    return {each.id: likeness(memory, query, each.vector or ()) for each in candidates}


def _names(what: str, found: Found, alike: Mapping[str, float]) -> list[str]:
    """Return the names found; fail if one does not belong there, or is there twice."""
    names = [name for name, _ in found]
    strays = [name for name in names if name not in alike]
    expect.true(not strays, f"{what}: found {expect.shown(strays)}, which do not match")
    twice = sorted({name for name in names if names.count(name) > 1})
    expect.true(not twice, f"{what}: found {expect.shown(twice)} more than once")
    return names


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    product: float = sum(map(mul, one, other))
    return product


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.sqrt(_product(one, one) * _product(other, other))
    return _product(one, other) / lengths if lengths else 0.0


_LIKENESS: Mapping[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "cosine": _cosine,
    "l2": lambda one, other: -math.dist(one, other),
    "ip": _product,
}
