"""Expectations: what counts as the same, and what a failure says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from memory_matrix.suite import expect
from memory_matrix.suite.outcomes import CaseFailed
from support.tables import table


@table(
    ("left", "right"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        ([1], (1,)),
        ({1: "a"}, {"1": "a"}),
        ({1: "a"}, {True: "a"}),
        ([1, 2], [2, 1]),
        ([1], [1, 2]),
        ({"a": None}, {}),
        (b"a", "a"),
        ([[[1]]], [[[1.0]]]),
    ],
)
def test_values_of_other_types_or_contents_differ(left: Any, right: Any) -> None:
    assert not expect.same(left, right)
    with pytest.raises(CaseFailed, match=r"^the value: expected .*, got "):
        expect.equal("the value", left, right)


@table(
    "value", [None, 1, 1.5, -0.0, math.nan, math.inf, "a", b"a", [1, {"a": (2,)}], {}, {"a": []}]
)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    expect.equal("the value", value, value)


def test_values_nested_deeper_than_the_stack_are_compared() -> None:
    def nested() -> list[Any]:
        value: list[Any] = []
        for _ in range(20_000):
            value = [value]
        return value

    left, right = nested(), nested()

    assert expect.same(left, right)
    while left:  # taken apart from the outside: freeing it whole would recurse
        left, right = left[0], right[0]


def test_a_failure_names_the_first_difference() -> None:
    with pytest.raises(CaseFailed, match="first different at 1"):
        expect.equal("the texts", ["a", "b", "c"], ["a", "x", "c"])
    with pytest.raises(CaseFailed, match="lengths 1 and 2"):
        expect.equal("the texts", ["a"], ["a", "b"])


def test_a_failure_is_short_and_shows_odd_characters_escaped() -> None:
    with pytest.raises(CaseFailed) as raised:
        expect.equal("the text", "\x1b[31m" + "x" * 100_000, "")

    assert len(str(raised.value)) < 800
    assert "\x1b" not in str(raised.value)


def test_contents_say_what_is_missing_and_what_is_too_much() -> None:
    expect.contents("the ids", ["b", "a", "a"], ["a", "a", "b"])
    with pytest.raises(CaseFailed, match=r"missing \['c'\]; not expected \['a'\]"):
        expect.contents("the ids", ["a", "a", "b"], ["a", "b", "c"])


def test_a_condition_fails_with_its_sentence() -> None:
    expect.true(True, "never said")
    with pytest.raises(CaseFailed, match="it came twice"):
        expect.true([], "it came twice")
