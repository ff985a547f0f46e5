"""Times, times to live, and what of a message a library has no place for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_matrix.stores.protocol import Message, NotOffered, StoreEnv


def extras(message: Message) -> dict[str, Any]:
    """Return a message's metadata and its tool, for the mapping that a library keeps as it is."""
    more = {"metadata": dict(message.metadata)} if message.metadata else {}
    return more if message.tool is None else {**more, "tool": dict(message.tool)}


def of_extras(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message is made of, besides the rest of it, from such a mapping."""
    return {"metadata": more.get("metadata", {}), "tool": more.get("tool")}


def epoch(at: datetime) -> float:
    """Return a time as seconds since 1970.

    Raises:
        NotOffered: it has no zone.
    """
    if at.utcoffset() is None:
        raise NotOffered("a time is given as seconds since 1970, which is no time without a zone")
    return at.timestamp()


def whole_ttl(env: StoreEnv) -> int | None:
    """Return a session's time to live for a library that takes whole seconds.

    Raises:
        ValueError: it has a fraction.
    """
    if env.ttl is not None and env.ttl != int(env.ttl):
        raise ValueError(f"the library takes whole seconds as a time to live, not {env.ttl}")
    return None if env.ttl is None else int(env.ttl)
