"""What is refused before anything is sent, and how what is taken is written."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
import uuid
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.adapt import Transformer
from psycopg.pq import Format

from memory_matrix.stores.errors import CorruptError, DimensionError, RefusedError
from memory_matrix.stores.postgres.values import (
    Address,
    Payloads,
    checked_id,
    checked_limit,
    checked_text,
    checked_time,
    checked_ttl,
    checked_vector,
    json_text,
    text_array,
    vector_from,
    vector_text,
)
from memory_matrix.stores.protocol import Scope
from support.tables import table

TEXT_ARRAY = psycopg.adapters.types["text"].array_oid


class Colour(str, enum.Enum):
    RED = "red"


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@table(
    "value",
    [
        {"a": None, "b": [], "c": {}, "d": [True, False, 1, 1.0, -7]},
        {"int": 2**63 + 5, "more": 10**30, "odd": 2**53 + 1},
        {"floats": [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1e22, 1e16, -1e300, 1e-7]},
        {'key with "quotes", dots. and spaces': "\\u0000 \n\t\u202e 漢字 😀"},
        deep(200),
    ],
)
def test_json_gives_back_what_it_was_given(value: Any) -> None:
    back = json.loads(json_text(value, "it"))
    assert repr(back) == repr(value)


@table("value", [1e16, 1e22, 1.7976931348623157e308, -1e300])
def test_large_floats_are_written_with_a_point(value: float) -> None:
    """As jsonb keeps them: without one, it would give back an int."""
    assert json_text(value, "it").endswith(".0")
    assert "e" not in json_text(value, "it")


def test_negative_zero_is_written_as_zero() -> None:
    assert json_text([-0.0, 0.0], "it") == "[0.0,0.0]"


@table(
    "value",
    [
        math.nan,
        math.inf,
        (1, 2),
        {1, 2},
        b"bytes",
        Decimal(1),
        dt.datetime.now(dt.timezone.utc),
        uuid.uuid4(),
        Colour.RED,
        {1: "int key"},
        {None: "none key"},
        {Colour.RED: "enum key"},
        {"nul\0": 1},
        "lone \ud800",
        ["nul \0"],
        deep(300),
        10**5000,
        object(),
    ],
)
def test_what_json_or_postgres_has_not_is_refused(value: Any) -> None:
    with pytest.raises(RefusedError, match=r"^The metadata|^A (text|key) in The metadata"):
        json_text({"deep": [value]}, "The metadata")


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RefusedError, match="nested deeper"):
        json_text(value, "it")


@table("text", [None, 7, b"text", "a\0b", "\udfff"])
def test_no_text_is_refused(text: Any) -> None:
    with pytest.raises(RefusedError):
        checked_text(text, "The text")


def test_a_member_of_an_enum_of_texts_is_its_text() -> None:
    assert type(checked_text(Colour.RED, "The role")) is str
    assert checked_text(Colour.RED, "The role") == "red"


def test_ids_of_600_characters_of_four_bytes_are_taken_and_longer_ones_refused() -> None:
    assert checked_id("😀" * 600, "id") == "😀" * 600
    with pytest.raises(RefusedError, match="2404 bytes"):
        checked_id("😀" * 601, "id")


@table("limit", [-1, 1.0, True, "1", 2**63])
def test_no_limit_is_refused(limit: Any) -> None:
    with pytest.raises(RefusedError, match="limit is"):
        checked_limit(limit)


@table("ttl", [0, -1, math.nan, math.inf, "1", True, 1e300])
def test_no_time_to_live_is_refused(ttl: Any) -> None:
    with pytest.raises(RefusedError, match="ttl is"):
        checked_ttl(ttl)


@table(
    "time",
    [
        dt.datetime(2026, 1, 1),  # noqa: DTZ001 - that is the point
        dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=5))),
        "2026-01-01",
        None,
    ],
)
def test_no_time_with_a_zone_is_refused(time: Any) -> None:
    with pytest.raises(RefusedError, match="created_at is"):
        checked_time(time, "created_at")


def test_times_of_any_zone_come_out_in_utc() -> None:
    kolkata = dt.timezone(dt.timedelta(hours=5, minutes=30))
    noon = checked_time(dt.datetime(2026, 1, 1, 17, 30, 0, 1, tzinfo=kolkata), "it")
    assert noon == dt.datetime(2026, 1, 1, 12, 0, 0, 1, tzinfo=dt.timezone.utc)
    assert noon.tzinfo is dt.timezone.utc


@table(
    "vector",
    [[1, math.nan], [math.inf, 0], [1e39, 0], ["1", "2"], [None, 1], "12", {1: 2, 3: 4}.items, 7],
)
def test_what_is_no_vector_is_refused(vector: Any) -> None:
    with pytest.raises(RefusedError):
        checked_vector(vector, 2, "It")


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(DimensionError, match="3 dimensions; this store has 2"):
        checked_vector([1, 2, 3], 2, "It")
    with pytest.raises(DimensionError, match="without dimensions"):
        checked_vector([1, 2, 3], None, "It")


def test_vectors_keep_their_floats_of_four_bytes() -> None:
    vector = checked_vector((1, 0.1, -2.5e-30), 3, "It")
    assert vector == pytest.approx((1, 0.1, -2.5e-30), rel=1e-6)
    assert vector_from(vector_text(vector)) == vector


def test_scopes_that_are_split_otherwise_have_other_keys() -> None:
    scopes = [
        Scope(session="a:b", user="c"),
        Scope(session="a", user="b:c"),
        Scope(session='a","b', user="c"),
        Scope(session="a", user='b","c'),
        Scope(session="", user="a"),
        Scope(session="a", user=""),
    ]
    assert len({Address(each).session for each in scopes}) == len(scopes)
    names = [("a", "b"), ("a.b",), ("ab",), ("a",), (), ("",), ("a", "b", "")]
    keys = {Address(Scope(namespace=each)).collection for each in names}
    assert len(keys) == len(names)


@table(
    "scope",
    [
        Scope(session=None),  # type: ignore[arg-type]
        Scope(user=7),  # type: ignore[arg-type]
        Scope(app="a\0"),
        Scope(namespace="ab"),  # type: ignore[arg-type]
        Scope(namespace=("a", None)),  # type: ignore[arg-type]
        None,
    ],
)
def test_no_scope_is_refused(scope: Any) -> None:
    with pytest.raises(RefusedError):
        Address(scope)


class Codec:
    """A serializer that does what it is told."""

    def __init__(self, dumps: Any, loads: Any) -> None:
        self.dumps = dumps
        self.loads = loads


def test_a_serializer_that_changes_values_is_refused() -> None:
    payloads = Payloads(Codec(lambda _: b"{}", lambda _: {}))
    with pytest.raises(RefusedError, match="would not come back"):
        payloads.encode({"a": 1}, "The metadata")


def test_a_serializer_that_raises_is_a_refusal() -> None:
    def dumps(value: Any) -> bytes:
        if value:
            raise OverflowError("too much")
        return b""

    with pytest.raises(RefusedError, match="cannot be serialized: too much"):
        Payloads(Codec(dumps, lambda _: {})).encode({"a": 1}, "The metadata")


def test_a_serializer_of_text_gets_text_back() -> None:
    payloads = Payloads(Codec(json.dumps, lambda data: json.loads(data + "")))
    payload = payloads.encode({"a": "é"}, "it")
    assert isinstance(payload.data, bytes)
    assert payloads.decode(None, payload.data, "it") == {"a": "é"}


def test_what_another_serializer_wrote_is_reported() -> None:
    with pytest.raises(CorruptError, match="written with a serializer"):
        Payloads(None).decode(None, b"x", "It")
    with pytest.raises(CorruptError, match="cannot be read"):
        Payloads(Codec(lambda _: b"", json.loads)).decode(None, b"\xff", "It")
    with pytest.raises(CorruptError, match="no mapping"):
        Payloads(None).decode('"text"', None, "It")


@table(
    "texts",
    [
        [],
        ["", None, "NULL", "null"],
        ['"', "\\", '\\"', "\\\\"],
        ["{", "}", ",", " a ", "\n\t\r", "{a,b}"],
        ["\u6f22\U0001f9e0", "'", "%s"],
    ],
)
def test_an_array_of_texts_is_read_as_what_it_was(texts: list[str | None]) -> None:
    loader = Transformer().get_loader(TEXT_ARRAY, Format.TEXT)
    assert loader.load(text_array(texts).encode()) == texts
