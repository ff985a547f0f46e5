"""Strategies take valid points only, and say truly how many pairs of values those cover."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from memory_matrix.matrix.model import Strategy
from memory_matrix.matrix.strategy import Point, choose
from support.tables import table


def product(axes: Mapping[str, Sequence[str]]) -> list[Point]:
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def pairs_of(points: Sequence[Point]) -> set[Any]:
    """Return the pairs of values on two axes, found the plain way."""
    return {
        frozenset(pair) for point in points for pair in itertools.combinations(point.items(), 2)
    }


def random_points(chance: random.Random) -> list[Point]:
    """Return the points of some axes that random entries leave in, and perhaps named ones too."""
    axes = {
        f"a{axis}": [f"v{value}" for value in range(chance.randint(1, 5))]
        for axis in range(chance.randint(1, 6))
    }
    excludes = [
        {
            axis: chance.choice(axes[axis])
            for axis in chance.sample(list(axes), min(size, len(axes)))
        }
        for size in chance.choices((1, 2, 2, 3), k=chance.randint(0, 12))
    ]
    points = [
        point
        for point in product(axes)
        if not any(entry.items() <= point.items() for entry in excludes)
    ]
    named = [{"environment": f"e{number}"} for number in range(chance.randint(0, 3))]
    servers = {"redis": [f"r{number}" for number in range(chance.randint(1, 3))]}
    return [{**point, **rest} for point in (*points, *named) for rest in product(servers)]


AXES = {
    "python": ["3.10", "3.11", "3.12", "3.13"],
    "pydantic": ["1", "2"],
    "postgres": ["pg16", "pg17", "pg18"],
    "redis": ["r6", "r7", "r8"],
    "serializer": ["json", "pickle"],
}


def test_full_takes_everything_in_its_order() -> None:
    points = product(AXES)

    choice = choose(points, "full")

    assert choice.points == tuple(points)
    assert choice.numbers == tuple(range(len(points)))
    assert choice.pairs == choice.covered == len(pairs_of(points))


def test_pairwise_takes_few_points_and_covers_every_pair() -> None:
    points = product(AXES)

    choice = choose(points, "pairwise")

    assert pairs_of(choice.points) == pairs_of(points)
    assert choice.pairs == choice.covered == len(pairs_of(points))
    assert 12 <= len(choice.points) <= 14  # of 144; four Pythons and three servers alone are 12


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.large
def test_pairwise_covers_every_pair_that_a_valid_point_has(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(5):
        points = random_points(chance)

        choice = choose(points, "pairwise")

        assert choice.points == tuple(points[number] for number in choice.numbers)
        assert sorted(set(choice.numbers)) == list(choice.numbers)
        assert pairs_of(choice.points) == pairs_of(points)
        assert choice.covered == choice.pairs == len(pairs_of(points))
        values = {item for point in points for item in point.items()}
        assert {item for point in choice.points for item in point.items()} == values


@pytest.mark.parametrize("rows", [[], [["3.13", "2", "pg99"]], [["3.13", "2", "pg18"]]])
def test_pairs_that_the_library_does_not_reach_get_points_of_their_own(
    monkeypatch: pytest.MonkeyPatch, rows: list[list[str]]
) -> None:
    monkeypatch.setattr("covertable.make", lambda *_, **__: rows)
    points = product({key: AXES[key] for key in ("python", "pydantic", "postgres")})

    choice = choose(points, "pairwise")

    assert pairs_of(choice.points) == pairs_of(points)
    assert len(choice.points) < len(points)


@pytest.mark.large
def test_the_same_points_are_taken_each_time() -> None:
    strategies: tuple[Strategy, ...] = ("pairwise", "axis-star")
    points = product(AXES)[5:]
    script = (
        "from memory_matrix.matrix.strategy import choose\n"
        f"print({{each: choose({points!r}, each).numbers for each in {strategies!r}}})"
    )

    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert run.stdout == f"{ {each: choose(points, each).numbers for each in strategies} }\n"


def test_a_star_is_the_newest_point_and_all_that_differ_from_it_on_one_axis() -> None:
    points = product(AXES)
    newest = {axis: values[-1] for axis, values in AXES.items()}

    choice = choose(points, "axis-star")

    assert list(choice.points) == [
        point for point in points if sum(point[axis] != newest[axis] for axis in newest) <= 1
    ]
    assert choice.covered == len(pairs_of(choice.points)) < choice.pairs == len(pairs_of(points))


def test_newest_is_what_the_order_says() -> None:
    points = product({"python": ["3.12", "3.13"], "redis": ["r8", "r7"]})

    star = choose(points, "axis-star", {"redis": ["r7", "r8"]}).points

    assert {"python": "3.13", "redis": "r8"} in star
    assert {"python": "3.12", "redis": "r7"} not in star


def test_the_base_of_a_star_is_as_near_to_the_newest_as_a_valid_point_can_be() -> None:
    axes = {"python": ["3.12", "3.13"], "redis": ["r7", "r8"], "postgres": ["pg17", "pg18"]}
    newest = {"python": "3.13", "redis": "r8", "postgres": "pg18"}
    points = [point for point in product(axes) if point != newest]

    assert choose(points, "axis-star").points == (
        {"python": "3.12", "redis": "r8", "postgres": "pg17"},
        {"python": "3.13", "redis": "r7", "postgres": "pg17"},
        {"python": "3.13", "redis": "r7", "postgres": "pg18"},
        {"python": "3.13", "redis": "r8", "postgres": "pg17"},  # the base
    )


def test_a_value_that_never_meets_the_newest_ones_is_in_the_star_all_the_same() -> None:
    axes = {"python": ["3.12", "3.13"], "pydantic": ["1", "2"], "attrs": ["21", "23"]}
    points = [
        point for point in product(axes) if (point["pydantic"] == "1") == (point["attrs"] == "21")
    ]

    assert choose(points, "axis-star").points == (
        {"python": "3.12", "pydantic": "2", "attrs": "23"},
        {"python": "3.13", "pydantic": "1", "attrs": "21"},
        {"python": "3.13", "pydantic": "2", "attrs": "23"},
    )


@table("seed", range(12))
def test_a_star_has_every_value_and_every_point_that_differs_on_one_axis(seed: int) -> None:
    points = random_points(random.Random(seed))

    star = choose(points, "axis-star").points

    for axes in {frozenset(point) for point in points}:
        group = [point for point in points if frozenset(point) == axes]
        taken = [point for point in star if frozenset(point) == axes]
        values = {item for point in group for item in point.items()}
        assert {item for point in taken for item in point.items()} == values
        assert any(
            all(near in taken for near in group if sum(near[a] != base[a] for a in axes) == 1)
            for base in taken
        )


@table("strategy", ["full", "pairwise", "axis-star"])
@table(
    "points",
    [
        [],
        [{}],
        [{"environment": "a"}],
        [{"environment": "a"}, {"environment": "b"}],
        [{"python": "3.12", "redis": "r8"}],
        [{"environment": "a", "redis": "r8"}, {"python": "3.12", "redis": "r8"}],
    ],
)
def test_what_no_strategy_can_lessen_is_taken_whole(
    points: list[Point], strategy: Strategy
) -> None:
    assert choose(points, strategy).points == tuple(points)


@pytest.mark.parametrize("strategy", ["full", "pairwise", "axis-star"])
def test_named_environments_and_combinations_of_axes_stand_beside_each_other(
    strategy: Strategy,
) -> None:
    servers = {"postgres": ["pg17", "pg18"], "redis": ["r7", "r8"]}
    points = [
        *product({"python": ["3.12", "3.13"], "pydantic": ["1", "2"], **servers}),
        *product({"environment": ["old", "new"], **servers}),
    ]

    choice = choose(points, strategy)

    assert {point.get("environment") for point in choice.points} == {None, "old", "new"}
    assert choice.pairs == len(pairs_of(points))
    assert choice.covered == len(pairs_of(choice.points))
