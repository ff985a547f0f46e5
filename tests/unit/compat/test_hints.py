"""Every hint is found by what real libraries say, and by nothing that means something else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.compat.hints import load_hints
from memory_matrix.compat.hints_page import FAMILIES, markdown
from memory_matrix.report.model import Difference, Error
from support.tables import table

PAGE = Path(__file__).parents[3] / "docs" / "hints.md"
HINTS = load_hints()
OUTCOMES_OF_FAMILY = {
    "1": {"unreadable", "changed"},
    "2": {"changed"},
    "3": {"drifted"},
    "4": {"unwritable"},
    "5": {"unstorable"},
    "6": {"crashed"},
}
GENERIC = ("MM100", "MM200", "MM301", "MM406", "MM504", "MM604")
"""The hints that explain whatever no other does, one for each family."""


def code(outcome: Any, error: Error | None = None, *diff: Difference) -> str | None:
    hint = HINTS.explain(outcome, error, diff)
    return None if hint is None else hint.code


def test_codes_are_unique_and_belong_to_families() -> None:
    codes = [hint.code for hint in HINTS.all]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"MM[1-6]\d\d", each) for each in codes)
    assert {each[2] for each in codes} == set(FAMILIES)


def test_the_hints_of_a_family_are_about_its_outcomes() -> None:
    for hint in HINTS.all:
        allowed = OUTCOMES_OF_FAMILY[hint.code[2]]
        assert hint.example.outcome in allowed, hint.code
        assert {each for rule in hint.when for each in rule.outcome} <= allowed, hint.code


def test_a_hint_is_whole_sentences_and_its_patterns_compile() -> None:
    for hint in HINTS.all:
        assert re.fullmatch(r".*[^.]", hint.title), hint.code
        assert hint.cause.endswith("."), hint.code
        assert hint.advice.endswith("."), hint.code
        assert hint.text == f"{hint.cause} {hint.advice}", hint.code
        assert hint.when, hint.code
        for rule in hint.when:
            for pattern in (rule.type, rule.message, rule.path, rule.expected, rule.got):
                re.compile(pattern)


def test_the_example_of_a_hint_leads_to_it() -> None:
    led = {
        hint.code: code(hint.example.outcome, hint.example.error, *hint.example.diff)
        for hint in HINTS.all
    }
    assert led == {hint.code: hint.code for hint in HINTS.all}


def test_generic_hints_come_after_all_others_of_their_outcome() -> None:
    order = [hint.code for hint in HINTS.all]
    for generic in GENERIC:
        outcome = next(hint for hint in HINTS.all if hint.code == generic).example.outcome
        special = [
            hint.code
            for hint in HINTS.all
            if any(outcome in rule.outcome for rule in hint.when) and hint.code != generic
        ]
        assert all(order.index(each) < order.index(generic) for each in special), generic


@table(
    ("outcome", "expected"),
    [
        ("unreadable", "MM100"),
        ("changed", "MM200"),
        ("drifted", "MM301"),
        ("unwritable", "MM406"),
        ("unstorable", "MM504"),
        ("crashed", "MM604"),
    ],
)
def test_every_outcome_that_is_not_fine_is_explained_somehow(outcome: Any, expected: str) -> None:
    assert code(outcome, Error("load", "app.Odd", "words that say nothing")) == expected
    assert code(outcome, None, Difference("$[0]", "int 1", "int 2")) == expected


@pytest.mark.parametrize("outcome", ["ok", "skipped"])
def test_what_is_fine_or_was_not_run_needs_no_hint(outcome: Any) -> None:
    assert code(outcome) is None
    assert code(outcome, Error("load", "ModuleNotFoundError", "No module named 'a'")) is None


ERRORS: list[Any] = [
    # pickle, in the words of several interpreters
    ("MM101", "unreadable", "load", "ValueError", "unsupported pickle protocol: 5"),
    ("MM102", "unreadable", "load", "ModuleNotFoundError", "No module named 'app.old'"),
    ("MM102", "unreadable", "load", "ModuleNotFoundError", "No module named 'numpy._core'"),
    ("MM102", "unreadable", "load", "ImportError", "No module named app.old"),
    (
        "MM103",
        "unreadable",
        "load",
        "AttributeError",
        "Can't get attribute 'Thing' on <module 'app' from 'app.py'>",
    ),
    ("MM103", "unreadable", "load", "AttributeError", "module 'app' has no attribute 'Thing'"),
    ("MM103", "unreadable", "load", "ImportError", "cannot import name 'Thing' from 'app'"),
    ("MM104", "unreadable", "load", "AttributeError", "'Thing' object has no attribute 'x'"),
    ("MM105", "unreadable", "load", "AttributeError", "property 'x' of 'Url' object has no setter"),
    ("MM105", "unreadable", "load", "AttributeError", "can't set attribute 'x'"),
    ("MM104", "unreadable", "use", "AttributeError", "'Thing' object has no attribute 'x'"),
    ("MM105", "unreadable", "load", "TypeError", "__init__() missing 1 required argument: 'x'"),
    ("MM105", "unreadable", "load", "KeyError", "'state'"),
    ("MM105", "unreadable", "load", "_pickle.UnpicklingError", "pickle data was truncated"),
    ("MM106", "unreadable", "load", "TypeError", "code() takes at most 15 arguments (16 given)"),
    ("MM106", "unreadable", "load", "TypeError", "code expected at least 16 arguments, got 15"),
    ("MM106", "unreadable", "load", "SystemError", "unknown opcode"),
    (
        "MM106",
        "unreadable",
        "load",
        "AttributeError",
        "Can't get attribute '_make_skeleton_func' on <module 'cloudpickle.cloudpickle'>",
    ),
    (
        "MM405",
        "unwritable",
        "dump",
        "AttributeError",
        "Can't pickle local object 'f.<locals>.key'",
    ),
    (
        "MM405",
        "unwritable",
        "dump",
        "_pickle.PicklingError",
        "Can't pickle <class 'app.finance.Order'>: it's not the same object as app.finance.Order",
    ),
    ("MM405", "unwritable", "dump", "TypeError", "cannot pickle '_thread.lock' object"),
    ("MM405", "unwritable", "dump", "TypeError", "can't pickle _thread.lock objects"),
    ("MM404", "unwritable", "dump", "RecursionError", "maximum recursion depth exceeded"),
    # json and its relatives
    ("MM402", "unwritable", "dump", "TypeError", "keys must be str, int, float, bool or None"),
    ("MM402", "unwritable", "dump", "TypeError", "Dict key must be str"),
    ("MM402", "unwritable", "dump", "TypeError", "Dict key must a type serializable with OPT"),
    (
        "MM402",
        "unwritable",
        "dump",
        "TypeError",
        "Only dicts with str-like or number-like keys are supported",
    ),
    ("MM403", "unwritable", "dump", "TypeError", "Integer exceeds 64-bit range"),
    ("MM403", "unwritable", "dump", "ValueError", "Out of range float values are not JSON c"),
    (
        "MM403",
        "unwritable",
        "dump",
        "ValueError",
        "Exceeds the limit (4300 digits) for integer string conversion",
    ),
    ("MM404", "unwritable", "dump", "ValueError", "Circular reference detected"),
    ("MM404", "unwritable", "dump", "TypeError", "Recursion limit reached"),
    ("MM401", "unwritable", "dump", "TypeError", "str is not valid UTF-8: surrogates not allowed"),
    ("MM406", "unwritable", "dump", "TypeError", "Object of type set is not JSON serializable"),
    ("MM406", "unwritable", "dump", "TypeError", "Type is not JSON serializable: decimal.Decimal"),
    ("MM406", "unwritable", "dump", "TypeError", "Encoding objects of type Finance is unsupported"),
    ("MM112", "unreadable", "load", "orjson.JSONDecodeError", "str is not valid UTF-8: surrogates"),
    ("MM108", "unreadable", "load", "json.decoder.JSONDecodeError", "Expecting value: line 1"),
    ("MM114", "unreadable", "load", "ValueError", "Exceeds the limit (4300 digits) for integer"),
    # msgpack and cbor2
    ("MM403", "unwritable", "dump", "OverflowError", "Integer value out of range"),
    ("MM404", "unwritable", "dump", "ValueError", "recursion limit exceeded."),
    ("MM404", "unwritable", "dump", "cbor2.CBOREncodeValueError", "cyclic data structure detected"),
    ("MM406", "unwritable", "dump", "TypeError", "can not serialize 'set' object"),
    ("MM110", "unreadable", "load", "ValueError", "int is not allowed for map key when strict_m"),
    ("MM112", "unreadable", "load", "UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff"),
    # pydantic and langgraph
    (
        "MM109",
        "unreadable",
        "load",
        "pydantic_core._pydantic_core.ValidationError",
        "1 validation error for Note\nsource\n  Field required [type=missing]",
    ),
    (
        "MM109",
        "unreadable",
        "load",
        "pydantic_core._pydantic_core.ValidationError",
        "1 validation error for Note\nold\n  Extra inputs are not permitted [type=extra_forbidden]",
    ),
    ("MM109", "unreadable", "load", "pydantic.v1.error_wrappers.ValidationError", "1 validation"),
    (
        "MM107",
        "unreadable",
        "load",
        "ValueError",
        "Deserialization of ('app', 'x', 'Y') is not allowed. The default (allowed_objects=...)",
    ),
    ("MM108", "unreadable", "load", "NotImplementedError", "Unknown serialization type: msgpack2"),
    ("MM108", "unreadable", "load", "ValueError", "Trying to load schema version 5"),
    # servers
    ("MM501", "unstorable", "store", "UntranslatableCharacter", r"\u0000 cannot be converted"),
    ("MM502", "unstorable", "store", "DataError", "Unicode low surrogate must follow a high"),
    ("MM503", "unstorable", "store", "DataError", 'Token "NaN" is invalid.'),
    ("MM504", "unstorable", "store", "DataError", "value overflows numeric format"),
    # the worker
    ("MM601", "crashed", "load", "SIGSEGV", "the process was killed by signal 11"),
    ("MM602", "crashed", "load", "Timeout", "no answer within 10 s"),
    ("MM603", "crashed", "load", "MemoryError", "more than 2048 MiB"),
    ("MM604", "crashed", "load", "Exit", "the process ended with status 1 and no result"),
]


def test_what_libraries_raise_is_explained() -> None:
    found: list[Any] = [(code(row[1], Error(*row[2:])), *row[1:]) for row in ERRORS]
    assert found == ERRORS


DIFFERENCES = [
    ("MM104", "$.pinned", "bool False", "missing"),
    ("MM106", "$.code", f"str '{'0' * 64}'", f"str '{'1' * 64}'"),
    ("MM212", "$.code", "str 'a'", "str 'b'"),
    ("MM111", "$.at", "datetime.datetime 2026-01-01T00:00:00 UTC", "msgpack.ext.ExtType of 2"),
    ("MM115", "$.__pydantic_extra__", "type dict", "missing"),
    ("MM115", "$.__fields_set__", "type set", "missing"),
    ("MM200", "$", "int 1", "int 2"),
    ("MM201", "$.ids", "tuple of 2", "list of 2"),
    ("MM202", "$[1]", "key int 1", "key str '1'"),
    ("MM203", "$", "datetime.datetime 2026-01-01T00:00:00 UTC", "datetime.datetime 2026-01-01T00"),
    ("MM203", "$", "datetime.time 00:00:00 UTC", "datetime.time 00:00:00"),
    ("MM203", "$", "pandas.Timestamp 2026-01-01T00:00:00 UTC", "pandas.Timestamp 2026-01-01T00"),
    ("MM204", "$", "datetime.datetime 2026-01-01T00:00:00", "str '2026-01-01T00:00:00'"),
    ("MM204", "$", "datetime.timedelta 1d 0s 0us", "float 86400.0"),
    ("MM204", "$", "datetime.timedelta 1d 0s 0us", "datetime.timedelta 1d 0s 1us"),
    ("MM205", "$", "decimal.Decimal 1.10", "str '1.10'"),
    ("MM205", "$", "int 9007199254740993", "float 9007199254740992.0"),
    ("MM205", "$", "float 1.0", "int 1"),
    ("MM205", "$", "numpy.float32", "float 1.5"),
    ("MM206", "$", "frozenset of 1", "list of 1"),
    ("MM207", "$", "app.models.Note", "dict of 1"),
    ("MM207", "$.note", "app.models.Note", "str 'Note()'"),
    ("MM208", "$", "uuid.UUID 0", "str '0'"),
    ("MM209", "$", "bytes 'a'", "str 'a'"),
    ("MM209", "$", "str 'a'", "bytes 'a'"),
    ("MM210", "$", "collections.OrderedDict of 1", "dict of 1"),
    ("MM210", "$.maxlen", "int 3", "None"),
    ("MM212", "$.left", "int 1", "int 2"),
    ("MM213", "$.score", "float nan", "None"),
    ("MM214", "$.id", "str 'a'", "str 'b' on a second load"),
    ("MM215", "$.source", "missing", "str 'mail'"),
]


def test_what_came_back_otherwise_is_explained() -> None:
    found = [(code("changed", None, Difference(*row[1:])), *row[1:]) for row in DIFFERENCES]
    assert found == DIFFERENCES


def test_any_of_several_differences_may_explain_a_cell() -> None:
    nothing = Difference("$[0]", "int 1", "int 2")
    telling = Difference("$[1]", "tuple of 1", "list of 1")
    assert code("changed", None, nothing, telling) == "MM201"


def test_the_page_is_fresh_and_has_every_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == markdown(), "run: python -m memory_matrix.compat.hints_page docs/hints.md"
    headings = re.findall(r"^### (MM\d+): (.+)$", text, re.MULTILINE)
    assert headings == sorted((hint.code, hint.title) for hint in HINTS.all)
