"""Scores of vectors, exact: the higher, the more alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import mul
from typing import Literal

Metric = Literal["cosine", "l2", "ip"]
Scorer = Callable[[Sequence[float]], float]


def scorer(metric: Metric, query: Sequence[float]) -> Scorer:
    """Return what scores a vector against `query`.

    cosine: the cosine, -1 to 1, and 0 where one of the two has no direction; l2: 1 / (1 + distance),
    0 to 1; ip: the inner product.
    """
    return _SCORERS[metric](query)


def _cosine(query: Sequence[float]) -> Scorer:
    scaled, square = _scaled(query)

    def score(vector: Sequence[float]) -> float:
        other, other_square = _scaled(vector)
        if not square or not other_square:
            return 0.0
        return max(-1.0, min(1.0, _product(scaled, other) / math.sqrt(square * other_square)))

    return score


def _scaled(vector: Sequence[float]) -> tuple[Sequence[float], float]:
    """Return a vector brought to a length whose square neither overflows nor vanishes, and that."""
    square = _product(vector, vector)
    if 1e-100 < square < 1e100 or not any(vector):
        return vector, square
    largest = max(map(abs, vector))
    scaled = [component / largest for component in vector]
    return scaled, _product(scaled, scaled)


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    product: float = sum(map(mul, left, right))
    return product


_SCORERS: Mapping[Metric, Callable[[Sequence[float]], Scorer]] = {
    "cosine": _cosine,
    "l2": lambda query: lambda vector: 1.0 / (1.0 + math.dist(query, vector)),
    "ip": lambda query: lambda vector: _product(query, vector),
}

METRICS = tuple(_SCORERS)
