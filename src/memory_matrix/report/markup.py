"""Pieces of a Markdown report: sections, and text in which nothing is markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory_matrix.report.visible import NAME, listed, visible

MOST_NAMES = 12
MOST_FOLDED = 50_000
"""Bytes of one list that are folded away, unless it says otherwise."""
_CUT_ROOM = 120
"""Bytes kept in each section for saying how much of it was cut."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Section:
    """A heading and items that each make sense alone, so that any of them may be cut."""

    title: str
    items: Sequence[str]
    columns: str = ""
    """The head of a table, where the items are its rows."""
    aside: bool = False
    """Whether it is looked up rather than read: what was compared, not what came of it."""
    is_folded: bool = False

    @property
    def head(self) -> str:
        """What stands before the first item."""
        if self.is_folded:
            return f"\n<details><summary>{self.title}</summary>\n\n{self.columns}"
        return f"\n### {self.title}\n\n{self.columns}"

    @property
    def foot(self) -> str:
        """What stands after the last item."""
        return "\n</details>\n" if self.is_folded else ""


def code(text: str, limit: int = NAME, *, in_table: bool = False) -> str:
    """Return `text` as a code span: nothing in it is interpreted, linked or notified."""
    shown = visible(text, limit) or "(empty)"
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    padding = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    span = f"{fence}{padding}{shown}{padding}{fence}"
    return span.replace("|", r"\|") if in_table else span


def prose(text: str, limit: int = 1000) -> str:
    """Return `text` as running text in which nothing is markup, a link or a mention.

    Not for the start of a line, where also `-`, `#`, `1.` and the like are markup.
    """
    escaped = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", visible(text, limit))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(@|#|:(?=//)|www)", r"\1<!-- -->", escaped, flags=re.IGNORECASE)


def folded(
    items: Sequence[Item], most: int, show: Callable[[Item], str], room: int = MOST_FOLDED
) -> str:
    """Return the first items as a list, and below it the others, folded away.

    What has no room, in bytes, is counted, and `show` is not called for it.
    """
    shown = "".join(f"- {show(item)}\n" for item in items[:most])
    others = items[most:]
    if not others:
        return shown
    kept = list(_with_room((f"- {show(item)}\n" for item in others), room))
    rest = len(others) - len(kept)
    last = f"- … and {rest:,} more: see report.json.\n" if rest else ""
    summary = (
        f"\n<details><summary>{len(others):,} more"
        if most
        else f"<details><summary>{len(others):,}"
    )
    return f"{shown}{summary}</summary>\n\n{''.join(kept)}{last}\n</details>\n"


def _with_room(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= len(line.encode())
        if room < 0:
            return
        yield line


def listing(title: str, lines: Sequence[str]) -> Section:
    """Return a section that is a list."""
    return Section(title, [f"- {line}\n" for line in lines])


def code_list(
    names: Iterable[str], most: int = MOST_NAMES, show: Callable[[str], str] = code
) -> str:
    """Return the first names as code spans with commas, and how many more there are."""
    return listed(names, most, show)


def table_code_list(names: Iterable[str]) -> str:
    """Return the same for a cell of a table."""
    return code_list(names, show=table_code)


def table_code(text: str, limit: int = NAME) -> str:
    """Return `text` as a code span for a cell of a table."""
    return code(text, limit, in_table=True)


def size(sections: Iterable[Section]) -> int:
    """Return the bytes that `fitted` needs for all of `sections`."""
    return sum(
        _CUT_ROOM
        + sum(len(piece.encode()) for piece in (section.head, *section.items, section.foot))
        for section in sections
    )


def fitted(sections: Sequence[Section], room: int) -> str:
    """Return `sections` in `room` bytes: what does not fit is cut from their ends and counted."""
    return "".join(_fitted(sections, room - _CUT_ROOM * len(sections)))


def _fitted(sections: Sequence[Section], room: int) -> Iterator[str]:
    for section in sections:
        kept, taken = _fitting(section, room)
        room -= taken
        yield section.head + "".join(section.items[:kept]) if kept else f"\n### {section.title}\n"
        if kept < len(section.items):
            yield f"\n… and {len(section.items) - kept:,} more: see report.json.\n"
        if kept:
            yield section.foot


def _fitting(section: Section, room: int) -> tuple[int, int]:
    """Return how many items of `section` have room, and the bytes that it takes with them."""
    taken = len(f"{section.head}{section.foot}".encode())
    for number, item in enumerate(section.items):
        grown = taken + len(item.encode())
        if grown > room:
            return number, taken if number else 0
        taken = grown
    return len(section.items), taken
