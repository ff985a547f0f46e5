"""The names of all cases, read off their modules: importing those takes what only an environment has to have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_GROUP = re.compile(r'^GROUP = "(\w)"$', re.MULTILINE)
_CASE = re.compile(r"^def test_(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class CaseName:
    """One case."""

    name: str
    group: str
    """The letter of its group, `A` to `N`."""
    module: str
    """The one that it is in, of `memory_matrix.suite.cases`."""


@cache
def case_names() -> tuple[CaseName, ...]:
    """Return all cases, in the order of their groups and modules."""
    folder = Path(__file__).parent / "cases"
    modules = [(path.stem, path.read_text(encoding="utf-8")) for path in folder.glob("test_*.py")]
    return tuple(sorted(_all(sorted(modules)), key=lambda each: each.group))


def _all(modules: list[tuple[str, str]]) -> Iterator[CaseName]:
    for module, text in modules:
        for group in _GROUP.findall(text):
            yield from (CaseName(name, group, module) for name in _CASE.findall(text))
