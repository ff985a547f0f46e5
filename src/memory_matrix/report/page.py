"""Lines of a report on a terminal: laid out to its width, with nothing in them that it obeys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, TypeVar

from memory_matrix.report.visible import NAME, counted, listed, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MOST_ITEMS = 10
"""Items of any other list without `verbose`."""
MOST_NAMES = 6
"""Names in one line without `verbose`."""

Part = str | tuple[str, str]
"""A piece of a line: text, or text with a style."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Look:
    """How a terminal can show a report."""

    width: int = 80
    colour: bool = False
    ascii_only: bool = False
    verbose: bool = False

    def most(self, number: int) -> int:
        """Return how many of something to show."""
        return sys.maxsize if self.verbose else number

    def show(self, text: str, limit: int = 4000) -> str:
        """Return `text` as this terminal can show it."""
        return visible(text, limit, ascii_only=self.ascii_only)

    def names(self, names: Iterable[str], most: int = MOST_NAMES) -> str:
        """Return the first names with commas, and how many more there are."""
        return listed(names, self.most(most), lambda name: self.show(name, NAME))


@dataclass
class Page:
    """Lines as they will stand on the screen."""

    look: Look
    lines: list[Text] = field(default_factory=list)

    def add(self, *parts: Part, indent: int = 0, wrap: bool = True) -> None:
        """Add a line; what does not fit goes on below it, further in."""
        from rich.text import Text

        shown = [self._part(part) for part in parts]
        line = Text.assemble(" " * indent, *shown)
        if not wrap or line.cell_len <= self.look.width:
            line.rstrip()
            self.lines.append(line)
            return
        pieces = Text.assemble(*shown).wrap(_console(self.look), self.look.width - indent - 2)
        for number, piece in enumerate(pieces):
            piece.rstrip()
            self.lines.append(Text(" " * (indent + 2 * (number > 0))) + piece)

    def _part(self, part: Part) -> tuple[str, str]:
        text, style = (part, "") if isinstance(part, str) else part
        return self.look.show(text, sys.maxsize), style

    def title(self, text: str) -> None:
        """Add a heading after an empty line."""
        self.add()
        self.add((text, "bold"))

    def rest(self, number: int, noun: str = "", indent: int = 2) -> None:
        """Say how many more there are, if any."""
        if number > 0:
            what = counted(number, f"more {noun}") if noun else f"{number:,} more"
            self.add((f"… and {what}: see report.md, or use -v", "dim"), indent=indent)

    def listing(self, title: str, lines: Sequence[str]) -> None:
        """Add a heading with the number of `lines`, and the first of them; nothing for none."""
        if lines:
            self.title(f"{title} ({len(lines):,})")
            self.items(lines, str)

    def items(self, every: Sequence[Item], show: Callable[[Item], str]) -> None:
        """Add the first of `every`, each as `show` makes it, and how many more there are."""
        most = self.look.most(MOST_ITEMS)
        for each in every[:most]:
            self.add(show(each), indent=2)
        self.rest(len(every) - most)

    def blocks(
        self, noun: str, every: Sequence[Item], add: Callable[[Item], None], lines: int
    ) -> None:
        """Add the first of `every`, and others as long as a whole one has room in `lines` lines."""
        end = len(self.lines) + self.look.most(lines)
        for number, each in enumerate(every):
            before = len(self.lines)
            if number:
                self.add()
            add(each)
            if number and len(self.lines) > end:
                del self.lines[before + 1 :]
                self.rest(len(every) - number, noun, indent=0)
                return

    def text(self) -> str:
        """Return the page as it is printed."""
        if not self.look.colour:  # in half the time
            return "".join(f"{line.plain}\n" for line in self.lines)
        console = _console(self.look)
        console.print(*self.lines, sep="\n", soft_wrap=True, highlight=False)
        file = console.file
        assert isinstance(file, StringIO)
        return file.getvalue()


def _console(look: Look) -> Console:
    from rich.console import Console

    return Console(
        file=StringIO(),
        width=look.width,
        color_system="standard" if look.colour else None,
        force_terminal=look.colour,
        no_color=False,
        legacy_windows=False,
        _environ={},
    )


def columns(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """Return `text` with spaces after it to fill `width` columns."""
    return text + " " * max(0, width - columns(text))


def fitted(text: str, width: int, look: Look) -> str:
    """Return `text`, cut to `width` columns where it is wider."""
    from rich.cells import set_cell_size

    if columns(text) <= width:
        return text
    dots = look.show("…")
    return set_cell_size(text, width - len(dots)) + dots
