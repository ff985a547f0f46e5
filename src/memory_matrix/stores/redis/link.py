"""How a plan's calls reach the server, once plain and once with asyncio; nothing else differs."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from redis.client import NEVER_DECODE
from redis.exceptions import NoScriptError

from memory_matrix.stores.errors import ClosedError, StoreError, WaitError
from memory_matrix.stores.redis.calls import Call, Plan
from memory_matrix.stores.redis.clients import async_close_client, close_client
from memory_matrix.stores.redis.failures import FAILURES, as_store_error, pause_before_next

T = TypeVar("T")

_AS_BYTES = {NEVER_DECODE: True}
"""For clients that were told to decode answers: what is kept is not always text."""


@dataclass(frozen=True)
class Limits:
    """How many calls a store has under way at once, and how long one waits, in seconds."""

    at_once: int | None = None
    wait: float = 5.0

    def crowded(self) -> WaitError:
        """Return what a call raises that had no turn in time."""
        return WaitError(
            f"All {self.at_once} connections of the store were busy for {self.wait:g} s; let it have "
            "more, or call it less at once."
        )


def by_digest(call: Call) -> tuple[Any, ...]:
    """Return the command that runs a script which the server may know."""
    return ("EVALSHA", call.script.sha, len(call.keys), *call.keys, *call.arguments)


def by_source(call: Call) -> tuple[Any, ...]:
    """Return the command that runs a script, and makes it known."""
    return ("EVAL", call.script.source, len(call.keys), *call.keys, *call.arguments)


class Link:
    """Runs plans over a client of redis-py, which it makes when the first call needs it."""

    def __init__(self, connect: Callable[[], Any], limits: Limits, *, owned: bool) -> None:
        self._connect = connect
        self._limits = limits
        self._owned = owned
        self._client: Any = None
        self._closed = False
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(limits.at_once) if limits.at_once else None

    def run(self, plan: Plan[T]) -> T:
        """Carry out a plan, and return what it returns."""
        if self._closed:
            raise ClosedError("The store was closed; open another one.")
        with closing(plan):
            answer = None
            while True:
                try:
                    call = plan.send(answer)
                except StopIteration as end:
                    result: T = end.value
                    return result
                with self._turn():
                    answer = self._try(call)

    def client(self) -> Any:
        """Return the client; a cluster's is made with a look at its nodes."""
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def close(self) -> None:
        """Give back the connections, unless the client was given by the caller."""
        self._closed = True
        with self._lock:
            client, self._client = self._client, None
        if self._owned and client is not None:
            close_client(client)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._turns is None:
            yield
            return
        if not self._turns.acquire(timeout=self._limits.wait):
            raise self._limits.crowded()
        try:
            yield
        finally:
            self._turns.release()

    def _try(self, call: Call) -> Any:
        start, tries = time.monotonic(), 0
        while True:
            try:
                return self._send(call)
            except FAILURES as error:
                left = self._limits.wait - (time.monotonic() - start)
                pause = pause_before_next(error, tries, left, call)
                if pause is None or self._closed:
                    raise as_store_error(error, call.script.name) from error
                time.sleep(pause)
                tries += 1

    def _send(self, call: Call) -> Any:
        client = self.client()
        try:
            return client.execute_command(*by_digest(call), **_AS_BYTES)
        except NoScriptError:
            return client.execute_command(*by_source(call), **_AS_BYTES)


@dataclass(frozen=True)
class _Seat:
    """What a store has on one event loop."""

    client: Any
    turns: asyncio.Semaphore | None
    keeper: AsyncGenerator[None, None] | None
    """Closes the client when it is closed, or when the loop shuts its generators down."""


class AsyncLink:
    """Runs plans over asyncio clients of redis-py: one for each event loop that it is used from."""

    def __init__(self, connect: Callable[[], Any], limits: Limits, *, owned: bool) -> None:
        self._connect = connect
        self._limits = limits
        self._owned = owned
        self._closed = False
        self._home: asyncio.AbstractEventLoop | None = None
        self._seats: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Seat] = (
            weakref.WeakKeyDictionary()
        )

    async def run(self, plan: Plan[T]) -> T:
        """Carry out a plan, and return what it returns."""
        if self._closed:
            raise ClosedError("The store was closed; open another one.")
        with closing(plan):
            answer = None
            while True:
                try:
                    call = plan.send(answer)
                except StopIteration as end:
                    result: T = end.value
                    return result
                seat = await self._seat()
                async with self._turn(seat):
                    answer = await self._try(seat.client, call)

    async def client(self) -> Any:
        """Return the client of the running loop."""
        return (await self._seat()).client

    async def close(self) -> None:
        """Give back the running loop's connections, unless the client was given by the caller.

        Those of another loop are given back when that loop ends.
        """
        self._closed = True
        seat = self._seats.pop(asyncio.get_running_loop(), None)
        if seat is not None and seat.keeper is not None:
            await seat.keeper.aclose()

    async def _seat(self) -> _Seat:
        loop = asyncio.get_running_loop()
        seat = self._seats.get(loop)
        if seat is None:
            if not self._owned and self._home not in {None, loop}:
                raise StoreError(
                    "The client that the store was given belongs to another event loop; open a store "
                    "on a client of this one."
                )
            self._home = loop
            client, most = self._connect(), self._limits.at_once
            keeper = _keeper(client) if self._owned else None
            seat = _Seat(client, asyncio.Semaphore(most) if most else None, keeper)
            self._seats[loop] = seat
            if keeper is not None:
                await anext(keeper)
        return seat

    @asynccontextmanager
    async def _turn(self, seat: _Seat) -> AsyncIterator[None]:
        if seat.turns is None:
            yield
            return
        try:
            await asyncio.wait_for(seat.turns.acquire(), self._limits.wait)
        except asyncio.TimeoutError:
            raise self._limits.crowded() from None
        try:
            yield
        finally:
            seat.turns.release()

    async def _try(self, client: Any, call: Call) -> Any:
        start, tries = time.monotonic(), 0
        while True:
            try:
                return await self._send(client, call)
            except FAILURES as error:
                left = self._limits.wait - (time.monotonic() - start)
                pause = pause_before_next(error, tries, left, call)
                if pause is None or self._closed:
                    raise as_store_error(error, call.script.name) from error
                await asyncio.sleep(pause)
                tries += 1

    async def _send(self, client: Any, call: Call) -> Any:
        try:
            return await client.execute_command(*by_digest(call), **_AS_BYTES)
        except NoScriptError:
            return await client.execute_command(*by_source(call), **_AS_BYTES)


async def _keeper(client: Any) -> AsyncGenerator[None, None]:
    """Hold a client open until this generator is closed, at the latest with its event loop."""
    try:
        yield
    finally:
        await async_close_client(client)
