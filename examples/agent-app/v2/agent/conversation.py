"""What was said, as pydantic models; kept as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, computed_field

Role = Literal["system", "user", "assistant", "tool"]


class Message(BaseModel):
    role: Role
    content: str = ""  # a call of a tool has none

    @computed_field
    def text(self) -> str:
        """The content under its old name, so that release 1 can still read what is written."""
        return self.content


class Conversation(BaseModel):
    messages: list[Message] = []

    def say(self, role: Role, text: str) -> None:
        self.messages.append(Message(role=role, content=text))

    def transcript(self) -> list[str]:
        return [f"{each.role}: {each.content}" for each in self.messages]
