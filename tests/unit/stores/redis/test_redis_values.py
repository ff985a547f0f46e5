"""Values: what is kept, what is refused, with JSON and with serializers of every kind."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import pickle
import uuid
from collections import OrderedDict
from typing import Any

import pytest

from memory_matrix.stores import Message, Record, Scope
from memory_matrix.stores.errors import CorruptError, RefusedError
from memory_matrix.stores.redis import Settings
from memory_matrix.stores.redis.values import (
    Payloads,
    digits,
    from_digits,
    same,
    ttl_bytes,
    utc,
    vector_bytes,
    vector_floats,
    write_id_bytes,
)
from support.tables import table


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


class Lossy:
    """Gives back something else than it was given."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data, parse_float=str)


class Failing:
    def dumps(self, value: Any) -> bytes:
        if value:
            raise OverflowError("it is too much")
        return b""

    def loads(self, data: bytes) -> Any:
        raise OverflowError


class Bytes:
    """A serializer that writes bytes that are no text."""

    def dumps(self, value: Any) -> bytes:
        return b"\xff\n\0" + pickle.dumps(value)

    def loads(self, data: bytes) -> Any:
        return pickle.loads(data[3:])


GOOD: dict[str, Any] = {
    "none": None,
    "numbers": [
        0,
        -0.0,
        1,
        1.0,
        True,
        2**53 + 1,
        -(2**63) - 5,
        10**30,
        5e-324,
        1.7976931348623157e308,
    ],
    "texts": ["", "\0", "é", "\u2028", "\\u0000", "\n"],
    "empty": [[], {}, [[]], [{}]],
    "odd keys": {"": 1, "a.b": 2, '"': 3, "id": 4, "\0": 5},
}
BAD = [
    float("nan"),
    float("-inf"),
    (1,),
    {1},
    b"a",
    dt.datetime.now(dt.timezone.utc),
    uuid.uuid4(),
    decimal.Decimal(1),
    Colour.RED,
    Text("a"),
    OrderedDict(a=1),
    object(),
    {1: "a"},
    {None: "a"},
    {"\udc00": 1},
    ["\udc00"],
]


@table("codec", [None, json, pickle, Bytes()])
def test_plain_values_come_back_with_their_types(codec: Any) -> None:
    payloads = Payloads(codec)
    assert same(payloads.loads(payloads.dumps(GOOD, "it"), "it"), GOOD)


@pytest.mark.parametrize("codec", [None, pickle])
def test_what_json_has_not_is_refused_whatever_serializes(codec: Any) -> None:
    for value in BAD:
        with pytest.raises(RefusedError):
            pytest.fail(f"taken: {Payloads(codec).dumps({'deep': [{'value': value}]}, 'it')!r}")


@pytest.mark.parametrize("codec", [Lossy(), Failing()])
def test_what_a_serializer_would_not_give_back_is_refused(codec: Any) -> None:
    with pytest.raises(RefusedError):
        Payloads(codec).dumps({"a": 1.5}, "it")


def test_nesting_is_taken_to_500_levels() -> None:
    value: Any = []
    for _ in range(498):
        value = [value]
    payloads = Payloads()
    assert payloads.loads(payloads.dumps({"a": value}, "it"), "it") == {"a": value}
    for _ in range(100_000):
        value = [value]
    with pytest.raises(RefusedError, match="deeper than 500"):
        payloads.dumps({"a": value}, "it")


def test_what_another_serializer_wrote_is_not_taken_for_something_else() -> None:
    with pytest.raises(CorruptError):
        Payloads().loads(Payloads(pickle).dumps({"a": 1}, "it"), "it")
    with pytest.raises(CorruptError):
        Payloads(pickle).loads(Payloads().dumps({"a": 1}, "it"), "it")


@pytest.mark.parametrize("codec", [json, pickle, Bytes()])
def test_a_store_keeps_everything_by_its_serializer(open_store: Any, codec: Any) -> None:
    store = open_store(codec=codec)
    message = Message("user", "text\n", "id", GOOD, {"name": "tool", "arguments": GOOD})
    store.append(Scope(), [message])
    store.put(Scope(), Record("r", metadata=GOOD))
    store.set_state(Scope(), GOOD)

    (read,) = store.read(Scope())
    assert same(dict(read.metadata), GOOD)
    assert same(read.tool, message.tool)
    assert same(store.get(Scope(), "r").metadata, GOOD)
    assert same(store.get_state(Scope()), GOOD)


def test_values_of_different_types_are_not_the_same() -> None:
    for left, right in [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ([], ()),
        ({}, []),
        ("1", 1),
        ({"a": 1}, {}),
    ]:
        assert not same(left, right)
    assert same({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})


def test_times_sort_as_their_digits_do() -> None:
    base = dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.timezone.utc)
    times = [
        dt.datetime(1, 1, 1, tzinfo=dt.timezone.utc),
        *(base + dt.timedelta(microseconds=count) for count in range(3)),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999, dt.timezone.utc),
    ]
    assert sorted(map(digits, times)) == list(map(digits, times))
    assert [from_digits(digits(each)) for each in times] == times


def test_a_time_is_turned_into_utc() -> None:
    moment = dt.datetime(2026, 10, 25, 1, 30, fold=1, tzinfo=dt.timezone(dt.timedelta(hours=5.5)))
    assert utc(moment, "it").isoformat() == "2026-10-24T20:00:00+00:00"
    early = dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5)))
    for value in (early, dt.datetime(2026, 1, 1), "2026", None):  # noqa: DTZ001
        with pytest.raises(RefusedError):
            utc(value, "it")


@table(("ttl", "milliseconds"), [(1, 1000), (0.5, 500), (0.0001, 1), (None, None)])
def test_a_time_to_live_is_whole_milliseconds_rounded_up(ttl: Any, milliseconds: Any) -> None:
    assert ttl_bytes(ttl) == (b"" if milliseconds is None else str(milliseconds).encode())


def test_vectors_keep_every_bit() -> None:
    vector = (0.1, -0.0, 5e-324, 3.4e38)
    assert str(vector_floats(vector_bytes(vector), "it")) == str(vector)
    with pytest.raises(CorruptError):
        vector_floats(b"123", "it")


def test_numbers_of_other_libraries_are_taken(open_store: Any) -> None:
    numpy = pytest.importorskip("numpy")
    store = open_store(dimensions=2)
    for name, vector in {
        "array": numpy.array([1, 2], "f4"),
        "ints": [1, 2],
        "tuple": (1.0, 2),
    }.items():
        store.put(Scope(), Record(name, vector=vector))
        assert store.get(Scope(), name).vector == (1.0, 2.0)


def test_write_ids_are_of_one_length() -> None:
    assert {len(write_id_bytes(each)) for each in ("", "a" * 1000, "é")} == {32}
    assert write_id_bytes(None) == b""
    with pytest.raises(RefusedError):
        write_id_bytes(1)


@table(
    "options",
    [{"metric": "cosinus"}, {"dimensions": 0}, {"ttl": 0}, {"ttl": -1}, {"ttl": float("nan")}],
)
def test_settings_that_mean_nothing_are_refused(options: Any) -> None:
    with pytest.raises(RefusedError):
        Settings(**options)


def test_a_clock_without_a_zone_is_refused(open_store: Any) -> None:
    store = open_store(clock=lambda: dt.datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(RefusedError, match="clock"):
        store.append(Scope(), [Message("user", "x")])
