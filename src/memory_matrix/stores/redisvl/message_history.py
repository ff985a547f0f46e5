"""The adapter for `MessageHistory`. Its `clear` is of all sessions, so that none is offered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from memory_matrix.stores.adapting.histories import Histories, OpenedHistories
from memory_matrix.stores.adapting.on_redis import keys_at, outside
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Scope

_MODULE = "redisvl.extensions.message_history"


class MessageHistory(Histories):
    """`MessageHistory`, with the prefix as its name, and so that of its index."""

    project = "redisvl"
    policy = Policy(
        message_fields=("role", "text", "metadata"),
        nul="keep",  # Redis keeps bytes
        nan="keep",  # metadata is JSON
        non_string_keys="text",
        value_kinds={"tuple": "plain"},
        order="time",
    )

    def __init__(self) -> None:
        super().__init__()
        self._history = required(self.project, _MODULE, "MessageHistory")
        counts = hasattr(self._history, "count")
        self.count: Callable[[OpenedHistories, Scope], int] | None = self._count if counts else None

    def append(self, store: OpenedHistories, scope: Scope, messages: Sequence[Message]) -> None:
        """Add messages."""
        self._of(store, scope).add_messages([_written(each) for each in messages])

    def read(
        self, store: OpenedHistories, scope: Scope, *, limit: int | None = None
    ) -> list[Message]:
        """Return the messages, or the most recent."""
        history = self._of(store, scope)
        found = history.messages if limit is None else history.get_recent(top_k=limit)
        return [_message(each) for each in found]

    def raw_keys(self, store: OpenedHistories, scope: Scope) -> list[str]:
        """Return the keys of a session's messages."""
        with outside(store.env) as client:
            keys = keys_at(client, f"{_name(store)}:")
            return [key for key in keys if client.hget(key, "session_tag") == scope.session]

    def store_clock(self, store: OpenedHistories, now: Callable[[], dt.datetime]) -> None:
        """Let the library take the time from `now()`, in all of this process until `store` is closed."""
        module = import_module(f"{_MODULE}.schema")
        store.closing.callback(setattr, module, "current_timestamp", module.current_timestamp)
        module.__dict__["current_timestamp"] = lambda: now().timestamp()

    def _count(self, store: OpenedHistories, scope: Scope) -> int:
        return int(self._of(store, scope).count())

    def _made(self, store: OpenedHistories, session: str) -> Any:
        return self._history(_name(store), session_tag=session, redis_client=store.client)


def _name(store: OpenedHistories) -> str:
    return f"{store.env.prefix}history"


def _written(message: Message) -> dict[str, Any]:
    more = {"metadata": dict(message.metadata)} if message.metadata else {}
    return {"role": message.role, "content": message.text, **more}


def _message(found: Any) -> Message:
    role = found["role"]  # a member of an enum since 0.13
    return Message(
        str(getattr(role, "value", role)), found["content"], metadata=found.get("metadata", {})
    )
