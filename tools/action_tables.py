#!/usr/bin/env python3
"""Write the tables of inputs and outputs in docs/github-action.md anew, from the definitions themselves.

    python tools/action_tables.py

A table stands between `<!-- inputs of action.yml -->` and `<!-- end -->`, and so on.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/github-action.md"
TABLE = re.compile(r"(<!-- (inputs|outputs) of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rewritten(page: str) -> str:
    """Return a page with the tables that the definitions make today."""
    return TABLE.sub(lambda found: f"{found[1]}{_table(found[2], found[3])}{found[4]}", page)


def _table(part: str, path: str) -> str:
    rows = [_row(name, each) for name, each in _definition(path)[part].items()]
    if part == "inputs":
        head = "| input | default | what it says |\n| --- | --- | --- |\n"
    else:
        head = "| output | what it says |\n| --- | --- |\n"
    return head + "".join(rows)


def _row(name: str, entry: dict[str, Any]) -> str:
    default = entry.get("default")
    shown = "" if default == "" else f"`{_yaml(default)}`"
    cells = (f"`{name}`", *([shown] if default is not None else []), entry["description"])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _definition(path: str) -> dict[str, Any]:
    read: dict[Any, Any] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if True not in read:  # `on`, in YAML 1.1
        return read
    called: dict[str, Any] = read[True]["workflow_call"]
    return called


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
