"""Data in the page can neither end its element nor be run, and only this page's code may run."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib

from memory_matrix.report.html.packing import packed, script_json, source_hash
from support.tables import table


@table(
    "text", ["</script>", "<!--", "<script>", "&amp;", "\u2028\u2029", "\ud800", "😀", "\\u003c"]
)
def test_any_text_is_the_same_again_and_ends_nothing(text: str) -> None:
    made = script_json({text: [text]})
    assert json.loads(made) == {text: [text]}
    assert made.isascii()
    assert not set("<>&") & set(made)


def test_what_is_packed_is_the_same_again() -> None:
    text = script_json({"column": list(range(1000))})
    assert zlib.decompress(base64.b64decode(packed(text))).decode() == text


def test_a_source_is_named_by_its_digest() -> None:
    digest = base64.b64encode(hashlib.sha256("a → b".encode()).digest()).decode()
    assert source_hash("a → b") == f"'sha256-{digest}'"
