"""The msgspec structs of the corpus."""

from typing import List

import msgspec


class Message(msgspec.Struct):
    """A struct with a default."""

    role: str
    content: str
    tags: List[str] = []
