"""What redis-py raises, as the errors of a store, and what is worth another try."""

from __future__ import annotations

import asyncio

import redis
from redis import exceptions as raised
from redis.sentinel import MasterNotFoundError

from memory_matrix.stores.errors import (
    FullError,
    ReadOnlyError,
    ServerError,
    StoreError,
    UnreachableError,
    WaitError,
)
from memory_matrix.stores.redis.calls import Call

FAILURES = (redis.RedisError, OSError, asyncio.TimeoutError)
"""All that a call can end with on the way to the server and back."""

PAUSES = (0.0, 0.05, 0.2)
"""Seconds before the second, third and fourth try."""

_FINAL = (raised.AuthenticationError, raised.TimeoutError, TimeoutError, asyncio.TimeoutError)
_PASSING = (raised.ConnectionError, raised.TryAgainError, raised.ClusterDownError, OSError)
_CROWDED = ("No connection available", "Too many connections")


def pause_before_next(error: BaseException, tries: int, left: float, call: Call) -> float | None:
    """Return the seconds to wait before a call is tried again; None where that is of no use.

    `tries` have been made again so far, `left` seconds remain.
    """
    if tries >= len(PAUSES) or PAUSES[tries] > left or not _is_passing(error):
        return None
    return PAUSES[tries] if call.repeatable or _was_not_done(error) else None


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, _FINAL) or _is_crowded(error):
        return False
    return isinstance(error, _PASSING)


def _was_not_done(error: BaseException) -> bool:
    """Return whether the server, or nobody at all, answered that the call was not done."""
    return isinstance(error, raised.ResponseError | raised.BusyLoadingError)


def as_store_error(error: BaseException, name: str) -> StoreError:
    """Return what a store raises for `error`, in the call `name`."""
    text = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
    for kinds, words, make, sentence in _MEANINGS:
        if isinstance(error, kinds) and (not words or any(word in text for word in words)):
            return make(f"{name}: {sentence} ({text}).")
    return ServerError(f"{name}: the server refused it ({text}).")


def _is_crowded(error: BaseException) -> bool:
    return any(str(error).startswith(word) for word in _CROWDED)


_MEANINGS: tuple[
    tuple[
        type[BaseException] | tuple[type[BaseException], ...],
        tuple[str, ...],
        type[StoreError],
        str,
    ],
    ...,
] = (
    (
        raised.ConnectionError,
        _CROWDED,
        WaitError,
        "no connection of the pool was free in time; let it have more, or call it less at once",
    ),
    (
        (raised.TimeoutError, TimeoutError, asyncio.TimeoutError),
        (),
        WaitError,
        "no answer within the time that the store waits; the server is stuck, paused or overloaded",
    ),
    (
        raised.BusyLoadingError,
        (),
        UnreachableError,
        "the server is still loading its data; try again soon",
    ),
    (
        (raised.AuthenticationError, raised.AuthorizationError),
        (),
        ServerError,
        "the server does not accept the user or the password",
    ),
    (
        MasterNotFoundError,
        (),
        UnreachableError,
        "the sentinels know no primary that is up; try again when one is",
    ),
    (
        (
            raised.ClusterDownError,
            raised.ClusterError,
            raised.TryAgainError,
            raised.RedisClusterException,
        ),
        (),
        UnreachableError,
        "the cluster is not ready; try again when all its slots are served",
    ),
    ((raised.ConnectionError, OSError), (), UnreachableError, "the server cannot be reached"),
    (
        raised.ReadOnlyError,
        (),
        ReadOnlyError,
        "the server takes no writes; connect to the primary, or promote this one",
    ),
    (
        raised.ResponseError,
        ("read only replica", "READONLY"),
        ReadOnlyError,
        "the server takes no writes; connect to the primary, or promote this one",
    ),
    (
        (raised.OutOfMemoryError, raised.ResponseError),
        ("OOM", "maxmemory"),
        FullError,
        "the server has no memory left for it; free some or raise maxmemory",
    ),
    (
        raised.ResponseError,
        ("MISCONF", "NOREPLICAS"),
        ReadOnlyError,
        "the server takes no writes until its disk or its replicas are well again",
    ),
    (
        raised.ResponseError,
        ("WRONGTYPE",),
        ServerError,
        "a key of the store's name holds something else; use another prefix, or remove it",
    ),
    (
        (raised.NoPermissionError, raised.ResponseError),
        ("NOPERM",),
        ServerError,
        "the server's user lacks a right that the store needs",
    ),
    (
        raised.ResponseError,
        ("MOVED", "ASK", "CROSSSLOT"),
        ServerError,
        "the server is a cluster's node; open the store with a cluster client",
    ),
)
