"""docs/payloads.md lists the corpus as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.payloads import builtin
from memory_matrix.payloads.catalogue import END, START, refreshed
from support.tables import table

PAGE = Path(__file__).parents[3] / "docs" / "payloads.md"


def test_page_is_fresh() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert refreshed(text) == text, (
        "run: python -m memory_matrix.payloads.catalogue docs/payloads.md"
    )


def test_page_names_every_payload_once() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [name[len("payload_") :] for name in vars(builtin) if name.startswith("payload_")]
    assert [text.count(f"| `{name}` |") for name in names] == [1] * len(names)


@table("text", ["", START, END, "text\n"])
def test_page_without_its_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="marks"):
        refreshed(text)
