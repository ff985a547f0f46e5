"""Names that no two things share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def unique(names: Iterable[str]) -> list[str]:
    """Return the names in their order, with `#2`, `#3` and so on behind those that repeat."""
    names = list(names)
    taken = set(names)
    seen: Counter[str] = Counter()
    return [_free(name, seen, taken) for name in names]


def _free(name: str, seen: Counter[str], taken: set[str]) -> str:
    """Return a name that is not taken, and take it; `seen` holds the last number of each name."""
    seen[name] += 1
    if seen[name] == 1:
        return name
    while (numbered := f"{name}#{seen[name]}") in taken:
        seen[name] += 1
    taken.add(numbered)
    return numbered
