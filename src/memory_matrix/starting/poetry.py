"""Dependencies in Poetry's own table, as `[project]` would say them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_CONSTRAINT = re.compile(r"(?P<operator>\^|~(?!=))\s*(?P<version>\d+(?:\.\d+)*)\s*")
_BARE = re.compile(r"\d[\w.+!]*(?:\.\*)?")


def requirements(dependencies: Mapping[str, Any]) -> Iterator[str]:
    """Yield the requirements that Poetry's table of dependencies asks for, but for Python itself.

    What comes from elsewhere than a package index (git, a path, a URL) is named without a version. What
    this cannot say is yielded as it stands, and is no requirement.
    """
    for name, wanted in dependencies.items():
        if name.lower() == "python":
            continue
        table = wanted if isinstance(wanted, dict) else {"version": wanted}
        extras = table.get("extras") or ()
        inside = f"[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else ""
        yield f"{name}{inside}{specifier(table.get('version', '*'))}"


def specifier(constraint: object) -> str:
    """Return a constraint of Poetry's, such as `^2.5` or `~1.4`, as pip writes it; another one as it is."""
    text = str(constraint).strip()
    return "" if text == "*" else ",".join(map(_one, text.split(",")))


def _one(constraint: str) -> str:
    text = constraint.strip()
    found = _CONSTRAINT.fullmatch(text)
    if found is None:
        return f"=={text}" if _BARE.fullmatch(text) else text
    parts = [int(part) for part in found["version"].split(".")]
    kept = min(len(parts), 2) if found["operator"] == "~" else _leading(parts)
    above = [*parts[: kept - 1], parts[kept - 1] + 1]
    return f">={found['version']},<{'.'.join(map(str, above))}"


def _leading(parts: list[int]) -> int:
    """Return how many numbers there are up to the first that is not 0; it is that one which may not grow."""
    return next((place for place, part in enumerate(parts, start=1) if part), len(parts))
