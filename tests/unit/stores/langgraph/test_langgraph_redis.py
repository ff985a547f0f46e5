"""How the adapters for LangGraph on Redis say to the library what they are asked."""

from __future__ import annotations

from typing import Any

import pytest

from memory_matrix.stores.langgraph.items import conditions, plain_conditions
from memory_matrix.stores.langgraph.redis_connections import url_of
from memory_matrix.stores.langgraph.redis_store import namespace_of
from memory_matrix.stores.protocol import Combine, Compare, Filter, StoreEnv

RED = Compare("eq", "colour", "red")
FROM_2 = Compare("gte", "number", 2)
TO_5 = Compare("lt", "number", 5)


def test_a_url_carries_the_time_to_wait() -> None:
    env = StoreEnv(redis_url="redis://:secret@localhost:7000/3", wait=0.5)

    assert url_of(env) == (
        "redis://:secret@localhost:7000/3?socket_timeout=0.5&socket_connect_timeout=0.5"
    )


@pytest.mark.parametrize(("user", "database"), [("", ""), ("", "/2"), ("ann:s%40cret@", "/0")])
def test_sentinels_have_the_form_that_the_library_takes(user: str, database: str) -> None:
    nodes = tuple(f"redis://{user}127.0.0.1:{port}" for port in (7001, 7002, 7003))
    env = StoreEnv(
        redis_url=f"redis://{user}127.0.0.1:7000{database}",
        topology="sentinel",
        nodes=nodes,
        primary="main",
    )

    hosts = "127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003"
    assert url_of(env) == f"redis+sentinel://{user}{hosts}/main{database or '/0'}"


@pytest.mark.parametrize(
    ("wanted", "operators", "plain"),
    [
        (None, None, None),
        (RED, {"colour": {"$eq": "red"}}, {"colour": "red"}),
        (TO_5, {"number": {"$lt": 5}}, {"number": {"$lt": 5}}),
        (
            Combine("and", (RED, Combine("and", (FROM_2, TO_5)))),
            {"colour": {"$eq": "red"}, "number": {"$gte": 2, "$lt": 5}},
            {"colour": "red", "number": {"$gte": 2, "$lt": 5}},
        ),
        (
            Combine("and", (RED, Compare("ne", "colour", "blue"))),
            {"colour": {"$eq": "red", "$ne": "blue"}},
            {"colour": {"$eq": "red", "$ne": "blue"}},
        ),
    ],
)
def test_a_filter_is_operators_by_field(
    wanted: Filter | None, operators: dict[str, Any] | None, plain: dict[str, Any] | None
) -> None:
    assert conditions(wanted) == operators
    assert plain_conditions(wanted) == plain


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Combine("and", (RED, Compare("eq", "colour", "blue"))), "takes one eq for the field"),
        (Combine("or", (RED, TO_5)), "has no filter 'or'"),
        (Combine("not", (RED,)), "has no filter 'not'"),
    ],
)
def test_what_the_library_cannot_ask_is_refused(wanted: Filter, said: str) -> None:
    for ask in (conditions, plain_conditions):
        with pytest.raises(ValueError, match=said):
            ask(wanted)


@pytest.mark.parametrize(
    ("prefix", "namespace"),
    [
        ("memories", ("memories",)),
        (r"a\.b", ("a", "b")),
        (r"user\:1\.john\-doe", ("user:1", "john-doe")),
        (r"a\\b", ("a\\b",)),
    ],
)
def test_a_namespace_is_read_from_what_is_stored(prefix: str, namespace: tuple[str, ...]) -> None:
    assert namespace_of({"prefix": prefix}) == namespace


def test_a_document_that_has_gone_has_no_namespace() -> None:
    assert namespace_of(None) == ()
