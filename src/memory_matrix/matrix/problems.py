"""What is wrong with a matrix file: where, and one sentence. Also the words such sentences share."""

from __future__ import annotations

import datetime as dt
import difflib
import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_matrix.matrix.model import mask_password

At = tuple[str | int, ...]
"""A key's path: `("axes", "python", 0)`."""

SHOWN = 10
"""How many alternatives a sentence lists before it stops."""

_LONGEST = 70
_COMPARED = 1000
"""How many words a misspelt one is compared with: comparing is slow."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and the key it is wrong at."""

    at: At
    sentence: str


def render(at: At) -> str:
    """Return the path as the file's reader would write it: `axes.packages."zope.event"[1]`."""
    text = ""
    for part in at:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if _BARE_KEY.fullmatch(part) else f".{show(part)}"
    return text.removeprefix(".")


def show(value: object, *, whole: bool = False) -> str:
    """Return `value` as TOML has it: on one line, printable, without passwords.

    What is long is cut, unless the `whole` is asked for.
    """
    plain = mask_password(value) if isinstance(value, str) else value
    text = as_json(plain)
    text = text if isinstance(value, str) else mask_password(text)
    if not whole and len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    return text if text.isprintable() else "".join(map(_printable, text))


def as_json(value: object) -> str:
    """Return `value` as JSON, equal for equal values; `...` for numbers that cannot be printed."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except ValueError:  # TOML's hexadecimal numbers may be longer than Python will print
        return "..."


def kind(value: object) -> str:
    """Return what TOML calls the type of `value`."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, dt.datetime | dt.time):
        return "a time"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "a date")


def listed(words: Iterable[str]) -> str:
    """Return the first words in quotes, and how many there are besides."""
    shown = [show(word) for word in words]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def did_you_mean(word: object, words: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ` Did you mean "...?"` for the word that is most like `word`, or nothing."""
    if len(str(word)) > _LONGEST:
        return ""
    known = {each.lower(): each for each in itertools.islice(words, _COMPARED)}
    close = difflib.get_close_matches(str(word).lower(), known, n=1, cutoff=cutoff)
    return f" Did you mean {show(known[close[0]])}?" if close else ""


def _printable(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"
