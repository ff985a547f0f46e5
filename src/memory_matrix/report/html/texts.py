"""Texts and names as the page's data holds them: made visible, cut, each there once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory_matrix.matrix.naming import unique
from memory_matrix.report.model import Difference, Report
from memory_matrix.report.visible import NAME, visible

BUDGET = 4_000_000
"""Characters that all messages and differences of a page may take together."""
ELSEWHERE = "no room here: see report.json"
"""What stands for a text when the budget is spent."""
NONE = -1
"""The number of what is not there."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Room:
    """How much of each text there is room for."""

    message: int
    """Characters of what was raised, or of a reason."""
    value: int
    """Characters of a path or a value in a difference."""
    places: int
    """Differences of one cell."""

    def of(self, differences: Sequence[Difference]) -> int:
        """Return how many characters `differences` take here."""
        return sum(
            min(len(text), self.value)
            for each in differences[: self.places]
            for text in (each.path, each.expected, each.got)
        )


ROOMS = (Room(4_000, 1_000, 50), Room(1_000, 300, 10), Room(300, 100, 3), Room(100, 60, 1))
"""From ample to the least that still tells something."""


def room(report: Report) -> Room:
    """Return the most ample room in which all texts of `report` keep to the budget."""
    messages = {each.error.message for each in report.cells if each.error is not None}
    messages |= {each.reason for each in report.suite if each.reason is not None}
    diffs = {each.diff for each in report.cells}
    for each in ROOMS:
        taken = sum(min(len(message), each.message) for message in messages)
        if taken + sum(map(each.of, diffs)) <= BUDGET:
            return each
    return ROOMS[-1]


class Numbers(dict[Key, int]):
    """Gives each key that is asked for a number, counted from 0 in the order of the first questions."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        super().__init__((key, number) for number, key in enumerate(dict.fromkeys(keys)))

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number


def shown(names: Iterable[str]) -> list[str]:
    """Return `names` as the page shows them: no two alike, whatever was cut or escaped."""
    return unique(visible(name, NAME) or "(empty)" for name in names)


class Texts:
    """A table of texts, each there once as it is shown."""

    def __init__(self) -> None:
        self._numbers: Numbers[str] = Numbers()
        self._room = BUDGET

    def number(self, text: str | None, limit: int) -> int:
        """Return the number of `text`, cut to `limit` characters; NONE for None."""
        if text is None:
            return NONE
        cut = visible(text, limit)
        if cut not in self._numbers:
            if len(cut) > self._room:
                return self._numbers[ELSEWHERE]
            self._room -= len(cut)
        return self._numbers[cut]

    @property
    def every(self) -> list[str]:
        """The texts by number."""
        return list(self._numbers)
