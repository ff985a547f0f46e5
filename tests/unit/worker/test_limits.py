"""Comparing deep, large, shared and endless values, and showing what differs in them."""

from __future__ import annotations

import copy
import json
import types
from contextlib import suppress
from typing import Any

import pytest

from memory_matrix.payloads.lacking import Lacking
from memory_matrix.worker import compare as comparing
from memory_matrix.worker import describe as describing
from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import (
    TooManyPartsError,
    describe,
    digest,
    encode,
    is_plain,
    plain_digest,
)
from support.corpus import LARGE, PAYLOADS, SMALL
from support.tables import table


def differences(expected: object, got: object) -> list[dict[str, str]]:
    return compare(describe(expected), describe(got))


def nested(kind: Any, levels: int, core: object) -> object:
    value = core
    for _ in range(levels):
        value = kind([value])
    return value


def doubled(kind: Any, levels: int, core: object) -> Any:
    value = core
    for _ in range(levels):
        value = kind([value, value])
    return value


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(LARGE, id="large", marks=pytest.mark.large),
    ],
)
def test_a_payload_of_the_corpus_equals_itself_in_every_way(names: list[str]) -> None:
    for name in names:
        with suppress(Lacking):  # of a library that is not here
            table = describe(PAYLOADS[name]())
            stored = json.loads(encode(table))
            for across in (False, True):
                assert compare(table, table, across=across) == [], name
                assert compare(stored, table, across=across) == [], name
                assert compare(table, stored, across=across) == [], name


@pytest.mark.parametrize("kind", [list, tuple, lambda items: {"a": items[0]}])
@pytest.mark.large
def test_deep_values_are_compared_to_their_core(kind: Any) -> None:
    assert differences(nested(kind, 5000, 1), nested(kind, 5000, 1)) == []
    (only,) = differences(nested(kind, 5000, 1), nested(kind, 5000, 2))
    assert (only["expected"], only["got"]) == ("int 1", "int 2")


@pytest.mark.parametrize("kind", [tuple, frozenset])
def test_deep_members_and_keys_are_compared_to_their_core(kind: Any) -> None:
    expected, same, other = (nested(kind, 300, core) for core in (1, 1, 2))
    assert differences({expected}, {same}) == []
    assert differences({expected}, {other})
    assert differences({expected: 0}, {same: 0}) == []
    assert differences({expected: 0}, {other: 0})


@pytest.mark.large
def test_deep_objects_are_compared_to_their_core() -> None:
    def chain(core: object) -> object:
        value = core
        for _ in range(5000):
            value = types.SimpleNamespace(inner=value)
        return value

    assert differences(chain(1), chain(1)) == []
    assert len(differences(chain(1), chain(2))) == 1


@pytest.mark.parametrize("kind", [list, tuple])
def test_what_is_shared_over_and_over_takes_no_time(kind: Any) -> None:
    expected, same, other = (doubled(kind, 60, core) for core in (1, 1, 2))
    assert differences(expected, same) == []
    assert differences(expected, other)
    assert not is_plain(describe(expected))


def test_shared_members_take_no_time() -> None:
    def members(core: object) -> Any:
        value = frozenset([core])
        for _ in range(30):
            value = frozenset([value, frozenset([value])])
        return {value}

    assert differences(members(1), members(1)) == []
    assert differences(members(1), members(2))


def test_a_reference_equals_a_copy_of_what_it_refers_to() -> None:
    part = [1, {"a": 2}]
    assert differences([part, part], [[1, {"a": 2}], [1, {"a": 2}]]) == []
    assert differences([part, part], [[1, {"a": 2}], [1, {"a": 3}]])[0]["path"] == "$[1][1].a"


def endless(kind: str, value: object) -> Any:
    whole: Any = {
        "list": [value],
        "dict": {"value": value},
        "object": types.SimpleNamespace(value=value),
    }[kind]
    if kind == "list":
        whole.append(whole)
    elif kind == "dict":
        whole["me"] = whole
    else:
        whole.me = whole
    return whole


@pytest.mark.parametrize("kind", ["list", "dict", "object"])
def test_what_contains_itself_is_compared(kind: str) -> None:
    assert differences(endless(kind, 1), endless(kind, 1)) == []
    assert len(differences(endless(kind, 1), endless(kind, 2))) == 1
    assert differences(endless(kind, 1), 1)


def test_a_cycle_equals_its_unrolling_and_not_its_end() -> None:
    rolled = endless("list", 1)
    unrolled: list[Any] = [1, [1]]
    unrolled[1].append(unrolled)
    assert differences(rolled, unrolled) == []
    assert differences(rolled, [1, [1, [1, None]]])


def test_a_megabyte_of_text_is_compared_to_its_last_character() -> None:
    text = "a" * 1_000_000
    assert differences(text, text[:]) == []
    (only,) = differences(text + "b", text + "c")
    assert only["expected"] != only["got"]
    assert max(map(len, only.values())) < 1000


@table(
    ("expected", "got"),
    [
        ("a" * 5000 + "x", "a" * 5000 + "y"),
        ("a" * 5000 + "x", "a" * 5000),
        (b"a" * 5000 + b"x", b"a" * 5000 + b"y"),
        (b"a" * 1_000_000 + b"x", b"a" * 1_000_000 + b"y"),
        ({"a" * 5000 + "x"}, {"a" * 5000 + "y"}),
        (10**4000, 10**4000 + 1),
    ],
)
def test_what_is_shown_of_long_values_is_where_they_differ(expected: Any, got: Any) -> None:
    found = differences(expected, got)
    shown = [each["expected"] for each in found] + [each["got"] for each in found]
    assert len(set(shown)) > 1
    assert max(map(len, shown)) <= comparing.MOST_TEXT + 60
    kind = next(iter(expected)) if isinstance(expected, set) else expected
    assert isinstance(expected, set) or shown[0].startswith(type(kind).__name__)


def test_texts_that_look_alike_are_shown_so_that_they_can_be_told_apart() -> None:
    (only,) = differences("caf\u00e9", "cafe\u0301")
    assert only["expected"] != only["got"].replace("e\u0301", "\u00e9")


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (dict.fromkeys(range(20_000), 0), {str(number): 0 for number in range(20_000)}),
        (dict.fromkeys(range(20_000), 0), dict.fromkeys(range(20_000, 40_000), 0)),
        (set(range(20_000)), set(range(20_000, 40_000))),
        (list(range(20_000)), list(range(1, 20_001))),
    ],
)
@pytest.mark.large
def test_a_value_that_differs_everywhere_is_not_listed_to_its_end(expected: Any, got: Any) -> None:
    assert len(differences(expected, got)) == comparing.MOST_DIFFERENCES


def test_a_value_with_more_parts_than_are_compared_is_refused_rather_than_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(describing, "MOST_OBJECTS", 100)
    assert describe([[number] for number in range(99)])
    with pytest.raises(TooManyPartsError, match="more than 100 parts"):
        describe([[number] for number in range(100)])


PLAIN = [
    None,
    [],
    {"a": [1, 2.5, None, True, "text", (1,)]},
    {1: {"b": -0.0}, None: [], (1, "a"): 2},
    "a" * 100_000,
    2**200,
]
ALIKE = [
    1,
    True,
    1.0,
    "1",
    [1],
    (1,),
    {1: 1},
    {1: True},
    {True: 1},
    0.0,
    -0.0,
    0,
    False,
    "",
    (),
    [],
]


@table("value", PLAIN)
def test_plain_values_are_known_by_a_digest(value: object) -> None:
    assert is_plain(describe(value))
    assert plain_digest(value) is not None
    assert plain_digest(value) == plain_digest(copy.deepcopy(value))


def test_values_of_other_types_never_share_a_digest() -> None:
    assert len({plain_digest(value) for value in ALIKE}) == len(ALIKE)


@table(
    "value",
    [{1}, frozenset(), b"a", [bytearray(b"a")], memoryview(b"a"), types.SimpleNamespace()],
)
def test_what_a_digest_would_not_tell_apart_is_not_plain(value: object) -> None:
    assert not is_plain(describe(value))


def test_what_has_no_digest_has_none() -> None:
    assert plain_digest(endless("list", 1)) is None
    assert plain_digest(types.SimpleNamespace()) is None


def test_a_digest_is_that_of_the_stored_form() -> None:
    assert digest(encode(describe({"b": 1}))) == digest(encode(describe({"b": 1})))
    assert digest(encode(describe({"b": 1}))) != digest(encode(describe({"b": True})))
