"""Stores whose times to live are right in another way than the reference stores', or that show nobody any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import Scope
from memory_matrix.stores.redis import RedisAdapter, RedisStore
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


class AppendsLeaveTheEnd(RedisAdapter):
    """Sets a time to live where the store has one, and else touches none, as RPUSH and HSET do."""

    policy = replace(RedisAdapter.policy, ttl_on_append="keep")

    def append(self, store: RedisStore, scope: Scope, *arguments: Any, **options: Any) -> None:
        client = store.link.client()
        left = [client.pttl(key) for key in self.raw_keys(store, scope)]
        super().append(store, scope, *arguments, **options)
        if left and min(left) > 0 and store._settings.ttl is None:
            for key in self.raw_keys(store, scope):
                client.pexpire(key, min(left))


def test_an_append_without_a_time_to_live_may_leave_that_of_the_session(
    suite_worker: Worker,
) -> None:
    assert try_case(suite_worker, AppendsLeaveTheEnd, "ttl_none_means_none") is None
