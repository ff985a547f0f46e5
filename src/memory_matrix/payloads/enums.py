"""Enumerations of every kind."""

import enum
import sys
from typing import Any

from memory_matrix.payloads.lacking import needs_python


class Role(enum.Enum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


class Priority(enum.IntEnum):
    """How urgent a task is."""

    LOW = 1
    HIGH = 5


class Permission(enum.Flag):
    """What a tool may do."""

    READ = 1
    WRITE = 2
    EXECUTE = 4


class Delivery(enum.IntFlag):
    """How a message was sent."""

    SENT = 1
    SEEN = 2


class Status(str, enum.Enum):
    """State of a task, as API clients declare it."""

    OPEN = "open"
    DONE = "done"


if sys.version_info >= (3, 11):

    class Channel(enum.StrEnum):
        """Where a message came from."""

        CHAT = "chat"
        MAIL = "mail"


def payload_enum() -> Any:
    """A member of an Enum, as a value and as a key."""
    return {"role": Role.ASSISTANT, Role.USER: 1}


def payload_int_enum() -> Any:
    """A member of an IntEnum, which must not become a whole number."""
    return [Priority.HIGH, 5]


def payload_flag() -> Any:
    """A combination of two members of a Flag, one member, and none."""
    return [Permission.READ | Permission.EXECUTE, Permission.WRITE, Permission(0)]


def payload_int_flag() -> Any:
    """A combination of two members of an IntFlag."""
    return Delivery.SENT | Delivery.SEEN


def payload_str_mixin_enum() -> Any:
    """A member of an Enum that is also a str, which must not become text."""
    return [Status.OPEN, "open"]


def payload_str_enum() -> Any:
    """A member of a StrEnum (Python 3.11 and later)."""
    if sys.version_info >= (3, 11):
        return [Channel.MAIL, "mail"]
    raise needs_python("3.11", "enum.StrEnum")
