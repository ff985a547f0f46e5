"""Values without parts: one line of text says all there is."""

import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import pathlib
import re
import types
import typing
import uuid

from memory_matrix.worker.naming import stable_text, type_name

Node = typing.Any


def scalar(kind: type, value: typing.Any) -> Node:
    """Return the node of a value without parts, or None where it has parts."""
    write = _EXACT.get(kind)
    if write is None:
        write = _by_ancestor(kind)
    if write is None:
        return None
    text = write(value)
    return None if text is None else [type_name(kind), text]


def zone(value: typing.Any) -> str:
    """Return the zone of a datetime or time: `UTC`, a named zone, or an offset; empty if naive.

    Every library's UTC is the same; a named zone and the offset it has today are not.
    """
    zone = value.tzinfo
    if zone is None:
        return ""
    offset, name = value.utcoffset(), value.tzname()
    key = _zone_key(zone)
    if not offset and offset is not None and (name == "UTC" or key in ("UTC", "Etc/UTC")):
        return "UTC"
    if key:
        return "%s(%s)" % (type(zone).__qualname__, key)
    return "%s%s" % (offset, "" if _is_default_name(name, offset) else " " + str(name))


def _zone_key(zone: typing.Any) -> typing.Optional[str]:
    for attribute in ("key", "zone", "name", "_filename"):
        key = getattr(zone, attribute, None)
        if isinstance(key, str) and key and not key.startswith(("+", "-")):
            return key
    return None


def _is_default_name(
    name: typing.Optional[str], offset: typing.Optional[datetime.timedelta]
) -> bool:
    if name is None or offset is None:
        return True
    return name in (datetime.timezone(offset).tzname(None), str(offset)) or name[0] in "+-"


def _datetime(value: typing.Any) -> str:
    naive = datetime.datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second,
        value.microsecond,
    )  # fmt: skip
    nanosecond = getattr(value, "nanosecond", 0)
    return _joined(
        naive.isoformat(),
        "+%d ns" % nanosecond if nanosecond else "",
        zone(value),
        "fold=1" if value.fold else "",
    )


def _time(value: datetime.time) -> str:
    text = value.replace(tzinfo=None).isoformat()
    return _joined(text, zone(value), "fold=1" if value.fold else "")


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _date(value: datetime.date) -> str:
    return datetime.date(value.year, value.month, value.day).isoformat()


def _timedelta(value: datetime.timedelta) -> str:
    return "%dd %ds %dus" % (value.days, value.seconds, value.microseconds)


def _tzinfo(value: typing.Any) -> str:
    key = _zone_key(value)
    if key:
        return key
    return zone(datetime.datetime(2000, 1, 1, tzinfo=value))


def _pattern(value: typing.Any) -> str:
    return "%r flags=%d" % (value.pattern, value.flags)


def _path(value: pathlib.PurePath) -> str:
    return str(value)


def _bytes(value: typing.Any) -> str:
    return repr(bytes(value))[1:]


def _named(value: typing.Any) -> typing.Optional[str]:
    """A class, a module or a function that can be imported is known by its name."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "?")
    if isinstance(value, type):
        return type_name(value)
    if isinstance(value, types.BuiltinFunctionType):
        owner = value.__self__
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            return None  # bound to an object, which has parts
    return "%s.%s" % (module, name) if module and module != "builtins" else str(name)


def _module(value: types.ModuleType) -> str:
    return value.__name__


def _repr(value: object) -> str:
    return stable_text(repr(value))


def _complex(value: complex) -> str:
    return "%r %r" % (value.real, value.imag)


_EXACT: typing.Dict[type, typing.Callable[[typing.Any], typing.Optional[str]]] = {
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    complex: _complex,
    range: _repr,
    type(Ellipsis): _repr,
    type(NotImplemented): _repr,
    type: _named,
    type(len): _named,
    types.ModuleType: _module,
    type(re.compile("")): _pattern,
    datetime.datetime: _datetime,
    datetime.date: _date,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
    datetime.timezone: _tzinfo,
    decimal.Decimal: str,
    fractions.Fraction: str,
    uuid.UUID: str,
}

_ANCESTORS: typing.Tuple[
    typing.Tuple[type, typing.Callable[[typing.Any], typing.Optional[str]]], ...
] = (
    (datetime.datetime, _datetime),
    (datetime.date, _date),
    (datetime.time, _time),
    (datetime.timedelta, _timedelta),
    (datetime.tzinfo, _tzinfo),
    (pathlib.PurePath, _path),
    (ipaddress.IPv4Address, str),
    (ipaddress.IPv6Address, str),
    (ipaddress.IPv4Network, str),
    (ipaddress.IPv6Network, str),
    (decimal.Decimal, str),
    (uuid.UUID, str),
    (type, _named),
)


@functools.lru_cache(maxsize=None)
def _by_ancestor(
    kind: type,
) -> typing.Optional[typing.Callable[[typing.Any], typing.Optional[str]]]:
    if issubclass(kind, enum.Enum):
        return None
    for ancestor, write in _ANCESTORS:
        if issubclass(kind, ancestor):
            return write
    return None
