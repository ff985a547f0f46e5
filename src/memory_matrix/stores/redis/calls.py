"""One round trip each: a script, what it is given, and what its answer means."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, TypeVar

from memory_matrix.stores.errors import (
    ConflictError,
    CorruptError,
    NotFoundError,
    SchemaError,
    StoreError,
)

T = TypeVar("T")
Argument: TypeAlias = bytes | int

_PARTS = {
    "append": ("session", "change"),
    "pop": ("session", "change"),
    "delete_message": ("session", "change"),
    "set_state": ("session", "change"),
    "read": ("session",),
    "get_state": ("session",),
    "list_sessions": ("session",),
    "put": ("records",),
    "update": ("records",),
    "delete": ("records",),
    "delete_all": ("records",),
    "scan": ("records",),
    "list_namespaces": ("records",),
}
"""What a script begins with, beside the common part."""


@dataclass(frozen=True)
class Script:
    """A Lua script, and the digest that a server knows it by."""

    name: str
    source: bytes
    sha: bytes


@dataclass(frozen=True)
class Call:
    """A script to be run on keys of one slot."""

    script: Script
    keys: Sequence[bytes]
    arguments: Sequence[Argument] = ()
    repeatable: bool = True
    """Whether it may be sent again when nobody knows if it was done."""


Plan: TypeAlias = Generator[Call, Any, T]
"""Yields calls, is sent their answers, and returns what the caller wanted."""


@cache
def script(name: str) -> Script:
    """Return a script of this package."""
    folder = files(__package__) / "scripts"
    parts = ("common", *_PARTS.get(name, ()), name)
    source = b"\n".join((folder / f"{part}.lua").read_bytes() for part in parts)
    digest = hashlib.sha1(source, usedforsecurity=False).hexdigest()
    return Script(name, source, digest.encode())


def newer(what: str) -> SchemaError:
    """Return what is raised for data of a later release."""
    return SchemaError(f"{what} was written by a later release; use that one, nothing was done.")


def answer(reply: Sequence[Any], what: str) -> Sequence[Any]:
    """Return what a script answered after its first word.

    Raises:
        StoreError: the word says that the call was not done, and why.
    """
    word = bytes(reply[0])
    if word == b"ok":
        return reply[1:]
    raise _problem(word, what)


def _problem(word: bytes, what: str) -> StoreError:
    problems = {
        b"conflict": ConflictError(
            f"{what} was changed since it was loaded; load it again and repeat the write."
        ),
        b"gone": ConflictError(f"{what} was deleted since it was loaded; nothing was written."),
        b"damaged": CorruptError(
            f"{what} has lost a part of what belongs to it, though it does not expire; clear it to "
            "begin a new one."
        ),
        b"newer": newer(what),
        b"missing": NotFoundError(f"{what} is not there."),
        b"lost": StoreError(
            f"{what}: the newest message was popped, but the connection broke before it arrived."
        ),
    }
    return problems[word]
