"""Messages as the items of a session, which are what the Responses API takes, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message

Item = Mapping[str, Any]

PROJECT = "openai-agents"

POLICY = Policy(
    nul="keep",
    surrogate="keep",
    nan="keep",
    non_string_keys="text",
    value_kinds={"tuple": "plain"},
    message_fields=("id", "role", "text", "metadata", "tool"),
    corrupt="skip",
    loops="one",  # that of the engine or the client
)
"""Items are kept as JSON, in which all that is not ASCII is escaped."""


def items(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages as items; what the Responses API has no place for goes into `provider_data`."""
    return [_item(each) for each in messages]


def messages(found: Iterable[Item]) -> list[Message]:
    """Return items as messages."""
    return [message(each) for each in found]


def message(item: Item) -> Message:
    """Return an item as a message."""
    more = item.get("provider_data", {})
    return Message(
        role=item["role"],
        text=item["content"],
        id=item.get("id"),
        metadata=more.get("metadata", {}),
        tool=more.get("tool"),
    )


def _item(given: Message) -> dict[str, Any]:
    item: dict[str, Any] = {"role": given.role, "content": given.text}
    more: dict[str, Any] = {}
    if given.id is not None:
        item["id"] = given.id
    if given.metadata:
        more["metadata"] = dict(given.metadata)
    if given.tool is not None:
        more["tool"] = dict(given.tool)
    return {**item, "provider_data": more} if more else item
