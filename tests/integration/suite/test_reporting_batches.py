"""A store whose batches are not atomic, and whose errors say what of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.protocol import Message, Record, Scope
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration


class PartlyStoredError(RefusedError):
    """Some of a batch were refused."""

    def __init__(self, stored: Sequence[int]) -> None:
        super().__init__(f"Stored are {stored}.")
        self.stored = stored


def _one_by_one(write: Callable[[Any], None], batch: Sequence[Any]) -> None:
    stored = []
    for at, item in enumerate(batch):
        try:
            write(item)
        except RefusedError:
            continue
        stored.append(at)
    if len(stored) < len(batch):
        raise PartlyStoredError(stored)


class StoresWhatIsGood(RedisAdapter):
    """Goes on after what is bad, and names what is stored."""

    policy = replace(RedisAdapter.policy, batch="reports")

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        append = super().append
        _one_by_one(lambda message: append(store, scope, [message], **options), messages)

    def put_many(self, store: Any, scope: Scope, records: Sequence[Record], **options: Any) -> None:
        put = super().put
        _one_by_one(lambda record: put(store, scope, record, **options), records)


@pytest.mark.parametrize(
    "case", ["batch_all_or_nothing_bad_middle", "vec_dimension_mismatch_write"]
)
def test_a_store_may_store_what_is_good_of_a_batch_and_say_so(
    case: str, suite_worker: Worker
) -> None:
    assert try_case(suite_worker, StoresWhatIsGood, case) is None
