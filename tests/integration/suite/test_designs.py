"""Stores of other designs than the reference stores', as right as those: no case finds a fault in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory_matrix.stores.protocol import Page, Scope
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration


class ListsTwenty(RedisAdapter):
    """Lists 20 where nobody says how many, and reads all."""

    policy = replace(RedisAdapter.policy, default_limit=20)

    def list_sessions(
        self, store: Any, scope: Scope, *, limit: int | None = 20, cursor: Any = None
    ) -> Page:
        return super().list_sessions(store, scope, limit=limit or 20, cursor=cursor)

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = 20, **options: Any
    ) -> Page:
        return super().list_records(store, scope, limit=limit or 20, **options)


class ListsTwentyOrAHundred(ListsTwenty):
    """Lists 20 sessions or 100 records, and says so of each."""

    policy = replace(RedisAdapter.policy, default_limit={"list_sessions": 20, "list_records": 100})

    def list_records(
        self, store: Any, scope: Scope, *, limit: int | None = 100, **options: Any
    ) -> Page:
        return super().list_records(store, scope, limit=limit or 100, **options)


@pytest.mark.parametrize(
    ("adapter", "case"),
    [
        (ListsTwenty, "history_over_1000"),
        (ListsTwenty, "list_limit_default_declared"),
        (ListsTwentyOrAHundred, "history_over_1000"),
        (ListsTwentyOrAHundred, "list_limit_default_declared"),
    ],
)
def test_no_case_finds_a_fault_in_a_right_store_of_another_design(
    adapter: Any, case: str, suite_worker: Worker
) -> None:
    assert try_case(suite_worker, adapter, case) is None
