"""What pages quote of a report is marked where lines of it are left out."""

from __future__ import annotations

from pathlib import Path

from support.quoted import CUT, blocks, not_quoted
from support.tables import table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@table("page", PAGES)
def test_a_list_out_of_a_report_is_marked_as_that(page: Path) -> None:
    for block in blocks(page, "text"):
        if block.startswith(("✗", CUT)):
            assert (block.split("\n")[0], block.split("\n")[-2]) == (CUT, CUT)


@table(
    ("block", "wrong"),
    [
        ("a\nb c\nd\n", 0),
        ("a b\nc d\n", 0),
        ("a\n…\nd\n", 0),
        ("…\nb c\n…\n", 0),
        ("…\nd\n", 0),
        ("a\nd\n", 1),
        ("b c\n…\n", 1),
        ("…\nb c\n", 1),
        ("…\nx\n…\n", 1),
    ],
)
def test_a_quotation_is_what_stands_there(block: str, wrong: int) -> None:
    assert len(not_quoted(block, "a\nb\n  c\nd\n")) >= wrong
    assert bool(not_quoted(block, "a\nb\n  c\nd\n")) is bool(wrong)
