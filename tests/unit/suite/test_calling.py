"""Calls in threads and on loops: what comes back, what does not, and what is left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from memory_matrix.suite.calling import Caller, together, within
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


def test_calls_made_together_give_how_each_ended_in_their_order() -> None:
    barrier = threading.Barrier(3)
    error = KeyError("key")

    def fail() -> int:
        barrier.wait(60)
        raise error

    done = together([barrier.wait, fail, barrier.wait])

    assert [each.error for each in done] == [None, error, None]
    assert {done[0].result(), done[2].result()} <= {0, 1, 2}


def test_no_more_calls_are_made_at_a_time_than_there_are_workers() -> None:
    working = threading.Semaphore(2)

    def work() -> bool:
        free = working.acquire(blocking=False)
        threading.Event().wait(0.001)
        working.release()
        return free

    assert all(each.result() for each in together([work] * 20, workers=2))


def test_calls_that_hang_fail_the_case_and_do_not_hold_up_the_end_of_the_process() -> None:
    code = """if True:
        import threading
        from memory_matrix.suite import calling

        calling.LONGEST = 0.05
        try:
            calling.together([threading.Event().wait, int])
        except calling.CaseFailed as error:
            print(error)
        """
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert ended.stdout == "1 of 2 calls did not come back within 0.05 s\n"


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
