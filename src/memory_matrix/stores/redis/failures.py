"""What redis-py raises, as the errors of a store, and what is worth another try."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import redis
from redis import exceptions as raised

from memory_matrix.stores.errors import (
    FullError,
    ReadOnlyError,
    RightsError,
    ServerError,
    StoreError,
    UnreachableError,
    WaitError,
)
from memory_matrix.stores.redis.calls import Call

FAILURES = (redis.RedisError, raised.RedisClusterException, OSError, asyncio.TimeoutError)
"""All that a call can end with on the way to the server and back."""

PAUSES = (0.0, 0.05, 0.2)
"""Seconds before the second, third and fourth try."""

_TIMEOUTS = (raised.TimeoutError, TimeoutError, asyncio.TimeoutError)
_CROWDED = ("No connection available", "Too many connections")
_BY_EITHER = (raised.ResponseError, raised.RedisClusterException)
"""What the server says, and what a cluster client says before it asks one."""
_PASSING = (raised.ConnectionError, raised.TryAgainError, raised.ClusterDownError, OSError)
_FINAL = (raised.AuthenticationError, *_TIMEOUTS)

# Releases of redis-py have more and more classes for what a server says; its words stay.
_NOT_READY = "the cluster is not ready; try again when all its slots are served"
_A_NODE = "the server is a node of a cluster; open the store on a cluster client"
_APART = (
    "keys of one call are in different slots of the cluster, although the store gives them one hash tag; "
    "see what changes keys on their way, such as a client or a proxy with a prefix of its own"
)
_NO_CLUSTER = "the server is no cluster; open the store on a plain client"
_UNCOVERED = ("cannot be connected", "covered", "could not agree", "doesn't exist")
"""In what redis-py says where nodes of a cluster are away, or do not know each other yet."""


@dataclass(frozen=True)
class _Meaning:
    """What an error of one of `kinds` means whose text holds one of `words`."""

    make: type[StoreError]
    sentence: str
    kinds: tuple[type[BaseException], ...] = (raised.ResponseError,)
    words: tuple[str, ...] = ("",)

    def fits(self, error: BaseException) -> bool:
        return isinstance(error, self.kinds) and any(word in str(error) for word in self.words)


_MEANINGS = (
    _Meaning(
        WaitError,
        "no connection of the pool was free; let it have more, or call it less at once",
        (raised.ConnectionError,),
        _CROWDED,
    ),
    _Meaning(
        WaitError,
        "no answer came within the time that the store waits, so that the server may be paused or "
        "overloaded; a write may have been done, repeat it with the same write_id",
        _TIMEOUTS,
    ),
    _Meaning(
        UnreachableError,
        "the server is still loading its data; try again soon",
        (raised.BusyLoadingError,),
    ),
    _Meaning(
        RightsError,
        "the server does not accept the user or the password",
        (raised.AuthenticationError, raised.AuthorizationError),
    ),
    _Meaning(
        UnreachableError,
        "the sentinels know no primary that is up; try again when one is",
        (raised.ConnectionError,),
        ("No master found",),
    ),
    _Meaning(ServerError, _APART, _BY_EITHER, ("CROSSSLOT", "same slot", "same key slot")),
    _Meaning(
        ServerError, _NO_CLUSTER, _BY_EITHER, ("mode is not enabled", "cluster support disabled")
    ),
    _Meaning(UnreachableError, _NOT_READY, (raised.RedisClusterException,), _UNCOVERED),
    _Meaning(UnreachableError, _NOT_READY, (raised.ClusterError, raised.TryAgainError)),
    _Meaning(UnreachableError, _NOT_READY, words=("CLUSTERDOWN", "TRYAGAIN")),
    _Meaning(ServerError, _A_NODE, (raised.AskError,)),
    _Meaning(ServerError, _A_NODE, words=("MOVED ", "ASK ")),
    _Meaning(
        UnreachableError,
        "the server cannot be reached; a write may have been done, repeat it with the same write_id",
        (raised.ConnectionError, OSError),
    ),
    _Meaning(
        ReadOnlyError,
        "the server takes no writes; use the primary, or wait until this one is it",
        words=("READONLY", "read only replica"),
    ),
    _Meaning(
        FullError,
        "the server has no memory left for it; free some, or raise its maxmemory",
        words=("OOM", "maxmemory"),
    ),
    _Meaning(
        ReadOnlyError,
        "the server takes no writes until its disk or its replicas are well again",
        words=("MISCONF", "NOREPLICAS"),
    ),
    _Meaning(
        ServerError,
        "a key of the store's name holds something else; use another prefix, or remove it",
        words=("WRONGTYPE",),
    ),
    _Meaning(
        RightsError,
        "the server's user lacks a right that the store needs",
        words=("no permissions", "can't run this command", "NOPERM", "NOAUTH", "ACL"),
    ),
    _Meaning(
        UnreachableError,
        "the server is busy with a script that takes long; try again when it has ended",
        words=("BUSY",),
    ),
)


def pause_before_next(error: BaseException, tries: int, left: float, call: Call) -> float | None:
    """Return the seconds to wait before a call is tried again; None where that is of no use.

    `tries` have been made again so far, `left` seconds remain.
    """
    if tries >= len(PAUSES) or PAUSES[tries] > left or not _is_passing(error):
        return None
    return PAUSES[tries] if call.repeatable or _was_not_done(error) else None


def as_store_error(error: BaseException, name: str) -> StoreError:
    """Return what a store raises for `error`, in the call `name`."""
    text = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
    for meaning in _MEANINGS:
        if meaning.fits(error):
            return meaning.make(f"{name}: {meaning.sentence} ({text}).")
    return ServerError(f"{name}: the server refused it ({text}).")


def _is_passing(error: BaseException) -> bool:
    crowded = any(str(error).startswith(word) for word in _CROWDED)
    return isinstance(error, _PASSING) and not isinstance(error, _FINAL) and not crowded


def _was_not_done(error: BaseException) -> bool:
    """Return whether the server answered that it did not do the call."""
    return isinstance(error, raised.ResponseError | raised.BusyLoadingError)
