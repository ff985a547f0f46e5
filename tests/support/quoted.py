"""What a page quotes of an output."""

from __future__ import annotations

import re
from pathlib import Path

CUT = "…"
"""A line of its own where a page leaves lines out."""


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language in a page."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def not_quoted(block: str, output: str) -> list[str]:
    """Return what of a block does not stand in `output` so; where that breaks lines makes no difference.

    What stands between two cuts has to follow one another, and what is in front of the first and behind the
    last is the start and the end.
    """
    pieces = [" ".join(piece.split()) for piece in re.split(rf"^{CUT}$", block, flags=re.MULTILINE)]
    whole = " ".join(output.split())
    wrong = [each for each in pieces if each not in whole]
    if not whole.startswith(pieces[0]):
        wrong.append(f"it begins otherwise, without {CUT}: {pieces[0]}")
    if not whole.endswith(pieces[-1]):
        wrong.append(f"it ends otherwise, without {CUT}: {pieces[-1]}")
    return wrong
