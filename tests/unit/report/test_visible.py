"""Hostile text is shown, never interpreted."""

from __future__ import annotations

import sys
import unicodedata
from itertools import compress

import pytest

from memory_matrix.report.visible import counted, listed, visible
from support.tables import table


@table(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Grüße 日本 😀", "Grüße 日本 😀"),
        ("a\nb\r\n\tc", r"a\nb\r\n\tc"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31mred", r"\x9b31mred"),
        ("nul\x00", r"nul\x00"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u2066b\u200bc\ufeff", r"a\u2066b\u200bc\ufeff"),
        ("line\u2028end\x85", r"line\u2028end\x85"),
        ("\ud83d", r"\ud83d"),
        ("no-break\xa0space", r"no-break\xa0space"),
        ("[red]markup[/]", "[red]markup[/]"),
        ("", ""),
    ],
)
def test_only_what_prints_is_left(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.large
def test_no_character_that_steers_a_terminal_gets_through() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    kinds = map(unicodedata.category, every)
    steering = compress(every, map({"Cc", "Cf", "Cs", "Zl", "Zp"}.__contains__, kinds))
    for character in steering:
        assert visible(character).isascii()
        assert visible(character).isprintable()


def test_ascii_only_is_ascii() -> None:
    shown = visible("Grüße → 日本 😀 … ≠\x1b", ascii_only=True)
    assert shown == r"Gr\xfc\xdfe -> \u65e5\u672c \U0001f600 ... !=\x1b"


def test_what_is_cut_is_counted() -> None:
    assert visible("x" * 1_000_000, 10) == "x" * 10 + "… (999,990 more)"
    assert visible("x" * 12, 10, ascii_only=True) == "x" * 10 + "... (2 more)"


def test_an_escape_is_never_cut_in_half() -> None:
    assert visible("\u202e" * 100, 16) == r"\u202e\u202e… (98 more)"


def test_text_of_just_the_limit_is_whole() -> None:
    assert visible("x" * 10, 10) == "x" * 10


def test_lists_say_how_many_are_left_out() -> None:
    assert listed([], 3) == ""
    assert listed("abcd", 3) == "a, b, c, d"
    assert listed("abcde", 3) == "a, b, c and 2 more"
    assert listed("abc", 3, str.upper) == "A, B, C"


def test_numbers_have_their_noun() -> None:
    assert counted(0, "cell") == "0 cells"
    assert counted(1, "cell") == "1 cell"
    assert counted(1234, "cell") == "1,234 cells"
