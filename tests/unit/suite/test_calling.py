"""Calls in threads and on loops: what comes back, what does not, and what is left behind."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memory_matrix.suite.calling import Caller, within
from memory_matrix.suite.outcomes import CaseFailed


def test_a_call_that_comes_back_in_time_gives_its_value() -> None:
    assert within(60, "the call", lambda: 7) == 7


def test_a_call_that_hangs_fails_the_case_by_its_name() -> None:
    never = threading.Event()
    try:
        with pytest.raises(CaseFailed, match=r"the call did not come back within 0\.01 s"):
            within(0.01, "the call", never.wait)
    finally:
        never.set()


@pytest.mark.parametrize("error", [TimeoutError("its own"), KeyError("key"), SystemExit(3)])
def test_what_a_call_raises_passes_through(error: BaseException) -> None:
    def call() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        within(60, "the call", call)

    assert raised.value is error


def test_closing_a_caller_lets_pending_calls_give_back_what_they_hold() -> None:
    given_back = threading.Event()
    started = threading.Event()

    async def hold() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            given_back.set()

    caller = Caller(is_async=True)
    held = caller.submit(hold)  # a loop keeps no hold of its tasks
    assert started.wait(60)
    caller.close()

    assert given_back.is_set()
    assert held.cancelled()
