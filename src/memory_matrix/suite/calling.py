"""Call an adapter's plain and async methods alike, from any thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast

from memory_matrix.suite.outcomes import CaseFailed

T = TypeVar("T")

LONGEST = 60.0
"""Seconds after which a call that does not come back counts as hung."""


_UNWINDING = 5.0
"""Seconds that cancelled calls get to give back what they hold."""


@dataclass(frozen=True)
class Done(Generic[T]):
    """How one of several calls ended."""

    value: T | None
    error: BaseException | None

    def result(self) -> T:
        """Return the value, or raise what the call raised."""
        if self.error is not None:
            raise self.error
        return cast("T", self.value)


class Caller:
    """Runs calls; those of an async adapter on one event loop in a thread of its own.

    So callers in several threads meet on that loop as the tasks of one application do.
    """

    def __init__(self, *, is_async: bool) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        if is_async:
            self.loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
            self._thread.start()

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Return what `function` returns, awaited where it has to be."""
        if self.loop is None:
            return function(*arguments, **named)
        return self.submit(function, *arguments, **named).result(LONGEST)

    def submit(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Future[Any]:
        """Start a call on the loop of an async adapter; the future can be cancelled."""
        assert self.loop is not None

        async def awaited() -> Any:
            result = function(*arguments, **named)
            return await result if inspect.isawaitable(result) else result

        return asyncio.run_coroutine_threadsafe(awaited(), self.loop)

    def pending(self) -> list[str]:
        """Return the tasks on the loop that are not done."""
        if self.loop is None:
            return []
        future: Future[list[str]] = asyncio.run_coroutine_threadsafe(_tasks(), self.loop)
        return future.result(LONGEST)

    def left(self, seconds: float) -> list[str]:
        """Return the tasks on the loop that do not end within `seconds`."""
        if self.loop is None:
            return []
        future = asyncio.run_coroutine_threadsafe(_tasks_after(seconds), self.loop)
        return future.result(LONGEST)

    def close(self) -> None:
        """End what still runs on the loop, the loop and its thread."""
        if self.loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(_cancel_tasks(), self.loop).result(LONGEST)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(LONGEST)
            self.loop.close()
            self.loop = None


async def _tasks() -> list[str]:
    return [repr(task) for task in _other_tasks()]


async def _tasks_after(seconds: float) -> list[str]:
    tasks = _other_tasks()
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    return await _tasks()


async def _cancel_tasks() -> None:
    tasks = _other_tasks()
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_UNWINDING)


def _other_tasks() -> list[asyncio.Task[Any]]:
    current = asyncio.current_task()
    return [task for task in asyncio.all_tasks() if task is not current]


def together(calls: Sequence[Callable[[], T]], *, workers: int | None = None) -> list[Done[T]]:
    """Start all calls at one moment, each in a thread (`workers`: at most so many at a time).

    Returns how each ended, in their order.

    Raises:
        CaseFailed: one does not come back.
    """
    count = min(workers or len(calls), len(calls))
    barrier = threading.Barrier(count) if count == len(calls) else None
    futures: list[Future[T]] = [Future() for _ in calls]
    waiting = deque(zip(futures, calls, strict=True))

    def at_once(call: Callable[[], T]) -> T:
        if barrier is not None:
            barrier.wait(LONGEST)
        return call()

    def work() -> None:
        with suppress(IndexError):  # there are no more
            while True:
                future, call = waiting.popleft()
                _settle(future, partial(at_once, call))

    for _ in range(count):
        _in_background(work)
    _, late = wait(futures, LONGEST)
    waiting.clear()
    if late:
        raise CaseFailed(
            f"{len(late)} of {len(calls)} calls did not come back within {LONGEST:g} s"
        )
    return [_ended(future) for future in futures]


def within(seconds: float, what: str, call: Callable[[], T]) -> T:
    """Return what `call` returns, made in a thread of its own.

    Raises:
        CaseFailed: it does not come back in time.
    """
    future: Future[T] = Future()
    _in_background(partial(_settle, future, call))
    try:
        return future.result(seconds)
    except FutureTimeout:
        if future.done():
            raise
        raise CaseFailed(f"{what} did not come back within {seconds:g} s") from None


def _in_background(work: Callable[[], object]) -> None:
    """Run `work` in a thread that nobody waits for at the end of the process: it may never come back."""
    threading.Thread(target=work, name="memory-suite", daemon=True).start()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
        future.set_exception(error)


def _ended(future: Future[T]) -> Done[T]:
    error = future.exception()
    return Done(None, error) if error is not None else Done(future.result(), None)
