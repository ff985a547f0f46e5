"""What goes to the server and what comes back: checked and encoded before anything is sent."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import secrets
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import quote_from_bytes

from memory_matrix.stores.errors import CorruptError, DimensionError, RefusedError
from memory_matrix.stores.protocol import Codec, Message, Record
from memory_matrix.stores.redis.calls import newer

T = TypeVar("T")
Clock = Callable[[], dt.datetime]

LAYOUT = 2
"""The layout of records that is written; those of the first one have no number."""
_DEEPEST = 500
_FARTHEST = 3.4028234663852886e38
"""The largest float of 4 bytes: what every vector search takes, and what cannot overflow here."""
_EPOCH = dt.datetime.min.replace(tzinfo=dt.timezone.utc)
_MICROSECOND = dt.timedelta(microseconds=1)
_MOST = 2**31
"""More than any list of a server can hold."""
_LONGEST_TTL = 2**51
"""In milliseconds; the server's scripts count exactly to 2**53."""


def utc_now() -> dt.datetime:
    """Return the machine's time."""
    return dt.datetime.now(dt.timezone.utc)


def text_bytes(text: object, what: str) -> bytes:
    """Return text as UTF-8.

    Raises:
        RefusedError: it is no text, or holds a lone surrogate.
    """
    if not isinstance(text, str):
        raise RefusedError(f"{what} is {_shown(text)}; it should be text.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise RefusedError(
            f"{what} is {_shown(text)}, which holds a lone surrogate: that is no text."
        ) from None


def check_json(value: object, what: str) -> None:
    """Refuse what would not come back from JSON as it is: other kinds, NaN, keys that are no strings.

    Raises:
        RefusedError: says which value, and what is allowed.
    """
    todo: list[tuple[object, int]] = [(value, 0)]
    while todo:
        found, depth = todo.pop()
        if depth > _DEEPEST:
            raise RefusedError(f"{what} is nested deeper than {_DEEPEST} levels.")
        if type(found) is dict:
            for key in found:
                text_bytes(key, f"A key in {what}")
            todo.extend((each, depth + 1) for each in found.values())
        elif type(found) is list:
            todo.extend((each, depth + 1) for each in found)
        else:
            _check_scalar(found, what)


def _check_scalar(value: object, what: str) -> None:
    if type(value) is str:
        if not value.isascii():
            text_bytes(value, f"A text in {what}")
    elif type(value) is float:
        if not math.isfinite(value):
            raise RefusedError(f"{what} holds {value}, which JSON has not.")
    elif value is not None and type(value) not in {int, bool}:
        raise RefusedError(
            f"{what} holds {_shown(value)}, a {type(value).__name__}; it can hold texts, numbers, "
            "booleans, None, and lists and dicts of these."
        )


class Payloads:
    """Turns plain values into bytes and back, with JSON or with a serializer of the caller's."""

    def __init__(self, codec: Codec | None = None) -> None:
        """Use `codec`, or JSON."""
        self._codec: Any = codec
        # Some serializers write text, whatever they are declared to.
        self._text = codec is not None and isinstance(cast("Any", codec).dumps({}), str)

    def dumps(self, value: Mapping[str, Any], what: str) -> bytes:
        """Return `value` as bytes.

        Raises:
            RefusedError: it is no JSON, or the serializer would not give it back as it is.
        """
        check_json(value, what)
        try:
            if self._codec is None:
                return _json(value)
            data = self._codec.dumps(value)
            back = self._codec.loads(data)
        except Exception as error:
            raise RefusedError(f"{what} cannot be serialized: {_line(error)}.") from error
        if not same(back, value):
            raise RefusedError(f"{what} would not come back from the serializer as it is.")
        return data.encode() if self._text else bytes(data)

    def loads(self, data: bytes, what: str) -> dict[str, Any]:
        """Return the value that `dumps` wrote.

        Raises:
            CorruptError: it cannot be read.
        """
        try:
            if self._codec is None:
                value = json.loads(data)
            else:
                value = self._codec.loads(data.decode() if self._text else data)
        except Exception as error:
            raise CorruptError(f"{what} cannot be read: {_line(error)}.") from error
        if not isinstance(value, dict):
            raise CorruptError(f"{what} cannot be read: it is a {type(value).__name__}.")
        return value


def same(left: object, right: object) -> bool:
    """Return whether two plain values are equal, types and the sign of zero included."""
    todo = [(left, right)]
    while todo:
        one, other = todo.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            todo.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo.extend(zip(one, other, strict=True))
        elif repr(one) != repr(other) if isinstance(one, float) else one != other:
            return False
    return True


@dataclass(frozen=True)
class Shapes:
    """What messages and records look like on the server, of one store."""

    payloads: Payloads
    clock: Clock = utc_now
    dimensions: int | None = None

    def now(self) -> dt.datetime:
        """Return the time that what is written now gets."""
        return utc(self.clock(), "The store's clock")

    def message_bytes(self, message: Message, now: dt.datetime) -> bytes:
        """Return a message as the list of its session holds it: its id, a line of JSON, and the rest.

        Raises:
            RefusedError: something in it cannot be kept.
        """
        name = secrets.token_hex(8) if message.id is None else message.id
        what = f"Message {_shown(name)}"
        head = {
            "id": name,
            "role": message.role,
            "text": message.text,
            "time": microseconds(utc(message.created_at or now, f"created_at of {what}")),
        }
        for field in ("id", "role", "text"):
            text_bytes(head[field], f"{field} of {what}")
        metadata = _mapping(message.metadata, f"metadata of {what}")
        rest: dict[str, Any] = {"metadata": metadata}
        if message.tool is not None:
            rest["tool"] = _mapping(message.tool, f"tool of {what}")
        return message_id_bytes(name) + _json(head) + b"\n" + self.payloads.dumps(rest, what)

    def message(self, data: bytes, what: str) -> Message:
        """Return the message that `message_bytes` wrote.

        Raises:
            CorruptError: it cannot be read.
        """
        is_first = data.startswith(b"{")  # the layout of the first release, all of it JSON
        head_bytes, _, rest_bytes = data.partition(b"\n")
        try:
            head = json.loads(data if is_first else head_bytes.partition(b" ")[2])
            role, text, name = head["role"], head["text"], head["id"]
            time = from_microseconds(head["time"])
        except Exception as error:
            raise CorruptError(f"{what} cannot be read: {_line(error)}.") from error
        rest = head if is_first else self.payloads.loads(rest_bytes, what)
        return Message(role, text, name, rest.get("metadata", {}), rest.get("tool"), time)

    def vector_bytes(self, vector: object, what: str) -> bytes:
        """Return a vector as floats of 8 bytes, little end first.

        Raises:
            DimensionError: its length is not the store's.
            RefusedError: it holds something else than numbers of up to 3.4e38.
        """
        return vector_bytes(self.floats(vector, what))

    def floats(self, vector: object, what: str) -> list[float]:
        """Return the components of a vector that the store takes; raises as `vector_bytes` does."""
        if isinstance(vector, str | bytes) or not hasattr(vector, "__iter__"):
            raise RefusedError(f"{what} is {_shown(vector)}; it should be a sequence of numbers.")
        try:
            floats = [_component(each) for each in vector]
        except (TypeError, ValueError, OverflowError):
            raise RefusedError(f"{what} holds something that is no number.") from None
        if self.dimensions is not None and len(floats) != self.dimensions:
            raise DimensionError(
                f"{what} has {len(floats)} dimensions; this store's vectors have {self.dimensions}."
            )
        for component in floats:
            if not abs(component) <= _FARTHEST:
                raise RefusedError(f"{what} holds {component}; up to 3.4e38 can be searched.")
        return floats

    def _metadata(self, data: bytes, layout: bytes | None, what: str) -> dict[str, Any]:
        payloads = Payloads() if layout is None else self.payloads
        value = payloads.loads(data, what)
        return value if layout is None else value.get("metadata", {})

    def metadata_bytes(self, metadata: object, record_id: str) -> bytes:
        """Return a record's metadata as bytes.

        Raises:
            RefusedError: something in it cannot be kept.
        """
        what = f"metadata of record {_shown(record_id)}"
        return self.payloads.dumps({"metadata": _mapping(metadata, what)}, what)

    def record(self, record_id: str, fields: Sequence[bytes]) -> Record:
        """Return the record whose fields `get` and `scan` found.

        Raises:
            CorruptError: they cannot be read.
        """
        member, _, updated, text, metadata, vector, layout = fields
        what = f"Record {_shown(record_id)}"
        if int(layout or 1) > LAYOUT:
            raise newer(what)
        try:
            created_at, updated_at = from_digits(member[:16]), from_digits(updated)
            decoded = text.decode()
        except (ValueError, OverflowError, TypeError, AttributeError) as error:
            raise CorruptError(f"{what} cannot be read: {_line(error)}.") from error
        components = vector_floats(vector, what)
        values = self._metadata(metadata, layout, what)
        return Record(record_id, decoded, components or None, values, created_at, updated_at)


def vector_bytes(components: Sequence[float]) -> bytes:
    """Return a vector as floats of 8 bytes, little end first."""
    return struct.pack(f"<{len(components)}d", *components)


def vector_floats(data: bytes, what: str) -> tuple[float, ...]:
    """Return the components that `vector_bytes` wrote.

    Raises:
        CorruptError: it did not.
    """
    try:
        return struct.unpack(f"<{len(data) // 8}d", data)
    except struct.error as error:
        raise CorruptError(f"The vector of {what} cannot be read: {_line(error)}.") from error


def message_id_bytes(name: str) -> bytes:
    """Return what a message's bytes begin with, and no other message's."""
    return quote_from_bytes(text_bytes(name, "The id of a message"), safe="").encode() + b" "


def utc(moment: object, what: str) -> dt.datetime:
    """Return an aware time in UTC.

    Raises:
        RefusedError: it is no time, or has no zone.
    """
    if not isinstance(moment, dt.datetime) or moment.utcoffset() is None:
        raise RefusedError(f"{what} is {_shown(moment)}; it should be a time with a zone.")
    try:
        return moment.astimezone(dt.timezone.utc)
    except OverflowError:
        raise RefusedError(f"{what} is {moment}, which no calendar has in UTC.") from None


def microseconds(moment: dt.datetime) -> int:
    """Return a time in UTC as whole microseconds since the year 1."""
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(count: int) -> dt.datetime:
    """Return the time that `microseconds` counted."""
    return _EPOCH + count * _MICROSECOND


def digits(moment: dt.datetime) -> bytes:
    """Return a time in 16 digits that sort as times do."""
    return b"%016x" % microseconds(moment)


def from_digits(data: bytes) -> dt.datetime:
    """Return the time that `digits` wrote."""
    return from_microseconds(int(data, 16))


def ttl_bytes(ttl: object) -> bytes:
    """Return a time to live in whole milliseconds, rounded up; nothing for none.

    Raises:
        RefusedError: it is no positive number of seconds.
    """
    if ttl is None:
        return b""
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < _LONGEST_TTL:
        raise RefusedError(f"A time to live of {_shown(ttl)} s is none: it should be above 0.")
    return b"%d" % min(math.ceil(ttl * 1000), _LONGEST_TTL)


def write_id_bytes(write_id: object) -> bytes:
    """Return a caller's write id in 32 digits; nothing for none.

    Raises:
        RefusedError: it is no text.
    """
    if write_id is None:
        return b""
    data = text_bytes(write_id, "A write id")
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode()


def instances(items: object, kind: type[T], most: int) -> list[T]:
    """Return what a caller wants written.

    Raises:
        RefusedError: it is no sequence of `kind`, or holds more than `most`.
    """
    if isinstance(items, kind) or not isinstance(items, Iterable):
        raise RefusedError(f"A sequence of {kind.__name__} is wanted, not {_shown(items)}.")
    found = list(items)
    for each in found:
        if not isinstance(each, kind):
            raise RefusedError(f"Each should be a {kind.__name__}; one is {_shown(each)}.")
    if len(found) > most:
        raise RefusedError(f"{len(found)} are too many for one call; it takes {most}.")
    return found


def number(value: object, what: str) -> float:
    """Return a number.

    Raises:
        RefusedError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise RefusedError(f"{what} is {_shown(value)}; it should be a number.")
    return float(value)


def how_many(limit: object, what: str = "limit") -> int:
    """Return a limit, or -1 for none.

    Raises:
        RefusedError: it is no whole number of 0 or more.
    """
    if limit is None:
        return -1
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise RefusedError(f"{what} is {_shown(limit)}; it should be a whole number of 0 or more.")
    return min(limit, _MOST)


def _component(value: Any) -> float:
    if isinstance(value, bool | str | bytes):
        raise TypeError
    return float(value)


def _mapping(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RefusedError(f"{what} is {_shown(value)}; it should be a mapping.")
    return dict(value)


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def _shown(value: object) -> str:
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # such as a number of 5,000 digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200].rstrip(".")
    return text.encode("ascii", "backslashreplace").decode() or type(error).__name__
