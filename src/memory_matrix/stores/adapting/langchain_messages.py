"""Messages as LangChain has them, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import extras, of_extras
from memory_matrix.stores.protocol import Message

_CLASSES = {
    "user": "HumanMessage",
    "assistant": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
}
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class LangChainMessages:
    """Makes messages of langchain-core, which the PyPI project `project` brings along."""

    def __init__(self, project: str) -> None:
        module = "langchain_core.messages"
        self._classes = {role: required(project, module, name) for role, name in _CLASSES.items()}

    def written(self, messages: Iterable[Message]) -> list[Any]:
        """Return messages as LangChain's; what it has no place for goes into `additional_kwargs`."""
        return [self._written(each) for each in messages]

    def read(self, found: Iterable[Any]) -> list[Message]:
        """Return LangChain's messages as messages."""
        return [_message(each) for each in found]

    def _written(self, message: Message) -> Any:
        named: dict[str, Any] = {"id": message.id, "additional_kwargs": extras(message)}
        if message.role == "tool":
            named["tool_call_id"] = str((message.tool or {}).get("call_id", ""))
        return self._classes[message.role](message.text, **named)


def _message(found: Any) -> Message:
    more = of_extras(found.additional_kwargs)
    return Message(_ROLES[found.type], found.content, found.id, **more)
