"""Which of a matrix's points are worth running: all, every pair of values, or one axis at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_matrix.matrix.model import Strategy

Point = Mapping[str, str]
"""An axis and a value on it, for each axis that the point has."""

ValuePair = tuple[tuple[str, str], tuple[str, str]]
"""Two axes, each with a value."""

Order = Mapping[str, Sequence[str]]
"""The values of an axis, oldest first."""

_ATTEMPTS, _ATTEMPTED_ROWS = 16, 20_000
"""How often few rows are looked for, and among how many rows in all: the fewest are taken."""

_Row = tuple[str | None, ...]
"""A point's values in the order of all axes; None on an axis that the point does not have."""


@dataclass(frozen=True)
class Choice:
    """The points that a strategy takes, in the order in which they were given."""

    points: tuple[Point, ...]
    numbers: tuple[int, ...]
    """Where each of them stands among the points that there were."""
    all_pairs: frozenset[ValuePair]
    """The pairs of values on two axes that some point has, chosen or not."""
    covered_pairs: frozenset[ValuePair]
    """Those of them that a chosen point has."""

    @property
    def pairs(self) -> int:
        """How many pairs of values there are."""
        return len(self.all_pairs)

    @property
    def covered(self) -> int:
        """How many of them are covered."""
        return len(self.covered_pairs)


def choose(points: Sequence[Point], strategy: Strategy, order: Order | None = None) -> Choice:
    """Return the points that `strategy` takes out of all valid ones; the same ones each time.

    `full` takes all. `pairwise` takes few that together have every pair of values that there is.
    `axis-star` takes one point of the newest values, and for every other value the point that has it
    and is otherwise nearest to that one. Named environments, whose points have axes of their own, have
    a star of their own. What is newest is what comes last in the `order` of its axis or, where that
    does not say, among the points.
    """
    numbers = tuple(_numbers(points, strategy, order or {}))
    chosen = tuple(points[number] for number in numbers)
    pairs = _value_pairs(points)
    covered = pairs if len(chosen) == len(points) else _value_pairs(chosen)
    return Choice(chosen, numbers, pairs, covered)


def _value_pairs(points: Sequence[Point]) -> frozenset[ValuePair]:
    """Return the pairs of values on two axes that the points have."""
    axes = _axes(points)
    columns = {axis: [point.get(axis) for point in points] for axis in axes}
    return frozenset(
        ((one, left), (other, right))
        for one, other in itertools.combinations(axes, 2)
        for left, right in set(zip(columns[one], columns[other], strict=True))
        if left is not None and right is not None
    )


def _numbers(points: Sequence[Point], strategy: Strategy, order: Order) -> Sequence[int]:
    if strategy == "pairwise":
        return _pairwise(points)
    return range(len(points)) if strategy == "full" else _stars(points, order)


def _axes(points: Iterable[Point]) -> list[str]:
    return list(dict.fromkeys(itertools.chain.from_iterable(points)))


# Every pair of values


def _pairwise(points: Sequence[Point]) -> Sequence[int]:
    axes = _axes(points)
    # A value that every point has is in a pair with every other value, whatever is chosen.
    varied = [axis for axis in axes if len({point.get(axis) for point in points}) > 1]
    rows = [tuple(point.get(axis) for axis in varied) for point in points]
    if len(varied) <= 2:
        return range(len(points))  # each point is a pair that no other one has
    number_of = {row: number for number, row in enumerate(rows)}
    found = {number_of[row] for row in _covering(rows) if row in number_of}
    return sorted(found.union(_completing(rows, found)))


def _covering(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Return few of the rows that have, or nearly have, every pair of values."""
    import covertable

    columns = list(zip(*rows, strict=True))
    fewest = max(
        len(set(zip(one, other, strict=True))) for one, other in itertools.combinations(columns, 2)
    )
    values = [list(dict.fromkeys(column)) for column in columns]
    # Without `requires`, the library asks about rows that it is still making too, so that none of
    # them gets to where no valid row has its values.
    constraint = {"operator": "fn", "requires": [], "evaluate": _fitting(rows)}
    best: Sequence[_Row] = rows
    for attempt in range(max(1, min(_ATTEMPTS, _ATTEMPTED_ROWS // len(rows)))):
        found = covertable.make(values, constraints=[constraint], salt=str(attempt))
        best = min(best, list(map(tuple, found)), key=len)
        if len(best) == fewest:
            break
    return best


def _fitting(rows: Sequence[_Row]) -> Callable[[Mapping[int, str | None]], bool | None]:
    """Return what says whether there is a row of such values; None where it has more values."""
    masks = _masks(rows)
    width = len(rows[0])
    every = (1 << len(rows)) - 1

    def fits(values: Mapping[int, str | None]) -> bool | None:
        having = every
        for item in values.items():
            having &= masks[item]
        return None if having and len(values) < width else bool(having)

    return fits


def _masks(rows: Sequence[_Row]) -> dict[tuple[int, str | None], int]:
    """Return for each column and value a number whose bits say which rows have it."""
    bits: dict[tuple[int, str | None], bytearray] = {}
    for number, row in enumerate(rows):
        for item in enumerate(row):
            mask = bits.setdefault(item, bytearray(len(rows) // 8 + 1))
            mask[number // 8] |= 1 << number % 8
    return {item: int.from_bytes(mask, "little") for item, mask in bits.items()}


def _completing(rows: Sequence[_Row], chosen: Iterable[int]) -> Iterator[int]:
    """Yield the numbers of rows that have pairs of values which no chosen row has."""
    covered = {pair for number in chosen for pair in _pairs(rows[number])}
    for number, row in enumerate(rows):
        if not covered.issuperset(_pairs(row)):
            covered.update(_pairs(row))
            yield number


def _pairs(row: _Row) -> Iterator[object]:
    return itertools.combinations(enumerate(row), 2)


# One axis at a time


def _stars(points: Sequence[Point], order: Order) -> Sequence[int]:
    groups: dict[frozenset[str], list[int]] = {}
    for number, point in enumerate(points):
        groups.setdefault(frozenset(point), []).append(number)
    ages = _ages(points, order)
    return sorted(number for group in groups.values() for number in _star(points, group, ages))


def _ages(points: Sequence[Point], order: Order) -> dict[str, dict[str, int]]:
    """Return for each axis how new its values are: the greater, the newer."""
    values: dict[str, dict[str, None]] = {axis: dict.fromkeys(order[axis]) for axis in order}
    for point in points:
        for axis, value in point.items():
            values.setdefault(axis, {}).setdefault(value)
    return {axis: {value: age for age, value in enumerate(values[axis])} for axis in values}


def _star(
    points: Sequence[Point], numbers: Sequence[int], ages: Mapping[str, Mapping[str, int]]
) -> set[int]:
    """Return the numbers of the base point and of those around it."""
    newest = {
        axis: max((points[number][axis] for number in numbers), key=ages[axis].__getitem__)
        for axis in points[numbers[0]]
    }
    base = min(numbers, key=_distance(points, newest, ages))
    to_base = _distance(points, points[base], ages)
    distance = {number: to_base(number) for number in numbers}
    having: dict[tuple[str, str], list[int]] = {}
    for number in numbers:
        for item in points[number].items():
            having.setdefault(item, []).append(number)
    return {base, *(min(each, key=distance.__getitem__) for each in having.values())}


def _distance(
    points: Sequence[Point], base: Point, ages: Mapping[str, Mapping[str, int]]
) -> Callable[[int], tuple[int, list[int]]]:
    """Return how far a point is from `base`: on how many axes, and then how old its values are."""

    def distance(number: int) -> tuple[int, list[int]]:
        point = points[number]
        return (
            sum(point[axis] != base[axis] for axis in base),
            [-ages[axis][point[axis]] for axis in base],
        )

    return distance
