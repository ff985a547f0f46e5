"""Checkpoints as messages: what all of LangGraph's checkpointers take and give.

The session is the thread_id, the namespace the checkpoint_ns, and a handle is the config of a checkpoint.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from memory_matrix.stores.adapting.opening import Opened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.policy import MESSAGE_FIELDS, Policy
from memory_matrix.stores.protocol import Message, Scope

CHANNEL = "messages"

POLICY = Policy(
    message_fields=MESSAGE_FIELDS,
    metadata_nul="clean",
    value_kinds={"tuple": "plain"},
    batch="single",
    conflict="merge",
)
"""What holds for all of them; what is kept of a message depends on how it is stored."""

Config = dict[str, Any]


class Checkpoints:
    """What the adapters of plain checkpointers share."""

    _empty: Callable[[], dict[str, Any]]

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after the newest that is there."""
        if messages:
            self.append_with(store, self.load(store, scope), messages)

    def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the checkpoints, which the library lists newest first."""
        return oldest_first(store.library.list(config(scope), limit=limit))

    def load(self, store: Opened, scope: Scope) -> Config:
        """Return the config of the newest checkpoint."""
        return config_of(store.library.get_tuple(config(scope)), scope)

    def append_with(self, store: Opened, handle: Config, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after that of a config."""
        for arguments in puts(store.library, self._empty, messages):
            handle = store.library.put(handle, *arguments)


def empty_checkpoint() -> Callable[[], dict[str, Any]]:
    """Return LangGraph's function for a new checkpoint."""
    found: Callable[[], dict[str, Any]] = required(
        "langgraph-checkpoint", "langgraph.checkpoint.base", "empty_checkpoint"
    )
    return found


def config(scope: Scope) -> Config:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": scope.session, "checkpoint_ns": checkpoint_ns(scope)}}


def checkpoint_ns(scope: Scope) -> str:
    """Return a namespace as LangGraph joins those of subgraphs."""
    return "|".join(scope.namespace)


def config_of(found: Any, scope: Scope) -> Config:
    """Return the config of a checkpoint, or of its thread where there is none."""
    of_found: Config = config(scope) if found is None else found.config
    return of_found


def puts(
    saver: Any, empty: Callable[[], dict[str, Any]], messages: Iterable[Message]
) -> Iterator[tuple[Any, ...]]:
    """Yield what a saver's `put` takes after the config, for each message."""
    for message in messages:
        version = saver.get_next_version(None, None)
        checkpoint = {
            **empty(),
            "channel_values": {CHANNEL: [_written(message)]},
            "channel_versions": {CHANNEL: version},
        }
        yield checkpoint, dict(message.metadata), {CHANNEL: version}


def oldest_first(found: Iterable[Any]) -> list[Message]:
    """Return listed checkpoints, which come newest first, as messages."""
    return [_message(each) for each in found][::-1]


def _written(message: Message) -> dict[str, Any]:
    """Return a message as graphs keep it, among other things in a channel."""
    return {
        "role": message.role,
        "content": message.text,
        "id": message.id,
        "tool": None if message.tool is None else dict(message.tool),
    }


def _message(found: Any) -> Message:
    (written,) = found.checkpoint["channel_values"][CHANNEL]
    return Message(
        role=written["role"],
        text=written["content"],
        id=written["id"],
        tool=written["tool"],
        metadata=dict(found.metadata),
        created_at=dt.datetime.fromisoformat(found.checkpoint["ts"]),
    )
