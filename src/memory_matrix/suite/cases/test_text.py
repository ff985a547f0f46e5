"""Group A: what is appended is read back equal, whatever text it is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import shake_256

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
    are_refused,
    come_back,
    comes_back,
    entries_equal_or_refused,
    has_metadata,
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
LONE_SURROGATES = [("a", odd, "b") for odd in ("\ud83d", "\ude00", "\ude00\ud83d")]
"""A high one, a low one, and two the wrong way round, within a text."""

Parts = tuple[str, str, str]
"""What stands before something odd, this, and what stands after it."""
NUL: Parts = ("a", "\0", "b")
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
    odd = (("a", "\0", "b"), ("", "\0", "ab"), ("ab", "\0", ""))
    _texts_as_declared(memory, memory.policy.nul, "a NUL in the text", odd)


def test_text_nul_in_metadata_value(memory: Memory) -> None:
    """A NUL in a value of metadata is kept, cleaned or refused as declared."""
    what = "a NUL in a value of metadata"
    _metadata_as_declared(memory, _metadata_nul(memory), what, [NUL], _as_value, _as_deep_value)


def test_text_nul_in_metadata_key(memory: Memory) -> None:
    """A NUL in a key of metadata is kept, cleaned or refused as declared."""
    what = "a NUL in a key of metadata"
    _metadata_as_declared(memory, _metadata_nul(memory), what, [NUL], _as_key, _as_deep_key)


def test_text_nul_in_session_id(memory: Memory) -> None:
    """An id with a NUL is refused clearly, or kept apart from the id without it."""
    for without, name in (("ab", "a\0b"), ("c", "c\0d"), ("f", "e\0f")):
        names_stay_apart(memory, without, name, may_refuse=True)


def test_text_lone_surrogate_content(memory: Memory) -> None:
    """A lone surrogate in a text is kept, cleaned or refused as declared."""
    _texts_as_declared(memory, memory.policy.surrogate, "a lone surrogate", LONE_SURROGATES)


def test_text_lone_surrogate_metadata(memory: Memory) -> None:
    """A lone surrogate in metadata is kept, cleaned or refused as declared."""
    declared, what = memory.policy.surrogate, "a lone surrogate in metadata"
    _metadata_as_declared(memory, declared, what, LONE_SURROGATES, _as_value, _as_key)


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
    huge = f"All of it: {b64encode(shake_256().digest(6 * MIB)).decode()}"
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
        entries_equal_or_refused(memory, {key: key for key in LOOKING_LIKE_PARAMETERS})
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
    come_back(memory, [Content(text, {"value": text, "deep": [{"value": text}]}) for text in texts])


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
    records = [
        Record(f"r{number}", text, vector(memory, number), {"value": text})
        for number, text in enumerate(texts)
    ]
    memory.put_all(scope, records)
    for number, text in enumerate(texts):
        found = memory.all_records(scope, filter=Compare("eq", "value", text))
        what = f"the records whose value is {text!r}"
        expect.equal(what, [each.id for each in found], [f"r{number}"])


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


def _texts_as_declared(memory: Memory, answer: Keeping, what: str, odd: Sequence[Parts]) -> None:
    """Fail unless texts, of which the middle part is odd, are kept, cleaned or refused by every way."""
    allowed = [[Content(text) for text in _cleaned(parts)] for parts in odd]
    _as_declared(memory, answer, what, [Content("".join(parts)) for parts in odd], allowed, "text")


def _metadata_as_declared(
    memory: Memory,
    answer: Keeping,
    what: str,
    odd: Sequence[Parts],
    *places: Callable[[str], Content],
) -> None:
    """Fail unless such texts in these places of metadata are kept, cleaned or refused by every way."""
    contents = [place("".join(parts)) for place in places for parts in odd]
    allowed = [[place(text) for text in _cleaned(parts)] for place in places for parts in odd]
    _as_declared(memory, answer, what, contents, allowed, "metadata")


def _cleaned(parts: Parts) -> list[str]:
    """Return what a text may be after cleaning."""
    before, _, after = parts
    return [before + mark + after for mark in MARKS]


def _as_declared(
    memory: Memory,
    answer: Keeping,
    what: str,
    contents: Sequence[Content],
    cleaned: Sequence[Sequence[Content]],
    carried: Carried,
) -> None:
    """Fail unless odd `contents` are kept, refused, or made one of what is allowed for each."""
    for way in ways(memory, carried):
        if answer == "refuse":
            are_refused(way, contents, what, raw=False)
            continue
        way.write(contents)
        if answer == "keep":
            comes_back(way, contents, carried)
        else:
            _are_cleaned(way, cleaned, carried)


def _are_cleaned(way: Way, cleaned: Sequence[Sequence[Content]], carried: Carried) -> None:
    """Fail unless all came back but what is odd, in the place of which there may be a mark."""
    for reader, got in way.read().items():
        by = f"the {carried} written by {way.name}, read by {reader}"
        expect.equal(f"how many of {by}", len(got), len(cleaned))
        for each, allowed in zip(got, cleaned, strict=True):
            kept, wanted = getattr(each, carried), [getattr(one, carried) for one in allowed]
            expect.true(
                any(expect.same(kept, one) for one in wanted),
                f"{by}: expected {expect.shown(wanted[0])}, perhaps with a mark, "
                f"got {expect.shown(kept)}",
            )
