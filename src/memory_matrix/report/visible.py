"""Text from payloads, servers and matrix files made safe to show: one line, nothing interpreted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

NAME = 60
"""Characters of a name that reports show."""
SENTENCE = 400
"""Characters of a message or a reason that reports show."""

_ASCII = {"…": "...", "→": "->", "↓": "v", "✗": "x", "✓": "+", "≠": "!=", "○": "o", "·": "-"}
"""What reports' own symbols become where only ASCII can be shown."""


def visible(text: str, limit: int = SENTENCE, *, ascii_only: bool = False) -> str:
    r"""Return `text` as one line of at most about `limit` characters that a terminal only shows.

    Control characters, ANSI escapes, line ends, lone surrogates, invisible characters and those
    that turn the direction of writing become escapes such as `\x1b`. What is cut is counted.
    """
    shown = _shown(text[:limit], limit, ascii_only=ascii_only)
    rest = len(text) - len(shown)
    if not rest:
        return "".join(shown)
    return f"{''.join(shown)}{'...' if ascii_only else '…'} ({rest:,} more)"


def _shown(text: str, limit: int, *, ascii_only: bool) -> Sequence[str]:
    """Return the first characters of `text`, escaped, that fit into `limit` characters."""
    if text.isprintable() and (text.isascii() or not ascii_only):
        return text  # as nearly all texts: a large report has millions
    pieces = [_escaped(each, ascii_only) for each in text]
    ends = accumulate(map(len, pieces))
    return pieces[: sum(end <= limit for end in ends)]


@lru_cache(maxsize=4096)
def _escaped(character: str, ascii_only: bool) -> str:
    if not ascii_only and character.isprintable():
        return character
    if character.isprintable() and character.isascii():
        return character
    return _ASCII.get(character) or character.encode("unicode_escape").decode("ascii")


def listed(names: Iterable[str], most: int, show: Callable[[str], str] = str) -> str:
    """Return the first `most` names with commas, and how many more there are."""
    every = list(names)
    kept = every if len(every) <= most + 1 else every[:most]  # a name is as short as "1 more"
    text = ", ".join(map(show, kept))
    return text if len(kept) == len(every) else f"{text} and {len(every) - len(kept):,} more"


def counted(number: int, noun: str) -> str:
    """Return `1 cell`, `1,234 cells`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
