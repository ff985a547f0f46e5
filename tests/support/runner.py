"""What GitHub's runner makes of a step's log: which lines it obeys, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

OBEYED = frozenset(
    {
        "add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group",
        "notice", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands", "warning",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """One line that the runner obeys."""

    name: str
    message: str
    properties: dict[str, str] = field(default_factory=dict)


def obeyed(log: str) -> list[Command]:
    """Return the commands in `log`, in their order."""
    found = (_new_form(line) or _old_form(line) for line in re.split(r"\r\n|\r|\n", log))
    return [each for each in found if each is not None and each.name in OBEYED]


def _new_form(line: str) -> Command | None:
    text = line.strip(" \t\x0b\x0c\x85\xa0\u2028\u2029\u3000\ufeff\u200b")
    if not text.startswith("::"):
        return None
    head, separator, message = text[2:].partition("::")
    return _command(head, message, ",") if separator else None


def _old_form(line: str) -> Command | None:
    _, begun, rest = line.partition("##[")
    head, ended, message = rest.partition("]")
    return _command(head, message, ";") if begun and ended else None


def _command(head: str, message: str, separator: str) -> Command:
    name, _, properties = head.strip().partition(" ")
    pairs = (each.partition("=") for each in properties.split(separator) if "=" in each)
    return Command(name, _plain(message), {key.strip(): _plain(value) for key, _, value in pairs})


def _plain(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(escape, character)
    return text.replace("%25", "%")
