"""The pydantic models of the corpus: one definition of each for pydantic 1 and 2."""

from datetime import datetime
from typing import Any, Dict, List, Optional, Union

import pydantic
import pydantic.dataclasses


class Message(pydantic.BaseModel):
    """A plain model with a default."""

    role: str
    content: str
    tokens: int = 0


class Conversation(pydantic.BaseModel):
    """A model of models."""

    title: str
    messages: List[Message]
    by_id: Dict[str, Message]


class Profile(pydantic.BaseModel):
    """Optional fields: one given, one given as None, one left out."""

    name: Optional[str] = None
    nickname: Optional[str] = None
    city: Optional[str] = None


class Setting(pydantic.BaseModel):
    """A union, which pydantic 1 tries from left to right and pydantic 2 by best match."""

    value: Union[int, str]


class Event(pydantic.BaseModel):
    """A datetime given as text."""

    at: datetime


class Link(pydantic.BaseModel):
    """A URL, whose type is another one in each of pydantic 1, 2.0 and 2.10."""

    url: pydantic.HttpUrl


class Credentials(pydantic.BaseModel):
    """A secret, hidden when shown."""

    key: pydantic.SecretStr


@pydantic.dataclasses.dataclass
class Fact:
    """A dataclass of pydantic's own."""

    subject: str
    confidence: float = 1.0


if hasattr(pydantic, "PrivateAttr"):

    class Session(pydantic.BaseModel):
        """A model with a private attribute."""

        name: str
        _steps: List[Any] = pydantic.PrivateAttr(default_factory=list)

        def remember(self, step: str) -> "Session":
            """Keep `step`, and return the session."""
            self._steps.append(step)
            return self
