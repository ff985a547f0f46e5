"""Say in Markdown what the codes of hints mean.

`python -m memory_matrix.compat.hints_page FILE` writes it to FILE.
"""

from __future__ import annotations

import sys
from pathlib import Path

from memory_matrix.compat.hints import Example, Hint, load_hints

INTRODUCTION = """\
# Hints

Every cell that is not `ok` has a code that names its cause, and what to do about it. The code is in
`report.json` as `cause`. Codes are stable. The first digit says what kind of trouble it is.

<!-- made by python -m memory_matrix.compat.hints_page docs/hints.md -->
"""

FAMILIES = {
    "1": "It cannot be read",
    "2": "Something else came back",
    "3": "The environments mean different things",
    "4": "It cannot be written",
    "5": "The server refuses it",
    "6": "The process dies",
}
"""By the first digit of a code."""


def markdown() -> str:
    """Return the page: a section for each family, and in it each hint with an example."""
    hints = sorted(load_hints().all, key=lambda hint: hint.code)
    return "\n".join(
        [INTRODUCTION] + [_family(digit, title, hints) for digit, title in FAMILIES.items()]
    )


def _family(digit: str, title: str, hints: list[Hint]) -> str:
    mine = [hint for hint in hints if hint.code[2] == digit]
    return "\n".join([f"## {title}\n", *map(_section, mine)])


def _section(hint: Hint) -> str:
    return (
        f"### {hint.code}: {hint.title}\n\n{hint.cause}\n\n**What to do:** {hint.advice}\n\n"
        f"For example `{hint.example.outcome}`:\n\n```text\n{_text(hint.example)}\n```\n"
    )


def _text(example: Example) -> str:
    if example.error is not None:
        return f"{example.error.type}: {example.error.message}"
    (difference,) = example.diff
    return f"{difference.path}: expected {difference.expected}, got {difference.got}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
