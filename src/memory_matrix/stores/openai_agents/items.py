"""Messages as the items of a session, which are what the Responses API takes, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory_matrix.stores.adapting.values import extras, of_extras
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
    more = of_extras(item.get("provider_data", {}))
    return Message(item["role"], item["content"], item.get("id"), **more)


def _item(given: Message) -> dict[str, Any]:
    item: dict[str, Any] = {"role": given.role, "content": given.text}
    if given.id is not None:
        item["id"] = given.id
    more = extras(given)
    return {**item, "provider_data": more} if more else item
