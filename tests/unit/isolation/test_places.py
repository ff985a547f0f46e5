"""Names and URLs of places."""

from __future__ import annotations

import random
from urllib.parse import parse_qs, urlsplit

import pytest

from memory_matrix.isolation import postgres, redis
from memory_matrix.isolation.names import new_token


def test_tokens_do_not_come_from_the_seeded_generator() -> None:
    random.seed(1)
    first = new_token()
    random.seed(1)

    assert new_token() != first


@pytest.mark.parametrize(
    "url", ["postgresql://ann:p%40ss@host:5/db", "postgresql://host/db?sslmode=require"]
)
def test_a_url_gets_parameters_and_keeps_its_own(url: str) -> None:
    made = postgres.with_parameters(
        url, application="mm_x", settings={"search_path": "mm_x,public"}
    )

    query = parse_qs(urlsplit(made).query)
    assert query.pop("application_name") == ["mm_x"]
    assert query.pop("options") == ["-csearch_path=mm_x,public"]
    assert query == parse_qs(urlsplit(url).query)
    assert urlsplit(made)[:3] == urlsplit(url)[:3]


def test_options_of_a_url_stay_in_front() -> None:
    made = postgres.with_parameters(
        "postgresql://host/db?options=-cjit%3Doff", application="a", settings={"work_mem": "1MB"}
    )

    assert parse_qs(urlsplit(made).query)["options"] == ["-cjit=off -cwork_mem=1MB"]


def test_a_url_is_led_to_another_database() -> None:
    assert (
        postgres.with_database("postgresql://a@b:1/c?d=e", "f g") == "postgresql://a@b:1/f%20g?d=e"
    )
    assert redis.with_database("rediss://:pw@b:1/0?x=y", 7) == "rediss://:pw@b:1/7?x=y"
