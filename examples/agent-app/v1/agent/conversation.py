"""What was said, as pydantic models; kept as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

Role = Literal["system", "user", "assistant", "tool"]


class Message(BaseModel):
    role: Role
    text: str


class Conversation(BaseModel):
    messages: list[Message] = []

    def say(self, role: Role, text: str) -> None:
        self.messages.append(Message(role=role, text=text))

    def transcript(self) -> list[str]:
        return [f"{each.role}: {each.text}" for each in self.messages]
