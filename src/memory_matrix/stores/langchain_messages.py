"""Messages as LangChain has them, and back."""

from __future__ import annotations

from typing import Any

from memory_matrix.stores.protocol import Message
from memory_matrix.stores.requiring import required

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

    def written(self, message: Message) -> Any:
        """Return a message as LangChain's; what it has no place for goes into `additional_kwargs`."""
        more: dict[str, Any] = {}
        if message.metadata:
            more["metadata"] = dict(message.metadata)
        if message.tool is not None:
            more["tool"] = dict(message.tool)
        named: dict[str, Any] = {"id": message.id, "additional_kwargs": more}
        if message.role == "tool":
            named["tool_call_id"] = str((message.tool or {}).get("call_id", ""))
        return self._classes[message.role](message.text, **named)


def message(found: Any) -> Message:
    """Return one of LangChain's messages as a message."""
    more = found.additional_kwargs
    return Message(
        role=_ROLES[found.type],
        text=found.content,
        id=found.id,
        metadata=more.get("metadata", {}),
        tool=more.get("tool"),
    )
