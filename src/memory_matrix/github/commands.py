"""Workflow commands: lines that GitHub's runner obeys, made so that no text in them does anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "notice"]

LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
"""Worst first."""

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


@dataclass(frozen=True, slots=True)
class Annotation:
    """What GitHub shows beside a file, and in the list of a run. Any text is allowed in any field."""

    level: Level
    message: str
    title: str | None = None
    file: str | None = None
    """Relative to the repository's root."""
    line: int | None = None
    """From 1 on."""

    def __str__(self) -> str:
        return command(
            self.level, self.message, {"file": self.file, "line": self.line, "title": self.title}
        )


def command(
    name: str, message: str = "", properties: dict[str, str | int | None] | None = None
) -> str:
    """Return the line that tells the runner to do `name`; properties that are None are left out."""
    given = (properties or {}).items()
    pairs = ",".join(f"{key}={str(each).translate(_PROPERTY)}" for key, each in given if each)
    return f"::{name}{' ' if pairs else ''}{pairs}::{message.translate(_DATA)}"


def group(name: str) -> str:
    """Return the line from which on the log is folded away under `name`."""
    return command("group", name)


def endgroup() -> str:
    """Return the line that ends a group."""
    return command("endgroup")


def add_mask(secret: str) -> str:
    """Return the line from which on the log shows `***` for `secret`."""
    return command("add-mask", secret)
