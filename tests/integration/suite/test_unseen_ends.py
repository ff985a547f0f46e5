"""Stores that show nobody when what they hold ends."""

from __future__ import annotations

import pytest

from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.outcomes import NotOffered
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration


class HidesItsRows(PostgresAdapter):
    """Names no row."""

    raw_rows = None  # type: ignore[assignment]


class HidesItsKeys(RedisAdapter):
    """Names no key; the server does."""

    raw_keys = None  # type: ignore[assignment]


def test_of_half_a_second_that_nobody_sees_end_nothing_is_said(suite_worker: Worker) -> None:
    error = try_case(suite_worker, HidesItsRows, "ttl_fraction_and_zero")

    assert isinstance(error, NotOffered)
    assert "a session with a time to live of 0.5 s" in str(error)


def test_keys_that_only_the_server_names_are_seen_to_end(suite_worker: Worker) -> None:
    assert try_case(suite_worker, HidesItsKeys, "ttl_fraction_and_zero") is None
