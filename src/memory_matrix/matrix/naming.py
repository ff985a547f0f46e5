"""Names that no two things share."""

from __future__ import annotations

from collections.abc import Iterable


def unique(names: Iterable[str]) -> list[str]:
    """Return the names in their order, with `#2`, `#3` and so on behind those that repeat."""
    names = list(names)
    taken = set(names)
    seen: set[str] = set()
    return [_free(name, seen, taken) for name in names]


def _free(name: str, seen: set[str], taken: set[str]) -> str:
    free, number = name, 1
    while free in seen or (number > 1 and free in taken):
        number += 1
        free = f"{name}#{number}"
    seen.add(free)
    return free
