"""What is left of a conversation that got too long; kept as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Summary:
    text: str
    turns: int
    at: datetime

    def to_json(self) -> str:
        return json.dumps({"text": self.text, "turns": self.turns, "at": self.at.isoformat()})

    @classmethod
    def from_json(cls, text: str) -> Summary:
        found = json.loads(text)
        return cls(found["text"], found["turns"], _time(found["at"]))


def _time(found: str | float) -> datetime:
    if isinstance(found, str):
        return datetime.fromisoformat(found)
    return datetime.utcfromtimestamp(found)  # as release 1 wrote it
