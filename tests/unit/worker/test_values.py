"""Comparing values without attributes: types and values count at every path, reprs do not."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import itertools
import json
import math
import operator
import pathlib
import re
import types
import typing
import uuid
import zoneinfo
from typing import Any, NamedTuple

import pytest

from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe, encode
from support.tables import table

UTC = dt.timezone.utc
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
NOON = dt.datetime.fromisoformat("2026-01-01T12:00:00")
REPEATED_HOUR = dt.datetime.fromisoformat("2026-10-25T02:30:00")
HUGE = 10**5000


class Colour(enum.Enum):
    RED = "red"
    CRIMSON = "red"  # noqa: PIE796 - an alias
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: int


class Words(list[str]):
    """A list of the app's own class."""


class Record(dict[str, Any]):
    """A dict of the app's own class."""


class Name(str):
    """Text of the app's own class."""

    __slots__ = ()


class LibraryUtc(dt.tzinfo):
    """UTC as libraries have long made it for themselves."""

    def utcoffset(self, when: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(0)

    def tzname(self, when: dt.datetime | None) -> str:
        return "UTC"

    def dst(self, when: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(0)


class FixedOffset(LibraryUtc):
    """An offset as libraries have made it, without a name of its own."""

    def __init__(self, minutes: int, name: str | None) -> None:
        self._offset = dt.timedelta(minutes=minutes)
        self._tzname = name

    def utcoffset(self, when: dt.datetime | None) -> dt.timedelta:
        return self._offset

    def tzname(self, when: dt.datetime | None) -> str:
        return self._tzname  # type: ignore[return-value] - as some libraries do


def differences(expected: object, got: object) -> list[dict[str, str]]:
    """Compare as a reader does: with a description that was stored in between."""
    return compare(json.loads(encode(describe(expected))), describe(got))


def deque(*items: object, maxlen: int | None = None) -> collections.deque[object]:
    return collections.deque(items, maxlen)


DIFFERENT = [
    # containers
    ((1, 2), [1, 2], "$", "tuple of 2", "list of 2"),
    ({"a": [(1,)]}, {"a": [[1]]}, "$.a[0]", "tuple of 1", "list of 1"),
    ([1, 2], [1, 2, 3], "$[2]", "missing", "int 3"),
    ([1, 2], [1], "$[1]", "int 2", "missing"),
    ([None], [], "$[0]", "None", "missing"),
    ([1, 2], [2, 1], "$[0]", "int 1", "int 2"),
    ([], (), "$", "list of 0", "tuple of 0"),
    ([], {}, "$", "list of 0", "dict of 0"),
    ({}, None, "$", "dict of 0", "None"),
    ({"a": None}, {}, "$.a", "None", "missing"),
    ({}, {"a": 1}, "$.a", "missing", "int 1"),
    ({"a b": 1}, {"a b": 2}, '$["a b"]', "int 1", "int 2"),
    ({1, 2}, [1, 2], "$", "set of 2", "list of 2"),
    ({1, 2}, frozenset({1, 2}), "$", "set of 2", "frozenset of 2"),
    ({1, 2}, {1, 3}, "$", "member 2", "no such member"),
    ({1}, {True}, "$", "member 1", "no such member"),
    ({(1, 2)}, {(1, 2.0)}, "$", "member (tuple, 1, 2)", "no such member"),
    (deque(1, maxlen=3), deque(1), "$.maxlen", "int 3", "None"),
    (deque(1, maxlen=3), deque(1, maxlen=4), "$.maxlen", "int 3", "int 4"),
    (deque(1), [1], "$", "collections.deque of 1", "list of 1"),
    (collections.Counter(a=1), {"a": 1}, "$", "collections.Counter of 1", "dict of 1"),
    (
        collections.OrderedDict(a=1),
        {"a": 1},
        "$",
        "collections.OrderedDict of 1",
        "dict of 1",
    ),
    (
        collections.OrderedDict(a=1, b=2),
        collections.OrderedDict(b=2, a=1),
        "$",
        'keys in the order "a", "b"',
        '"b", "a"',
    ),
    (
        collections.defaultdict(list, a=[1]),
        collections.defaultdict(int, a=[1]),
        "$.default_factory",
        "class list",
        "class int",
    ),
    (
        collections.defaultdict(list),
        collections.defaultdict(None),
        "$.default_factory",
        "class list",
        "None",
    ),
    (
        collections.ChainMap({"a": 1}, {}),
        collections.ChainMap({"a": 2}, {}),
        "$[0].a",
        "int 1",
        "int 2",
    ),
    (Record(a=1), {"a": 1}, "$", f"{__name__}.Record of 1", "dict of 1"),
    (Words(["a"]), ["a"], "$", f"{__name__}.Words of 1", "list of 1"),
    (Point(1, 2), (1, 2), "$", f"{__name__}.Point of 2", "tuple of 2"),
    (Point(1, 2), [1, 2], "$", f"{__name__}.Point of 2", "list of 2"),
    (Point(1, 2), Point(2, 1), "$[0]", "int 1", "int 2"),
    (types.MappingProxyType({"a": 1}), {"a": 1}, "$", "mappingproxy of 1", "dict of 1"),
    # keys
    ({1: "a"}, {"1": "a"}, "$[1]", "key int 1", "key str '1'"),
    ({True: "a"}, {"true": "a"}, "$[true]", "key bool True", "key str 'true'"),
    ({True: "a"}, {"True": "a"}, "$[true]", "key bool True", "key str 'True'"),
    ({True: "a"}, {1: "a"}, "$[true]", "str 'a'", "missing"),
    ({None: "a"}, {"null": "a"}, "$[None]", "key None", "key str 'null'"),
    ({None: "a"}, {"None": "a"}, "$[None]", "key None", "key str 'None'"),
    ({1.0: "a"}, {"1.0": "a"}, "$[1.0]", "key float 1.0", "key str '1.0'"),
    ({1.0: "a"}, {1: "a"}, "$[1.0]", "str 'a'", "missing"),
    ({b"1": "a"}, {"1": "a"}, "$['1']", "str 'a'", "missing"),
    ({(1, 2): "a"}, {"(1, 2)": "a"}, "$[(tuple, 1, 2)]", "str 'a'", "missing"),
    ({(1, 2): "a"}, {(1, 2.0): "a"}, "$[(tuple, 1, 2)]", "str 'a'", "missing"),
    ({(1, 2): "a"}, {(1, 2): "b"}, "$[(tuple, 1, 2)]", "str 'a'", "str 'b'"),
    ({Level.LOW: "a"}, {1: "a"}, "$[(", "str 'a'", "missing"),
    ({Level.LOW: "a"}, {"1": "a"}, "$[(", "str 'a'", "missing"),
    (
        {uuid.UUID(int=1): "a"},
        {str(uuid.UUID(int=1)): "a"},
        f"$[{uuid.UUID(int=1)}]",
        f"key uuid.UUID {uuid.UUID(int=1)}",
        f"key str '{uuid.UUID(int=1)}'",
    ),
    # numbers
    (1, True, "$", "int 1", "bool True"),
    (0, False, "$", "int 0", "bool False"),
    (1, 1.0, "$", "int 1", "float 1.0"),
    (True, "true", "$", "bool True", "str 'true'"),
    (0.0, -0.0, "$", "float 0.0", "float -0.0"),
    (0.1, 0.1 + 1e-17 + 2e-17, "$", "float 0.1", "float 0.10000000000000003"),
    (math.nan, None, "$", "float nan", "None"),
    (math.inf, -math.inf, "$", "float inf", "float -inf"),
    (math.nan, math.inf, "$", "float nan", "float inf"),
    (2**53 + 1, float(2**53 + 1), "$", "int 9007199254740993", "float 9007199254740992.0"),
    (2**63, float(2**63), "$", "int 0x8000000000000000", "float 9.223372036854776e+18"),
    (2**64, 2**64 + 1, "$", "int 0x10000000000000000", "int 0x10000000000000001"),
    (HUGE, HUGE + 1, "$", "int ...0", "int ...0"),
    (-HUGE, HUGE, "$", "int -0x", "int 0x"),
    (1j, -1j, "$", "complex 0.0 1.0", "complex -0.0 -1.0"),
    (complex(0.0, -0.0), complex(0.0, 0.0), "$", "complex 0.0 -0.0", "complex 0.0 0.0"),
    (
        decimal.Decimal("1.0"),
        decimal.Decimal("1.00"),
        "$",
        "decimal.Decimal 1.0",
        "decimal.Decimal 1.00",
    ),
    (decimal.Decimal("0.1"), 0.1, "$", "decimal.Decimal 0.1", "float 0.1"),
    (decimal.Decimal(1), "1", "$", "decimal.Decimal 1", "str '1'"),
    (decimal.Decimal("NaN"), decimal.Decimal("sNaN"), "$", "decimal.Decimal NaN", "decimal."),
    (fractions.Fraction(1, 3), 1 / 3, "$", "fractions.Fraction 1/3", "float 0.3333333333333333"),
    (fractions.Fraction(HUGE, 3), fractions.Fraction(HUGE, 7), "$", "fractions.", "fractions."),
    (range(3), [0, 1, 2], "$", "range 0 3 1", "list of 3"),
    (range(HUGE), range(HUGE + 1), "$", "range ...0", "range ...0"),
    (Level.LOW, 1, "$", f"{__name__}.Level int 1", "int 1"),
    (array.array("i", [1]), array.array("q", [1]), "$.typecode", "str 'i'", "str 'q'"),
    (array.array("i", [1]), array.array("i", [2]), "$[0]", "int 1", "int 2"),
    (array.array("d", [1]), [1.0], "$", "array.array of 1", "list of 1"),
    # text and bytes
    (b"a", "a", "$", "bytes 'a'", "str 'a'"),
    (b"a", bytearray(b"a"), "$", "bytes 'a'", "bytearray 'a'"),
    (bytearray(b"a"), bytearray(b"b"), "$", "bytearray 'a'", "bytearray 'b'"),
    (b"\xff", b"\xfe", "$", "bytes '\\xff'", "bytes '\\xfe'"),
    (b"a", memoryview(b"a"), "$", "bytes 'a'", "memoryview 'a'"),
    ("é", "e\u0301", "$", "str 'é'", "str 'e\\u0301'"),
    ("\ud83d", "?", "$", r"str '\ud83d'", "str '?'"),
    ("a\x00b", "ab", "$", r"str 'a\x00b'", "str 'ab'"),
    ("", None, "$", "str ''", "None"),
    (Name("a"), "a", "$", f"{__name__}.Name str 'a'", "str 'a'"),
    (re.compile("a"), re.compile(b"a"), "$", "re.Pattern 'a' flags=32", "re.Pattern b'a' flags=0"),
    (re.compile("a"), re.compile("(?i)a"), "$", "re.Pattern 'a' flags=32", "re.Pattern '(?i)a'"),
    (re.compile("a"), re.compile("a", re.MULTILINE), "$", "re.Pattern 'a'", "re.Pattern 'a'"),
    (re.compile("a"), "a", "$", "re.Pattern 'a' flags=32", "str 'a'"),
    # enums and flags
    (Colour.RED, "red", "$", f"{__name__}.Colour str 'red'", "str 'red'"),
    (Colour.RED, Colour.BLUE, "$.name", "str 'RED'", "str 'BLUE'"),
    (Rights.READ | Rights.WRITE, Rights.READ, "$.value", "int 3", "int 1"),
    (Rights.READ, 1, "$", f"{__name__}.Rights int 1", "int 1"),
    # dates and times
    (NOON, NOON.isoformat(), "$", "datetime.datetime 2026-01-01T12:00:00", "str '2026-01-01T12"),
    (NOON, NOON.date(), "$", "datetime.datetime 2026-01-01T12:00:00", "datetime.date 2026-01-01"),
    (
        NOON.replace(tzinfo=UTC),
        NOON,
        "$",
        "datetime.datetime 2026-01-01T12:00:00 UTC",
        "datetime.datetime 2026-01-01T12:00:00",
    ),
    (
        NOON.replace(tzinfo=BERLIN),
        NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=1))),
        "$",
        "datetime.datetime 2026-01-01T12:00:00 ZoneInfo(Europe/Berlin)",
        "datetime.datetime 2026-01-01T12:00:00 1:00:00",
    ),
    (
        NOON.replace(tzinfo=zoneinfo.ZoneInfo("Europe/London")),
        NOON.replace(tzinfo=UTC),
        "$",
        "datetime.datetime 2026-01-01T12:00:00 ZoneInfo(Europe/London)",
        "datetime.datetime 2026-01-01T12:00:00 UTC",
    ),
    (
        NOON.replace(tzinfo=BERLIN),
        NOON.replace(tzinfo=zoneinfo.ZoneInfo("Europe/Paris")),
        "$",
        "datetime.datetime 2026-01-01T12:00:00 ZoneInfo(Europe/Berlin)",
        "datetime.datetime 2026-01-01T12:00:00 ZoneInfo(Europe/Paris)",
    ),
    (
        NOON.replace(tzinfo=UTC),
        NOON.replace(hour=13, tzinfo=dt.timezone(dt.timedelta(hours=1))),
        "$",
        "datetime.datetime 2026-01-01T12:00:00 UTC",
        "datetime.datetime 2026-01-01T13:00:00 1:00:00",
    ),
    (
        REPEATED_HOUR.replace(tzinfo=BERLIN, fold=1),
        REPEATED_HOUR.replace(tzinfo=BERLIN),
        "$",
        "datetime.datetime 2026-10-25T02:30:00 ZoneInfo(Europe/Berlin) fold=1",
        "datetime.datetime 2026-10-25T02:30:00 ZoneInfo(Europe/Berlin)",
    ),
    (
        REPEATED_HOUR.replace(fold=1),
        REPEATED_HOUR,
        "$",
        "datetime.datetime 2026-10-25T02:30:00 fold=1",
        "datetime.datetime 2026-10-25T02:30:00",
    ),
    (
        NOON.replace(microsecond=1),
        NOON,
        "$",
        "datetime.datetime 2026-01-01T12:00:00.000001",
        "datetime.datetime 2026-01-01T12:00:00",
    ),
    (dt.time(1), dt.time(1, tzinfo=UTC), "$", "datetime.time 01:00:00", "datetime.time 01:00:00 U"),
    (dt.time(1), "01:00:00", "$", "datetime.time 01:00:00", "str '01:00:00'"),
    (dt.timedelta(1), 86400.0, "$", "datetime.timedelta 1d 0s 0us", "float 86400.0"),
    (dt.timedelta(1), dt.timedelta(1, 0, 1), "$", "datetime.timedelta 1d 0s", "datetime.timedelta"),
    (UTC, BERLIN, "$", "datetime.timezone UTC", "zoneinfo.ZoneInfo Europe/Berlin"),
    # the rest of the standard library
    (uuid.UUID(int=1), str(uuid.UUID(int=1)), "$", "uuid.UUID 00000000-", "str '00000000-"),
    (pathlib.PurePosixPath("a"), "a", "$", "pathlib.PurePosixPath a", "str 'a'"),
    (
        pathlib.PurePosixPath("a"),
        pathlib.PureWindowsPath("a"),
        "$",
        "pathlib.PureP",
        "pathlib.PureW",
    ),
    (
        ipaddress.ip_interface("10.0.0.1/8"),
        ipaddress.ip_interface("10.0.0.1/9"),
        "$",
        "ipaddress.IPv4Interface 10.0.0.1/8",
        "ipaddress.IPv4Interface 10.0.0.1/9",
    ),
    (slice(1, 2), slice(1, 3), "$[1]", "int 2", "int 3"),
    (int, str, "$", "class int", "class str"),
    (list[int], list[str], "$", "class list[int]", "class list[str]"),
    (typing.Optional[int], int, "$", "class typing.Union[int, NoneType]", "class int"),  # noqa: UP045
    (typing.Any, None, "$", "class typing.Any", "None"),
    (json, re, "$", "module json", "module re"),
    (len, abs, "$", "function len", "function abs"),
    ("a".join, "b".join, "$[0][0]", "str 'a'", "str 'b'"),
    (operator.itemgetter(1), operator.itemgetter(2), "$[0][0]", "int 1", "int 2"),
    (itertools.count(1), itertools.count(2), "$[0][0]", "int 1", "int 2"),
    (..., None, "$", "ellipsis Ellipsis", "None"),
    (NotImplemented, None, "$", "NotImplementedType NotImplemented", "None"),
]


def test_another_value_or_type_is_found_where_it_is() -> None:
    for expected, got, path, said, seen in DIFFERENT:
        first = differences(expected, got)[0]
        assert first["path"].startswith(path), (expected, got)
        assert first["expected"].startswith(said), (expected, got)
        assert first["got"].startswith(seen), (expected, got)


def test_what_differs_one_way_differs_the_other_way_too() -> None:
    assert [row[:2] for row in DIFFERENT if not differences(row[1], row[0])] == []


def test_a_value_equals_itself() -> None:
    values = [each for row in DIFFERENT for each in row[:2]]
    assert [each for each in values if differences(each, each)] == []


@table(
    ("expected", "got"),
    [
        (math.nan, float("nan")),
        ([math.nan], [-float("nan")]),
        ({math.nan: 1}, {float("nan"): 1}),
        ({math.nan}, {float("nan")}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (collections.Counter(a=1, b=2), collections.Counter(b=2, a=1)),
        ({3, 1, 2}, {2, 3, 1}),
        (frozenset({"a", "b"}), frozenset({"b", "a"})),
        (types.MappingProxyType({"a": 1, "b": 2}), types.MappingProxyType({"b": 2, "a": 1})),
        (Colour.RED, Colour.CRIMSON),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=LibraryUtc())),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=zoneinfo.ZoneInfo("UTC"))),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=zoneinfo.ZoneInfo("Etc/UTC"))),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=dt.timezone(dt.timedelta(0), "UTC"))),
        (
            NOON.replace(tzinfo=dt.timezone(dt.timedelta(minutes=90))),
            NOON.replace(tzinfo=FixedOffset(90, None)),
        ),
        (
            NOON.replace(tzinfo=dt.timezone(dt.timedelta(minutes=90))),
            NOON.replace(tzinfo=FixedOffset(90, "+01:30")),
        ),
        (NOON.replace(tzinfo=BERLIN, fold=1), NOON.replace(tzinfo=BERLIN)),  # no repeated hour
        (NOON.replace(tzinfo=UTC, fold=1), NOON.replace(tzinfo=UTC)),
        (typing.Optional[int], typing.Union[int, None]),  # noqa: UP007, UP045
        (typing.Optional[int], int | None),  # noqa: UP045
        (iter([1, 2]), iter([1, 2])),
    ],
)
def test_equal_values_are_equal_however_they_are_made(expected: object, got: object) -> None:
    assert differences(expected, got) == []


@table(
    "zone", [FixedOffset(60, ""), FixedOffset(60, None), FixedOffset(60, "CET"), FixedOffset(0, "")]
)
def test_the_time_is_seen_whatever_its_zone_is_called(zone: dt.tzinfo) -> None:
    early, late = (dt.datetime(2026, 1, day, tzinfo=zone) for day in (1, 2))
    assert differences(early, late)
    assert differences(early, early) == []


def test_two_dicts_of_the_same_keys_are_compared_key_by_key() -> None:
    expected = {"id": 1, 2: {"x": [0, 1]}, (3,): "c"}
    got = {"id": 1, 2: {"x": [0, 9]}, (3,): "d"}
    assert [each["path"] for each in differences(expected, got)] == ["$[2].x[1]", "$[(tuple, 3)]"]


def test_a_renamed_key_does_not_hide_what_else_differs_below_it() -> None:
    assert [each["path"] for each in differences({1: {"a": (1,)}}, {"1": {"a": [1]}})] == [
        "$[1]",
        "$[1].a",
    ]


def test_every_text_for_a_key_finds_its_own_twin() -> None:
    expected: dict[Any, int] = {1: 1, 2: 2, True + 2: 3, None: 4}
    got = {"None": 4, "3": 3, "2": 2, "1": 1}
    found = differences(expected, got)
    assert {(each["expected"], each["got"]) for each in found} == {
        ("key int 1", "key str '1'"),
        ("key int 2", "key str '2'"),
        ("key int 3", "key str '3'"),
        ("key None", "key str 'None'"),
    }


@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_one_bad_item_deep_in_a_history_is_found(kind: Any) -> None:
    history = [{"role": "user", "parts": [number]} for number in range(300)]
    altered = [*history[:200], {"role": "user", "parts": None}, *history[201:]]
    expected, got = (kind(items) for items in (history, altered))
    if kind is deque:
        expected, got = collections.deque(history), collections.deque(altered)
    (only,) = differences(expected, got)
    assert only == {"path": "$[200].parts", "expected": "list of 1", "got": "None"}
