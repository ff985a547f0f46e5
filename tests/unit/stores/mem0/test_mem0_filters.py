"""The filters that mem0's vector stores are given."""

from __future__ import annotations

from typing import Any

import pytest

from memory_matrix.stores.mem0.filters import wanted
from memory_matrix.stores.protocol import Combine, Compare, Filter

RED = Compare("eq", "colour", "red")
OVER_1 = Compare("gt", "size", 1)
UNDER_9 = Compare("lt", "size", 9)


@pytest.mark.parametrize(
    ("filter_", "given"),
    [
        (RED, {"colour": "red"}),
        (OVER_1, {"size": {"gt": 1}}),
        (Compare("in", "colour", ("red", "blue")), {"colour": {"in": ["red", "blue"]}}),
        (Compare("exists", "colour", True), {"colour": "*"}),
        (Compare("exists", "colour", False), {"$not": [{"colour": "*"}]}),
        (Combine("and", (RED, OVER_1)), {"colour": "red", "size": {"gt": 1}}),
        (Combine("or", (RED, OVER_1)), {"$or": [{"colour": "red"}, {"size": {"gt": 1}}]}),
        (Combine("not", (RED,)), {"$not": [{"colour": "red"}]}),
    ],
)
def test_a_filter_is_put_beside_the_user(filter_: Filter, given: dict[str, Any]) -> None:
    assert wanted("ann", filter_) == {"user_id": "ann", **given}


def test_without_a_filter_the_user_is_all() -> None:
    assert wanted("ann", None) == {"user_id": "ann"}


def test_filters_about_one_key_lose_none_of_them() -> None:
    not_both = [{"$not": [{"size": {"gt": 1}}]}, {"$not": [{"size": {"lt": 9}}]}]

    assert wanted("ann", Combine("and", (OVER_1, UNDER_9))) == {"user_id": "ann", "$not": not_both}


def test_a_filter_on_the_key_of_the_user_does_not_replace_the_user() -> None:
    given = wanted("ann", Compare("eq", "user_id", "bob"))

    assert given == {"$not": [{"$not": [{"user_id": "ann"}]}, {"$not": [{"user_id": "bob"}]}]}
