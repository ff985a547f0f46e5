"""Group A: what is appended is read back equal, whatever text it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from memory_matrix.stores.policy import Keeping
from memory_matrix.stores.protocol import Compare, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.apart import names_stay_apart
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.parts import cover
from memory_matrix.suite.samples import vector
from memory_matrix.suite.ways import (
    Carried,
    Content,
    Way,
    come_back,
    comes_back,
    equal_or_refused,
    has_metadata,
    is_refused,
    ways,
)

GROUP = "A"

SCOPE = Scope()
MIB = 1024 * 1024

ODD = {
    "composed": "\u00e9",
    "characters beyond U+FFFF": "\U00020bb7\U0001f9e0",
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308",
    "a flag": "\U0001f1e6\U0001f1f9",
    "Chinese": "\u6f22\u5b57",
    "halfwidth": "\uff76\uff9e",
    "a ligature": "\ufb01",
    "long s and Kelvin": "\u017f \u212a",
    "unassigned": "\U000e0fff\uffff",
}
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
BIDI = ("\u202eabc", "a\u200db", "\ufeffstart", "end\ufeff", "\u2066\u05e9\u05dc\u05d5\u05dd\u2069")
LOOKING_LIKE_CODE = (
    "'; DROP TABLE messages; --",
    "Robert'); DELETE FROM messages WHERE ('1'='1",
    '" OR ""="',
    '{"a":1}',
    '[1, "two", null]',
    "null",
    "true",
    "12",
    '"quoted"',
    "$$ SELECT pg_sleep(1) $$",
    "E'\\\\n' || ''",
    "/* not a comment */ \\echo",
    "*3\r\n$3\r\nDEL\r\n",
)
LOOKING_LIKE_PARAMETERS = (
    "%s",
    "%(a)s",
    "100%",
    "%%",
    ":name",
    "::text",
    "$1",
    "{0}",
    "{}",
    "{name!r}",
    "{{x}}",
    "${HOME}",
    "?",
    "@p1",
)
LONE_SURROGATES = {
    "a lone high surrogate": "\ud83d",
    "a lone low surrogate": "\ude00",
    "surrogates the wrong way round": "\ude00\ud83d",
}

NUL = ("a", "\0", "b")
MARKS = (
    *("", " ", "?", "??", "\ufffd", "\ufffd" * 2, "\ufffd" * 3, "\ufffd" * 6, "\u2400"),
    *("\\0", "\\x00", "\\u0000", "\\ud83d", "\\ude00", "\\ude00\\ud83d"),
)
"""What a cleaned text may have in the place of what was odd."""


def test_text_ascii_round_trip(memory: Memory) -> None:
    """What is appended is read back equal, type included."""
    printable = "".join(map(chr, range(0x20, 0x7F)))
    _come_back(memory, "Hello, what can you do for me?", printable, "\x01\x02\x1b\x1f\x7f")


def test_text_bmp_and_astral(memory: Memory) -> None:
    """é, 漢字, emoji with joiners and flags come back equal, not normalised."""
    _come_back(memory, *ODD.values())


def test_text_nfc_nfd_distinct(memory: Memory) -> None:
    """Composed and decomposed forms stay what they were, and are distinct as ids."""
    _come_back(memory, COMPOSED, DECOMPOSED)
    if has_metadata(memory):
        come_back(memory, [Content(metadata={COMPOSED: 1, DECOMPOSED: 2})], "metadata")
    names_stay_apart(memory, COMPOSED, DECOMPOSED)


def test_text_rtl_and_bidi_controls(memory: Memory) -> None:
    """Control characters such as U+202E, U+200D and U+FEFF come back equal."""
    _come_back(memory, *BIDI)


def test_text_nul_in_content(memory: Memory) -> None:
    """A NUL in a text is kept, cleaned or refused as declared; never a raw database error."""
    for parts in (("a", "\0", "b"), ("", "\0", "ab"), ("ab", "\0", "")):
        _as_declared(memory, memory.policy.nul, parts, "a NUL in the text")


def test_text_nul_in_metadata_value(memory: Memory) -> None:
    """A NUL in a value of metadata is kept, cleaned or refused as declared."""
    what = "a NUL in a value of metadata"
    _as_declared(memory, _metadata_nul(memory), NUL, what, _as_value)
    _as_declared(memory, _metadata_nul(memory), NUL, what, _as_deep_value)


def test_text_nul_in_metadata_key(memory: Memory) -> None:
    """A NUL in a key of metadata is kept, cleaned or refused as declared."""
    what = "a NUL in a key of metadata"
    _as_declared(memory, _metadata_nul(memory), NUL, what, _as_key)
    _as_declared(memory, _metadata_nul(memory), NUL, what, _as_deep_key)


def test_text_nul_in_session_id(memory: Memory) -> None:
    """An id with a NUL is refused clearly, or kept apart from the id without it."""
    for without, name in (("ab", "a\0b"), ("c", "c\0d"), ("f", "e\0f")):
        names_stay_apart(memory, without, name, may_refuse=True)


def test_text_lone_surrogate_content(memory: Memory) -> None:
    """A lone surrogate in a text is kept, cleaned or refused as declared."""
    for what, text in LONE_SURROGATES.items():
        _as_declared(memory, memory.policy.surrogate, ("a", text, "b"), what)


def test_text_lone_surrogate_metadata(memory: Memory) -> None:
    """A lone surrogate in metadata is kept, cleaned or refused as declared."""
    for place in (_as_value, _as_key):
        for what, text in LONE_SURROGATES.items():
            _as_declared(memory, memory.policy.surrogate, ("a", text, "b"), what, place)


def test_text_backslash_u0000_literal(memory: Memory) -> None:
    """The six characters \\\\u0000 as text come back as six characters."""
    _come_back(memory, "\\u0000", "a\\u0000b", "\\\\u0000", "\\x00", "\\ud83d", "\\n\\t")
    if has_metadata(memory):
        come_back(memory, [Content(metadata={"\\u0000": "\\u0000"})], "metadata")


def test_text_crlf_tabs_trailing_space(memory: Memory) -> None:
    """Line ends, tabs and spaces at either end are not trimmed and not changed."""
    _come_back(memory, "a\r\nb\rc\nd", "\ta\t", "  a  ", "a\n", "\n\na", "a\u00a0", "a\x0b\x0c\x85")


def test_text_empty_string(memory: Memory) -> None:
    """An empty message is a message, not a missing one."""
    _come_back(memory, "", "between", "")


def test_text_only_whitespace(memory: Memory) -> None:
    """A text of nothing but white space is kept."""
    _come_back(memory, " ", "\n", "\t\r\n ", "\u3000")


def test_text_huge_summary_8MiB(memory: Memory) -> None:  # noqa: N802 - the name is a stable id
    """A text of 8 MiB comes back equal: nothing is cut at 64 KiB, 1 MiB or 4 MiB."""
    huge = "".join(f"{number:07x} " for number in range(MIB))
    cover(
        memory,
        {
            ("append", "read"): partial(_message_comes_back, text=huge),
            ("put", "get"): partial(_record_comes_back, text=huge),
        },
    )


def test_text_sql_and_json_looking(memory: Memory) -> None:
    """Quotes, comments and JSON come back equal, as text; nothing in them is executed."""
    _come_back(memory, *LOOKING_LIKE_CODE)
    _are_found_by_filter(memory, *LOOKING_LIKE_CODE)
    _come_back(memory, "still there")


def test_text_percent_s_and_braces(memory: Memory) -> None:
    """%s, %(a)s, :name, $1 and {0} come back equal, as text and as keys of metadata."""
    _come_back(memory, *LOOKING_LIKE_PARAMETERS)
    if has_metadata(memory):
        equal_or_refused(memory, [Content(metadata={key: key}) for key in LOOKING_LIKE_PARAMETERS])
    _are_found_by_filter(memory, *LOOKING_LIKE_PARAMETERS)


def test_name_and_id_unicode(memory: Memory) -> None:
    """Session, user and memory ids outside ASCII work in every call."""
    names_stay_apart(
        memory,
        "\u6f22\u5b57",
        "\u0416\u0435\u043d\u044f",
        "\U0001f9e0\u200d\U0001f525",
        "\u05e9\u202e",
    )


def _come_back(memory: Memory, *texts: str) -> None:
    """Fail unless the texts come back equal, as texts and as values of metadata."""
    come_back(memory, [Content(text) for text in texts])
    if has_metadata(memory):
        values = [Content(metadata={"value": text, "deep": [{"value": text}]}) for text in texts]
        come_back(memory, values, "metadata")


def _message_comes_back(memory: Memory, text: str) -> None:
    memory.say(SCOPE, text, "after it")
    expect.equal("the texts read back", memory.texts(SCOPE), [text, "after it"])


def _record_comes_back(memory: Memory, text: str) -> None:
    memory.put(SCOPE, Record("r", text, vector(memory)))
    got = memory.get(SCOPE, "r")
    expect.equal("the record's text", got and got.text, text)


def _are_found_by_filter(memory: Memory, *texts: str) -> None:
    """Fail unless a filter finds each of the texts among the others, where the store has filters."""
    if not memory.tested.part("records") or "eq" not in memory.policy.filters:
        return
    if not memory.offers("list_records", "filter"):
        return
    scope = Scope(namespace=("filtered",))
    for number, text in enumerate(texts):
        record = Record(f"r{number}", text, vector(memory, number), {"value": text})
        memory.put(scope, record)
    for number, text in enumerate(texts):
        found = memory.all_records(scope, filter=Compare("eq", "value", text))
        what = f"the records whose value is {text!r}"
        expect.equal(what, [each.id for each in found], [f"r{number}"])


def _as_text(text: str) -> Content:
    return Content(text)


def _as_value(text: str) -> Content:
    return Content(metadata={"value": text, "other": 1})


def _as_deep_value(text: str) -> Content:
    return Content(metadata={"deep": [{"value": [text]}]})


def _as_key(text: str) -> Content:
    return Content(metadata={text: 1, "other": 1})


def _as_deep_key(text: str) -> Content:
    return Content(metadata={"deep": [{text: 1}]})


def _metadata_nul(memory: Memory) -> Keeping:
    declared = memory.policy.metadata_nul
    return memory.policy.nul if declared == "as-text" else declared


def _as_declared(
    memory: Memory,
    answer: Keeping,
    parts: tuple[str, str, str],
    what: str,
    content: Callable[[str], Content] = _as_text,
) -> None:
    """Fail unless a text, of which the middle part is odd, is kept, cleaned or refused by every way."""
    before, odd, after = parts
    carried: Carried = "text" if content is _as_text else "metadata"
    for way in ways(memory, carried):
        if answer == "refuse":
            is_refused(way, content(before + odd + after), what)
        elif answer == "keep":
            way.write([content(before + odd + after)])
            comes_back(way, [content(before + odd + after)], carried)
        else:
            way.write([content(before + odd + after)])
            _is_cleaned(way, [content(before + mark + after) for mark in MARKS], carried)


def _is_cleaned(way: Way, allowed: list[Content], carried: Carried) -> None:
    """Fail unless all came back but what is odd, in the place of which there may be a mark."""
    wanted = [getattr(each, carried) for each in allowed]
    for reader, got in way.read().items():
        kept = [getattr(each, carried) for each in got]
        expect.true(
            len(kept) == 1 and any(expect.same(kept[0], each) for each in wanted),
            f"the {carried} written by {way.name}, read by {reader}: expected "
            f"{expect.shown(wanted[0])}, perhaps with a mark, got {expect.shown(kept)}",
        )
