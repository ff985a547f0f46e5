"""Text and bytes that codecs, JSON, YAML and databases treat specially."""

from typing import Any


def payload_text_emoji() -> Any:
    """Emoji with joiners, skin tones and flags."""
    return (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1eb\U0001f1f7 "
        "\u2764\ufe0f\u200d\U0001f525"
    )


def payload_text_right_to_left() -> Any:
    """Hebrew and Arabic text with direction marks."""
    return "\u05e9\u05dc\u05d5\u05dd \u200f(abc)\u200e \u0645\u0631\u062d\u0628\u0627"


def payload_text_combining() -> Any:
    """The same letter composed and with a combining mark, which must not be normalised."""
    return ["\u00e9", "e\u0301", "a\u0323\u0307"]


def payload_text_nul() -> Any:
    """Text with a NUL character, which Postgres refuses in text and jsonb."""
    return "before\x00after"


def payload_text_lone_surrogate() -> Any:
    """Text cut in the middle of an emoji: a lone surrogate, which UTF-8 cannot encode."""
    return "cut \ud83d"


def payload_text_non_bmp() -> Any:
    """Characters outside the basic plane, as text and as a key."""
    return {"\U00020bb7\U0001d518": "\U0001f9e0\U0010fffd"}


def payload_text_control() -> Any:
    """Control characters, a byte order mark, and Unicode's line separators."""
    return "\x01\x07\x08\x0b\x1b[0m\x7f\x85\ufeff\u2028\u2029\ufffe"


def payload_text_newlines() -> Any:
    """Line ends of every kind, with blanks at the edges."""
    return ["a\nb", "a\r\nb", "a\rb", "  both  ", "\n", "end\n\n", "\ttab"]


def payload_text_lookalikes() -> Any:
    """Text that looks like something else: numbers, dates, null, yes, a reference."""
    return ["1", "1e3", "0x1F", "012", "null", "~", "yes", "2026-01-01", "*ref", "NaN", "1:30", "="]


def payload_text_empty() -> Any:
    """Empty text, as a value and as a key."""
    return {"summary": "", "": "no key"}


def payload_bytes() -> Any:
    """All 256 byte values."""
    return bytes(range(256))


def payload_bytes_empty() -> Any:
    """Empty bytes, which must become neither text nor None."""
    return b""


def payload_bytearray() -> Any:
    """A bytearray, which must not become bytes."""
    return bytearray(b"\x00\x01\xfe\xff")


def payload_memoryview() -> Any:
    """A memoryview of an audio chunk."""
    return memoryview(b"RIFF\x00\x00")
