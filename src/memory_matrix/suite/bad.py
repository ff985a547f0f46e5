"""What a store refuses by its own policy: for cases in which one part of a call is bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Record
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import record

Named = Mapping[str, Any]


def bad_messages(memory: Memory, *, required: bool = True) -> dict[str, Message]:
    """Return messages that the store refuses, by what is wrong with them.

    Ends the case as not offered if none is known that is `required`.
    """
    found = {what: Message("user", text) for what, text in _texts(memory.policy).items()}
    if "metadata" in memory.policy.message_fields:
        values = _values(memory.policy).items()
        found |= {what: Message("user", "bad", metadata={"bad": value}) for what, value in values}
    if required and not found:
        memory.not_offered("its policy names no message that it refuses")
    return found


def bad_records(memory: Memory, *, required: bool = True) -> dict[str, Record]:
    """Return records that the store refuses, by what is wrong with them.

    Ends the case as not offered if none is known that is `required`.
    """
    good = record(memory, "bad", "bad")
    found = {what: replace(good, text=text) for what, text in _texts(memory.policy).items()}
    values = _values(memory.policy).items()
    found |= {what: replace(good, metadata={"bad": value}) for what, value in values}
    if memory.offers("search"):
        found["a vector too long"] = replace(good, vector=(0.5,) * (memory.env.dimensions + 1))
    if required and not found:
        memory.not_offered("its policy names no record that it refuses")
    return found


def unwritable() -> Message:
    """Return a message that can hardly be written: for stores whose policy refuses nothing."""
    text: Any = Lock()
    return Message("user", text)


def _texts(policy: Policy) -> Named:
    found = {}
    if policy.nul == "refuse":
        found["a NUL in the text"] = "b\0d"
    if policy.surrogate == "refuse":
        found["a lone surrogate in the text"] = "b\ud800d"
    return found


def _values(policy: Policy) -> Named:
    found: dict[str, Any] = {}
    if policy.nan == "refuse":
        found["NaN in the metadata"] = float("nan")
    if policy.value_kinds["set"] == "refuse":
        found["a set in the metadata"] = {1, 2}
    return found
