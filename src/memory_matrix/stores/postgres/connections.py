"""Connections whose waits end, and what lends them: a pool of the store's own, or what a caller gave.

Nothing here knows what is asked. No statement is prepared, so that a transaction pool in between works.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import psycopg
from psycopg import capabilities, conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from memory_matrix.stores.errors import ClosedError, RefusedError, UnreachableError, WaitError
from memory_matrix.stores.postgres.failures import SilentError
from memory_matrix.stores.postgres.values import line

T = TypeVar("T")

_PING = 1.0
_LOCKED = 0.6
"""The share of a call's time for which the server lets it wait for a lock, so that no write is left
waiting there by a client that gave up."""


class _LateError(Exception):
    """The time of a call is over."""


def _bounded(work: Generator[Any, Any, T], end: float) -> Generator[Any, Any, T]:
    """Pass on what a generator of psycopg waits for, until `end`."""
    try:
        wanted = next(work)
        while True:
            ready = yield wanted
            wanted = work.send(ready)  # first, for what has just come
            if time.monotonic() > end:
                raise _LateError
    except StopIteration as finished:
        result: T = finished.value
        return result


class _Limits:
    """When the waits of a connection end; None for never."""

    limit: float | None = None
    grace = 1.0

    def give(self, seconds: float, grace: float) -> None:
        """Let the calls from now on take `seconds` together, of which two `grace` are for cancelling."""
        self.limit = time.monotonic() + seconds - 2 * grace
        self.grace = grace


def _see_cancellable() -> None:
    """Raise where asking the server to cancel could take for ever: with a libpq before 17."""
    if not capabilities.has_cancel_safe():
        raise _LateError


class _Attempts:
    """What the attempts to connect of one pool have taught."""

    failure: str | None = None
    """Why the last one failed."""

    def __init__(self, given: Mapping[str, Any], wait: float) -> None:
        options = given.get("options") or os.environ.get("PGOPTIONS", "")
        bound = f"-c lock_timeout={math.ceil(_LOCKED * wait * 1000)}"
        self.extra: dict[str, Any] = {"options": f"{bound} {options}"}

    def is_bouncer(self, error: psycopg.Error) -> bool:
        """Return whether the server is a bouncer that takes no settings; no more are sent then.

        Without them, only the client bounds the waits for locks.
        """
        if not self.extra or "unsupported startup parameter" not in str(error):
            return False
        self.extra = {}
        return True


class BoundedConnection(_Limits, psycopg.Connection[Any]):
    """A connection that cancels what takes too long, and breaks where that is not answered either."""

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Wait for a generator of psycopg, as the class that this is derived from."""
        if self.limit is None:
            return super().wait(gen, *arguments, **options)
        try:
            return super().wait(_bounded(gen, self.limit), *arguments, **options)
        except _LateError:
            return self._cancelled(gen)

    def _cancelled(self, gen: Any) -> Any:
        self.limit = time.monotonic() + 2 * self.grace  # also for a rollback after this
        try:
            _see_cancellable()
            self.cancel_safe(timeout=self.grace)
            return super().wait(_bounded(gen, self.limit))
        except (_LateError, psycopg.errors.CancellationTimeout):
            self.pgconn.finish()
            raise SilentError(_SILENCE) from None

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Any:
        """Connect; the option `attempts` keeps what is learnt by it."""
        attempts: _Attempts = options.pop("attempts")
        try:
            connection = super().connect(conninfo, **options, **attempts.extra)
        except psycopg.Error as error:
            if not attempts.is_bouncer(error):
                attempts.failure = str(error).partition("\n")[0].rstrip(". ")
                raise
            connection = super().connect(conninfo, **options, **attempts.extra)
        attempts.failure = None
        return connection


class AsyncBoundedConnection(_Limits, psycopg.AsyncConnection[Any]):
    """The same for asyncio."""

    async def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Wait for a generator of psycopg, as the class that this is derived from."""
        if self.limit is None:
            return await super().wait(gen, *arguments, **options)
        try:
            return await super().wait(_bounded(gen, self.limit), *arguments, **options)
        except _LateError:
            return await self._cancelled(gen)

    async def _cancelled(self, gen: Any) -> Any:
        self.limit = time.monotonic() + 2 * self.grace
        try:
            _see_cancellable()
            await self.cancel_safe(timeout=self.grace)
            return await super().wait(_bounded(gen, self.limit))
        except (_LateError, psycopg.errors.CancellationTimeout):
            self.pgconn.finish()
            raise SilentError(_SILENCE) from None

    @classmethod
    async def connect(cls, conninfo: str = "", **options: Any) -> Any:
        """Connect; the option `attempts` keeps what is learnt by it."""
        attempts: _Attempts = options.pop("attempts")
        try:
            connection = await super().connect(conninfo, **options, **attempts.extra)
        except psycopg.Error as error:
            if not attempts.is_bouncer(error):
                attempts.failure = str(error).partition("\n")[0].rstrip(". ")
                raise
            connection = await super().connect(conninfo, **options, **attempts.extra)
        attempts.failure = None
        return connection


_SILENCE = (
    "The server gave no answer in time, nor to the request to cancel; the connection was closed. "
    "A write may have been done"
)


def _hears_something(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Return whether an idle connection has something to read: the server's good-bye, most likely."""
    look = select.poll()  # a tenth of what a selector takes, before every call
    look.register(connection.pgconn.socket, select.POLLIN)
    return bool(look.poll(0))


def _is_alive(connection: BoundedConnection) -> bool:
    """Return whether an idle connection still works; costs no round trip where it does."""
    if connection.closed or not _hears_something(connection):
        return not connection.closed
    connection.give(_PING, _PING / 4)
    try:
        connection.execute("")
    except psycopg.Error:
        connection.close()
        return False
    return True


async def _is_alive_async(connection: AsyncBoundedConnection) -> bool:
    if connection.closed or not _hears_something(connection):
        return not connection.closed
    connection.give(_PING, _PING / 4)
    try:
        await connection.execute("")
    except psycopg.Error:
        await connection.close()
        return False
    return True


def _attempts(dsn: str, wait: float) -> _Attempts:
    try:
        return _Attempts(conninfo.conninfo_to_dict(dsn), wait)
    except psycopg.ProgrammingError as error:
        raise RefusedError(f"The libpq URL of the store is wrong: {line(error)}.") from None


def _pool_options(dsn: str, size: int, wait: float, attempts: _Attempts) -> dict[str, Any]:
    """Return what both kinds of pool are made with."""
    patience = {"connect_timeout": max(2, math.ceil(wait))}
    if "connect_timeout" in conninfo.conninfo_to_dict(dsn):
        patience = {}
    return {
        "conninfo": dsn,
        "kwargs": {
            "autocommit": True,
            "prepare_threshold": None,
            "attempts": attempts,
            **patience,
        },
        "min_size": 0,
        "max_size": size,
        "timeout": wait,
        "reconnect_timeout": wait,
        "num_workers": 1,
        "open": False,
    }


class OwnPool:
    """Lends connections of a pool that is opened by the first call."""

    def __init__(self, dsn: str, size: int, wait: float) -> None:
        self._attempts = _attempts(dsn, wait)
        self._lock = threading.Lock()
        self._closed = False
        self._pool: ConnectionPool[BoundedConnection] = ConnectionPool(
            connection_class=BoundedConnection,
            **_pool_options(dsn, size, wait, self._attempts),
        )

    @property
    def failure(self) -> str | None:
        """Why the last attempt to connect failed."""
        return self._attempts.failure

    @contextmanager
    def lend(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection for a call that may take `seconds`, waiting for it included."""
        self._open()
        connection = self._living(time.monotonic() + seconds)
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _living(self, end: float) -> BoundedConnection:
        """Take a connection; dead ones go back, and the pool replaces them at once.

        The pool's own way to check them waits a second between two of them.
        """
        while True:
            connection = self._pool.getconn(timeout=end - time.monotonic())
            alive = False
            try:
                alive = _is_alive(connection)
            finally:
                if not alive:
                    self._pool.putconn(connection)
            if alive:
                return connection

    def _open(self) -> None:
        with self._lock:
            if self._closed:
                raise ClosedError("The store is closed.")
            if self._pool.closed:
                self._pool.open()

    def close(self) -> None:
        """Close the pool and its connections."""
        with self._lock:
            self._closed = True
            self._pool.close(timeout=1)


class GivenPool:
    """Lends connections of a caller's pool, which stays open."""

    failure = None

    def __init__(self, pool: ConnectionPool[Any]) -> None:
        self._pool = pool
        self._closed = False

    @contextmanager
    def lend(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection, waiting for it no longer than `seconds`."""
        if self._closed:
            raise ClosedError("The store is closed.")
        with self._pool.connection(timeout=seconds) as connection:
            yield connection

    def close(self) -> None:
        """Lend no more."""
        self._closed = True


class GivenConnection:
    """Lends a caller's one connection to one call at a time; it stays open."""

    failure = None

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection, waiting for the other calls no longer than `seconds`."""
        if self._closed:
            raise ClosedError("The store is closed.")
        if not self._turn.acquire(timeout=seconds):
            raise WaitError(_BUSY)
        try:
            _see_open(self._connection)
            yield self._connection
        finally:
            self._turn.release()

    def close(self) -> None:
        """Lend it no more."""
        self._closed = True


_BUSY = "Other calls took the given connection's whole time; nothing of this one was done."


def _see_open(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    if connection.closed:
        raise UnreachableError(
            "The connection that the store was given is closed; give it a new one."
        )


class AsyncOwnPool:
    """Lends connections of a pool for each event loop that calls come from."""

    def __init__(self, dsn: str, size: int, wait: float) -> None:
        self._attempts = _attempts(dsn, wait)
        self._options = _pool_options(dsn, size, wait, self._attempts)
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopPool] = WeakKeyDictionary()
        self._closed = False

    @property
    def failure(self) -> str | None:
        """Why the last attempt to connect failed."""
        return self._attempts.failure

    @asynccontextmanager
    async def lend(self, seconds: float) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection for a call that may take `seconds`, waiting for it included."""
        if self._closed:
            raise ClosedError("The store is closed.")
        pool = await self._here().opened()
        connection = await _living(pool, time.monotonic() + seconds)
        try:
            yield connection
        finally:
            await pool.putconn(connection)

    def _here(self) -> _LoopPool:
        loop = asyncio.get_running_loop()
        for other in [each for each in self._pools if each.is_closed()]:
            self._pools.pop(other).abandon()
        if loop not in self._pools:
            self._pools[loop] = _LoopPool(self._options)
        return self._pools[loop]

    async def close(self) -> None:
        """Close the pools: this loop's in order, those of loops that ended at once."""
        self._closed = True
        here = self._pools.pop(asyncio.get_running_loop(), None)
        for other in list(self._pools.values()):
            other.abandon()
        self._pools.clear()
        if here is not None:
            await here.close()


async def _living(
    pool: AsyncConnectionPool[AsyncBoundedConnection], end: float
) -> AsyncBoundedConnection:
    """Take a connection, as the blocking pool does."""
    while True:
        connection = await pool.getconn(timeout=end - time.monotonic())
        alive = False
        try:
            alive = await _is_alive_async(connection)
        finally:
            if not alive:
                await pool.putconn(connection)
        if alive:
            return connection


class _UntilCancelled:
    """A queue that gives nothing more to a task that was cancelled, whoever took the cancelling for done."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    async def get(self) -> Any:
        """Return what comes next."""
        cancelling = getattr(asyncio.current_task(), "cancelling", int)  # since 3.11
        if cancelling():
            raise asyncio.CancelledError
        return await self._queue.get()


class _Pool(AsyncConnectionPool[AsyncBoundedConnection]):
    """A pool whose workers end when they are cancelled, also while they connect.

    psycopg's own take that for a failed attempt, and go on: `asyncio.run` would wait for them for ever.
    """

    @classmethod
    async def worker(cls, q: Any) -> None:
        """Do what `q` brings."""
        await super().worker(_UntilCancelled(q))  # type: ignore[arg-type]


class _LoopPool:
    """The pool of one event loop."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._connections: WeakSet[psycopg.AsyncConnection[Any]] = WeakSet()
        self._opening = asyncio.Lock()
        self._pool = _Pool(
            connection_class=AsyncBoundedConnection,
            configure=self._remember,
            **options,
        )

    async def opened(self) -> AsyncConnectionPool[AsyncBoundedConnection]:
        if self._pool.closed:
            async with self._opening:
                if self._pool.closed:
                    await self._pool.open()
        return self._pool

    async def close(self) -> None:
        await self._pool.close(timeout=1)

    def abandon(self) -> None:
        """Close the connections of a loop that no longer runs."""
        for connection in list(self._connections):
            with suppress(psycopg.Error):
                connection.pgconn.finish()

    async def _remember(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connections.add(connection)


class AsyncGivenPool:
    """Lends connections of a caller's pool, which stays open."""

    failure = None

    def __init__(self, pool: AsyncConnectionPool[Any]) -> None:
        self._pool = pool
        self._closed = False

    @asynccontextmanager
    async def lend(self, seconds: float) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection, waiting for it no longer than `seconds`."""
        if self._closed:
            raise ClosedError("The store is closed.")
        async with self._pool.connection(timeout=seconds) as connection:
            yield connection

    async def close(self) -> None:
        """Lend no more."""
        self._closed = True


class AsyncGivenConnection:
    """Lends a caller's one connection to one call at a time; it stays open."""

    failure = None

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection
        self._turn = asyncio.Lock()
        self._closed = False

    @asynccontextmanager
    async def lend(self, seconds: float) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend the connection, waiting for the other calls no longer than `seconds`."""
        if self._closed:
            raise ClosedError("The store is closed.")
        try:
            await asyncio.wait_for(self._turn.acquire(), seconds)
        except asyncio.TimeoutError:
            raise WaitError(_BUSY) from None
        try:
            _see_open(self._connection)
            yield self._connection
        finally:
            self._turn.release()

    async def close(self) -> None:
        """Lend it no more."""
        self._closed = True


Lender = OwnPool | GivenPool | GivenConnection
AsyncLender = AsyncOwnPool | AsyncGivenPool | AsyncGivenConnection


def lender(target: Any, size: int, wait: float) -> Lender:
    """Return what lends connections: of a libpq URL, of a pool, or a connection."""
    if isinstance(target, str):
        return OwnPool(target, size, wait)
    if isinstance(target, ConnectionPool):
        return GivenPool(target)
    if isinstance(target, psycopg.Connection):
        return GivenConnection(target)
    raise TypeError(
        f"A PostgresStore is opened with a libpq URL, a ConnectionPool or a Connection of psycopg 3, "
        f"not with a {type(target).__name__}."
    )


def async_lender(target: Any, size: int, wait: float) -> AsyncLender:
    """Return what lends connections: of a libpq URL, of an async pool, or an async connection."""
    if isinstance(target, str):
        return AsyncOwnPool(target, size, wait)
    if isinstance(target, AsyncConnectionPool):
        return AsyncGivenPool(target)
    if isinstance(target, psycopg.AsyncConnection):
        return AsyncGivenConnection(target)
    raise TypeError(
        f"An AsyncPostgresStore is opened with a libpq URL, an AsyncConnectionPool or an "
        f"AsyncConnection of psycopg 3, not with a {type(target).__name__}."
    )
