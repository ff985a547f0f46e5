"""A store used by several processes: what comes of each reaches the case."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.stores.redis import AsyncRedisAdapter, RedisAdapter
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration

CASE = "conc_append_two_store_objects"


class FailsElsewhere(RedisAdapter):
    """Cannot append in another process."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        if os.environ.get("MEMORY_TEST_HOME") != str(os.getpid()):
            raise OSError("a file of another process")
        super().append(store, scope, messages, **options)


class DiesElsewhere(RedisAdapter):
    """Takes another process with it."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        if os.environ.get("MEMORY_TEST_HOME") != str(os.getpid()):
            os._exit(3)
        return super().read(store, scope, **options)


class Printing(RedisAdapter):
    """Prints what it does."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        print("appending", flush=True)
        super().append(store, scope, messages, **options)


class ReadsThenWrites(RedisAdapter):
    """Appends by writing the whole history anew."""

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        super().replace(store, scope, [*super().read(store, scope), *messages])


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (FailsElsewhere, "in a process of its own, builtins.OSError: a file of another process"),
        (DiesElsewhere, "a process that used the store ended with status 3: it said nothing"),
    ],
)
def test_what_goes_wrong_in_another_process_is_said(
    adapter: type[Any], says: str, suite_worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_TEST_HOME", str(os.getpid()))

    error = try_case(suite_worker, adapter, CASE)

    assert isinstance(error, CaseFailed)
    assert says in str(error)


@pytest.mark.parametrize("adapter", [RedisAdapter, AsyncRedisAdapter, Printing])
def test_a_store_is_used_by_two_processes(adapter: type[Any], suite_worker: Worker) -> None:
    assert try_case(suite_worker, adapter, CASE) is None


def test_a_store_that_only_this_process_has_is_used_by_two_objects(suite_worker: Worker) -> None:
    assert try_case(suite_worker, RedisAdapter(), CASE) is None

    error = try_case(suite_worker, ReadsThenWrites(), CASE)

    assert isinstance(error, CaseFailed)
    assert "42 messages were kept" in str(error)
