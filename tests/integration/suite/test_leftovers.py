"""What a store leaves in the process, and in its log: told from what libraries do once, or say besides."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from memory_matrix.stores.protocol import Message, Scope, StoreEnv
from memory_matrix.stores.redis import AsyncRedisAdapter, RedisAdapter
from memory_matrix.suite.advice import advice
from memory_matrix.suite.catalogue import cases
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.running import opened
from memory_matrix.suite.stores import StoreParameter
from memory_matrix.suite.worker import Worker
from support.mutants import parameter_of, try_case

pytestmark = pytest.mark.integration

ENDED = threading.Event()
LOG = logging.getLogger("a-store")


class StartsOneThread(RedisAdapter):
    """Starts a thread at first use, which serves all stores of a process."""

    started: list[threading.Thread] = []  # noqa: RUF012 - one for all

    def open(self, env: StoreEnv) -> Any:
        if not self.started:
            self.started.append(threading.Thread(target=ENDED.wait, args=(60,), name="of all"))
            self.started[0].start()
        return super().open(env)


class LogsOfWhatIsThere(RedisAdapter):
    """Writes errors to its log, and gives what is there all the same."""

    def read(self, store: Any, scope: Scope, **options: Any) -> list[Message]:
        found: list[Message] = super().read(store, scope, **options)
        if found:
            LOG.error("the first of two replicas gave nothing")
        return found


class LosesAndLogs(AsyncRedisAdapter):
    """Loses a message, and says so in its log alone."""

    async def append(
        self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any
    ) -> None:
        LOG.error("cannot write %s of %d", "one", len(messages))
        await super().append(store, scope, messages[:-1], **options)


def test_a_thread_that_a_library_starts_once_is_no_leftover(suite_worker: Worker) -> None:
    try:
        assert try_case(suite_worker, StartsOneThread, "close_then_use") is None
        assert StartsOneThread.started[0].is_alive()
    finally:
        ENDED.set()
        StartsOneThread.started[0].join()


def test_an_error_in_the_log_beside_a_full_answer_is_no_finding(suite_worker: Worker) -> None:
    assert try_case(suite_worker, LogsOfWhatIsThere, "text_ascii_round_trip") is None


def test_a_case_that_fails_quotes_what_the_store_logged(suite_worker: Worker) -> None:
    run = next(each.run for each in cases() if each.name == "text_ascii_round_trip")
    parameter: StoreParameter = parameter_of(suite_worker, LosesAndLogs)

    with pytest.raises(CaseFailed) as failed, opened(suite_worker, parameter) as memory:
        run(memory)

    said = advice(memory, failed.value)
    assert "The store logged: a-store: cannot write one of 1" in said
