"""Names that repeat get a number, and never one that another name has."""

from __future__ import annotations

from memory_matrix.matrix.naming import unique


def test_repeated_names_are_numbered() -> None:
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]


def test_numbered_names_do_not_meet_names_that_look_so() -> None:
    assert unique(["a", "a", "a#2", "a#2"]) == ["a", "a#3", "a#2", "a#2#2"]


def test_many_equal_names_are_numbered_in_time_that_grows_with_their_number() -> None:
    assert unique(["a"] * 20_000)[-1] == "a#20000"
