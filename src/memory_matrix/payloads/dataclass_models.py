"""The dataclasses of the corpus. Imported by payloads when needed: Python 3.6 has no dataclasses."""

import sys
from dataclasses import dataclass, field
from typing import Dict, List, Optional


@dataclass
class Message:
    """A plain dataclass."""

    role: str
    content: str


@dataclass(frozen=True)
class Fact:
    """A frozen dataclass: hashable, no attribute can be set."""

    subject: str
    confidence: float


@dataclass
class Settings:
    """Defaults, a factory, and a field that `__init__` does not take."""

    model: str = "small"
    stop: List[str] = field(default_factory=list)
    limit: Optional[int] = None
    runs: int = field(default=0, init=False, compare=False)


@dataclass
class Thread:
    """A dataclass of dataclasses."""

    title: str
    messages: List[Message]
    facts: Dict[str, Fact]


if sys.version_info >= (3, 10):

    @dataclass(slots=True)
    class Step:
        """A dataclass with slots, both of one type so that swapped fields would show."""

        tool: str
        result: str

    @dataclass(frozen=True, slots=True)
    class Source:
        """A frozen dataclass with slots."""

        url: str
        page: int
