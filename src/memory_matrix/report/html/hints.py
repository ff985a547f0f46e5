"""The hints that a report's cells have: each stands in the page once, where it can be linked to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memory_matrix.report.model import Cell, Report

HintKey = tuple[str, str]
"""The code of a cause, which may be empty, and the hint's text."""


@dataclass(frozen=True)
class Hint:
    """A cause, what to do about it, and how many cells it is about."""

    id: str
    """Of its element in the page; the code itself where it is one: `report.html#MM102`."""
    cause: str
    text: str
    cells: int


def key(cell: Cell) -> HintKey | None:
    """Return which hint `cell` has; None where it has none."""
    return None if cell.hint is None else (cell.cause or "", cell.hint)


def hints(report: Report) -> Mapping[HintKey, Hint]:
    """Return all hints of `report` by their keys, in the order of their codes."""
    counts = Counter(found for cell in report.cells if (found := key(cell)) is not None)
    made: dict[HintKey, Hint] = {}
    taken: set[str] = set()
    for number, (cause, text) in enumerate(sorted(counts)):
        name = cause if _is_code(cause) and cause not in taken else f"hint-{number}"
        taken.add(name)
        made[cause, text] = Hint(name, cause, text, counts[cause, text])
    return made


def _is_code(cause: str) -> bool:
    return re.fullmatch(r"MM\d{1,6}", cause, re.ASCII) is not None
