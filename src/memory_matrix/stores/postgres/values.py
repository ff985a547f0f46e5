"""What goes to the server and what comes back: checked and encoded before anything is sent."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from memory_matrix.stores.errors import CorruptError, DimensionError, RefusedError
from memory_matrix.stores.protocol import Codec, Scope

Clock = Callable[[], dt.datetime]

_DEEPEST = 250
"""Levels of lists and dicts: one call of Python each, and the caller may be deep in calls already."""
_LONGEST_ID = 2400
"""Bytes of UTF-8: what an index row of Postgres holds beside the other columns."""
_LONGEST_TTL = 100 * 366 * 86400
_quoted = json.encoder.encode_basestring


def checked_text(text: object, what: str) -> str:
    """Return `text`, which Postgres takes as it is.

    Raises:
        RefusedError: it is no text, or holds a NUL or a lone surrogate.
    """
    if not isinstance(text, str):
        raise RefusedError(f"{what} is {shown(text)}; it should be text.")
    if "\0" in text:
        raise RefusedError(
            f"{what} is {shown(text)}, which holds a NUL character: Postgres has none."
        )
    if not text.isascii():
        _check_surrogates(text, what)
    return str.__str__(text)  # the driver would write a member of an enum by its name


def _check_surrogates(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(
            f"{what} is {shown(text)}, which holds a lone surrogate: that is no text."
        ) from None


def checked_id(name: object, what: str) -> str:
    """Return an id.

    Raises:
        RefusedError: it is no text that Postgres takes, or longer than an index can hold.
    """
    text = checked_text(name, what)
    if len(text) * 4 > _LONGEST_ID and len(text.encode()) > _LONGEST_ID:
        raise RefusedError(
            f"{what} is {shown(text)}, of {len(text.encode())} bytes; it can have {_LONGEST_ID}."
        )
    return text


def checked_limit(limit: object, what: str = "limit") -> int | None:
    """Return a number of items, or None for all.

    Raises:
        RefusedError: it is no number of 0 or more.
    """
    if limit is None:
        return None
    if type(limit) is not int or not 0 <= limit < 2**62:
        raise RefusedError(f"{what} is {shown(limit)}; it should be a whole number of 0 or more.")
    return limit


def checked_ttl(ttl: object) -> float | None:
    """Return a time to live in seconds, or None for ever.

    Raises:
        RefusedError: it is not above 0, or above 100 years.
    """
    if ttl is None:
        return None
    if type(ttl) not in {int, float} or not 0 < ttl <= _LONGEST_TTL:  # type: ignore[operator]
        raise RefusedError(
            f"ttl is {shown(ttl)}; it should be a number of seconds above 0 and up to 100 years, "
            "or None for ever."
        )
    return float(ttl)  # type: ignore[arg-type]


def checked_time(time: object, what: str) -> dt.datetime:
    """Return a time in UTC.

    Raises:
        RefusedError: it has no zone, or is no time.
    """
    if not isinstance(time, dt.datetime) or time.utcoffset() is None:
        raise RefusedError(f"{what} is {shown(time)}; it should be a datetime with a zone.")
    try:
        return time.astimezone(dt.timezone.utc)
    except OverflowError:
        raise RefusedError(f"{what} is {shown(time)}, which is no time in UTC.") from None


def checked_vector(vector: object, dimensions: int | None, what: str) -> tuple[float, ...]:
    """Return the components as the 4-byte floats that pgvector keeps.

    Raises:
        DimensionError: there are not `dimensions` of them.
        RefusedError: one is no finite number, or the store keeps no vectors.
    """
    if dimensions is None:
        raise DimensionError(f"{what} has a vector; this store was opened without dimensions.")
    if isinstance(vector, str | bytes) or not hasattr(vector, "__len__"):
        raise RefusedError(f"{what} has {shown(vector)} as its vector; it should be numbers.")
    components: Sequence[Any] = vector  # type: ignore[assignment]
    if len(components) != dimensions:
        raise DimensionError(
            f"{what} has a vector of {len(components)} dimensions; this store has {dimensions}."
        )
    try:
        floats = struct.unpack(f"{dimensions}f", struct.pack(f"{dimensions}f", *components))
    except (struct.error, OverflowError, TypeError, ValueError) as error:
        raise RefusedError(f"{what} has a vector that is not of 4-byte floats: {error}.") from None
    if not all(map(math.isfinite, floats)):
        raise RefusedError(f"{what} has a vector with NaN or infinity in it.")
    return floats


def vector_text(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"


def vector_from(text: str | None) -> tuple[float, ...] | None:
    """Return the vector that pgvector writes as `text`."""
    return None if text is None else tuple(map(float, text[1:-1].split(",")))


def utc(time: dt.datetime) -> dt.datetime:
    """Return a time of a column that was read `AT TIME ZONE 'UTC'`."""
    return time.replace(tzinfo=dt.timezone.utc)


def digest(*parts: str) -> uuid.UUID:
    """Return a key for ids of any length: other parts, or parts split otherwise, give another."""
    return uuid.UUID(bytes=hashlib.sha256(json.dumps(parts).encode()).digest()[:16])


@dataclass(frozen=True)
class Address:
    """A scope that has been checked, with the keys under which its rows are."""

    scope: Scope

    def __post_init__(self) -> None:
        """Refuse ids that Postgres cannot hold."""
        if not isinstance(self.scope, Scope):
            raise RefusedError(f"The scope is {shown(self.scope)}; it should be a Scope.")
        for name in ("app", "user", "session"):
            checked_id(getattr(self.scope, name), f"The {name} id")
        checked_namespace(self.scope.namespace)

    @property
    def session(self) -> uuid.UUID:
        """The key of the session."""
        return digest("session", self.scope.app, self.scope.user, self.scope.session)

    @property
    def owner(self) -> uuid.UUID:
        """The key of the user within the app."""
        return digest("user", self.scope.app, self.scope.user)

    @property
    def app(self) -> uuid.UUID:
        """The key of the app."""
        return digest("app", self.scope.app)

    @property
    def collection(self) -> uuid.UUID:
        """The key of the records of a user's namespace."""
        return digest("records", self.scope.app, self.scope.user, *self.scope.namespace)

    @property
    def parts(self) -> dict[str, Any]:
        """The ids themselves, as parameters of SQL."""
        scope = self.scope
        return {
            "key": self.session,
            "owner": self.owner,
            "collection": self.collection,
            "app": scope.app,
            "user": scope.user,
            "session": scope.session,
            "namespace": text_array(scope.namespace),
        }


def text_array(texts: Iterable[str | None]) -> str:
    """Return the literal of a `text[]`: the same as psycopg's for a list, in a fraction of its time."""
    return f"{{{','.join(map(_element, texts))}}}"


def _element(text: str | None) -> str:
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def checked_namespace(namespace: object) -> tuple[str, ...]:
    """Return a namespace.

    Raises:
        RefusedError: it is no tuple of ids.
    """
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise RefusedError(f"The namespace is {shown(namespace)}; it should be a tuple of ids.")
    return tuple(checked_id(part, "A part of the namespace") for part in namespace)


def checked_mapping(value: object, what: str) -> dict[str, Any]:
    """Return any mapping as a dict.

    Raises:
        RefusedError: it is none.
    """
    if not isinstance(value, Mapping):
        raise RefusedError(f"{what} is {shown(value)}; it should be a mapping.")
    return dict(value)


def json_text(value: object, what: str) -> str:
    """Return `value` as JSON that comes back from jsonb as it is.

    Large floats are written in full (1e22 would come back as an int), and -0.0 as 0.0, which is all
    that jsonb has of it.

    Raises:
        RefusedError: it holds what JSON has not: other kinds, NaN, keys that are no text.
    """
    pieces: list[str] = []
    _write(value, pieces, what, 0)
    return "".join(pieces)


def _write(value: object, pieces: list[str], what: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise RefusedError(f"{what} is nested deeper than {_DEEPEST} levels.")
    if type(value) is dict:
        opening = "{"
        for key, item in value.items():
            pieces.append(f"{opening}{_key(key, what)}:")
            _write(item, pieces, what, depth + 1)
            opening = ","
        pieces.append("}" if value else "{}")
    elif type(value) is list:
        opening = "["
        for item in value:
            pieces.append(opening)
            _write(item, pieces, what, depth + 1)
            opening = ","
        pieces.append("]" if value else "[]")
    else:
        pieces.append(_scalar(value, what))


def _key(key: object, what: str) -> str:
    if type(key) is not str:
        raise RefusedError(f"A key in {what} is {shown(key)}; it should be text.")
    return _quoted(checked_text(key, f"A key in {what}"))


def _scalar(value: object, what: str) -> str:
    if type(value) is str:
        return _quoted(checked_text(value, f"A text in {what}"))
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return _integer(value, what)
    if type(value) is float:
        return _float(value, what)
    raise RefusedError(
        f"{what} holds {shown(value)}, a {type(value).__name__}; it can hold texts, numbers, "
        "booleans, None, and lists and dicts of these."
    )


def _integer(value: int, what: str) -> str:
    try:
        return str(value)
    except ValueError:
        raise RefusedError(f"{what} holds a whole number of too many digits.") from None


def _float(value: float, what: str) -> str:
    if not math.isfinite(value):
        raise RefusedError(f"{what} holds {value}, which JSON has not.")
    if value == 0:
        return "0.0"
    text = repr(value)
    if "e" in text:
        text = format(Decimal(text), "f")
    return text if "." in text else f"{text}.0"


@dataclass(frozen=True)
class Payload:
    """Metadata, or metadata and a tool's call, as they are stored."""

    json: str
    """For the jsonb column, which filters look at."""
    data: bytes | None = None
    """What the store's serializer made of the same; None for stores without one."""


class Payloads:
    """Encodes mappings: as JSON, and with a serializer of the caller's where there is one."""

    def __init__(self, codec: Codec | None) -> None:
        self.codec = codec
        self._as_text = codec is not None and isinstance(codec.dumps({}), str)

    def encode(self, value: Mapping[str, Any], what: str) -> Payload:
        """Return a mapping as it is stored.

        Raises:
            RefusedError: it holds what JSON has not, or the serializer does not keep it.
        """
        text = json_text(value, what)
        return Payload(text, None if self.codec is None else self._dumps(text, what))

    def _dumps(self, text: str, what: str) -> bytes:
        assert self.codec is not None
        value = json.loads(text)
        try:
            data: bytes | str = self.codec.dumps(value)
            back = self.codec.loads(data)  # type: ignore[arg-type]
        except Exception as error:  # whatever a serializer of the caller's raises
            raise RefusedError(f"{what} cannot be serialized: {line(error)}.") from error
        if not same(back, value):
            raise RefusedError(f"{what} would not come back from the serializer as it is.")
        return data.encode() if isinstance(data, str) else bytes(data)

    def decode(self, text: str | None, data: bytes | None, what: str) -> dict[str, Any]:
        """Return the mapping that `encode` was given.

        Raises:
            CorruptError: it is none any more, or was written with another serializer.
        """
        if data is None:
            value = json.loads(text or "null")
        elif self.codec is None:
            raise CorruptError(
                f"{what} was written with a serializer; open the store with the same one."
            )
        else:
            value = self._loads(data, what)
        if not isinstance(value, dict):
            raise CorruptError(f"{what} cannot be read: it is no mapping.")
        return value

    def _loads(self, data: bytes, what: str) -> Any:
        assert self.codec is not None
        try:
            return self.codec.loads(data.decode() if self._as_text else data)  # type: ignore[arg-type]
        except Exception as error:
            raise CorruptError(f"{what} cannot be read: {line(error)}.") from error


def same(left: object, right: object) -> bool:
    """Return whether two values of JSON's kinds are equal, types included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def shown(value: object) -> str:
    """Return `value` in at most 80 characters, with every odd character escaped."""
    try:
        text = ascii(value)
    except Exception:  # noqa: BLE001 - a caller's object may refuse to be shown, or be too deep
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"


def line(error: BaseException) -> str:
    """Return what an error says, as part of a sentence."""
    return (" ".join(str(error).split())[:300] or type(error).__name__).rstrip(".")
