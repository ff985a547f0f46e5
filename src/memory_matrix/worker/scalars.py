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

CLASS = "class"
"""What the nodes of classes, and of what typing makes of them, start with."""

FUNCTION = "function"
"""What the nodes of the names of functions start with."""


def scalar(kind: type, value: typing.Any) -> Node:
    """Return the node of a value without parts, or None where it has parts."""
    write = _EXACT.get(kind)
    if write is None:
        write = _by_ancestor(kind)
        if write is not None and _has_parts(kind, value):
            return None
    if write is None:
        return None
    text = write(value)
    return None if text is None else [_TAGS.get(write) or type_name(kind), text]


def inherited(value: typing.Any) -> Node:
    """Return the node of what an instance of a subclass of `STATEFUL` inherits from there."""
    ancestor = next(base for base in STATEFUL if issubclass(type(value), base))
    return [type_name(ancestor), _EXACT[ancestor](value)]


def _has_parts(kind: type, value: typing.Any) -> bool:
    """Say whether a subclass of a type without parts has given this value attributes."""
    if not issubclass(kind, STATEFUL) or kind.__name__ == "NaTType":
        return False
    own = kind.__mro__[: min(kind.__mro__.index(base) for base in STATEFUL if base in kind.__mro__)]
    return bool(getattr(value, "__dict__", None)) or any(
        base.__dict__.get("__slots__") for base in own
    )


def zone(value: typing.Any) -> str:
    """Return the zone of a datetime or time: `UTC`, a named zone, or an offset; empty if naive.

    Every library's UTC is the same; a named zone and the offset it has today are not.
    """
    zone = value.tzinfo
    if zone is None:
        return ""
    try:
        return _zone(zone, value)
    except Exception as error:
        return "%s raises %s" % (type(zone).__qualname__, type_name(type(error)))


def _zone(zone: datetime.tzinfo, value: typing.Any) -> str:
    offset, name = value.utcoffset(), value.tzname()
    key = _zone_key(zone)
    nameless = not name and not key
    if offset == datetime.timedelta(0) and (nameless or name == "UTC" or key in ("UTC", "Etc/UTC")):
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
    if not name or offset is None:
        return True
    return name in (datetime.timezone(offset).tzname(None), str(offset)) or name[0] in "+-"


def _datetime(value: typing.Any) -> str:
    if value.year != value.year:
        return "NaT"  # pandas has a time that is none
    naive = datetime.datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second,
        value.microsecond,
    )  # fmt: skip
    nanosecond = getattr(value, "nanosecond", 0)
    return _joined(
        naive.isoformat(),
        "+%d ns" % nanosecond if nanosecond else "",
        zone(value),
        "fold=1" if value.fold and _fold_matters(naive, value) else "",
    )


def _fold_matters(naive: datetime.datetime, value: typing.Any) -> bool:
    """With a zone, fold tells the two readings of a repeated hour apart, and else says nothing."""
    if value.tzinfo is None:
        return True
    try:
        return bool(naive.replace(tzinfo=value.tzinfo).utcoffset() != value.utcoffset())
    except Exception:
        return True


def _time(value: datetime.time) -> str:
    text = value.replace(tzinfo=None).isoformat()
    return _joined(text, zone(value), "fold=1" if value.fold else "")


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _date(value: datetime.date) -> str:
    return datetime.date(value.year, value.month, value.day).isoformat()


def _timedelta(value: typing.Any) -> str:
    if value.days != value.days:
        return "NaT"
    nanoseconds = getattr(value, "nanoseconds", 0)
    return _joined(
        "%dd %ds %dus" % (value.days, value.seconds, value.microseconds),
        "+%d ns" % nanoseconds if nanoseconds else "",
    )


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


def _class(value: typing.Any) -> str:
    """A class is known by its name; in Python 3.6, the forms of typing are classes too."""
    return _alias(value) if getattr(value, "__args__", None) else type_name(value)


def _builtin_function(value: typing.Any) -> typing.Optional[str]:
    """A function that can be imported is known by its name; a method has its object."""
    owner = value.__self__
    if owner is not None and not isinstance(owner, (types.ModuleType, type)):
        return None
    return type_name(value)


def _module(value: types.ModuleType) -> str:
    return value.__name__


def _repr(value: object) -> str:
    return stable_text(repr(value))


def _whole(value: int) -> str:
    """Return a number in a form that no interpreter has a limit for."""
    return str(value) if abs(value) < 1 << 64 else hex(value)


def _range(value: range) -> str:
    return " ".join(map(_whole, (value.start, value.stop, value.step)))


def _fraction(value: fractions.Fraction) -> str:
    return "%s/%s" % (_whole(value.numerator), _whole(value.denominator))


def _alias(value: typing.Any) -> str:
    """Return a form of typing as text, a Union in one way: `Optional[int]` is `int | None`."""
    if _origin(value) is typing.Union:
        return "typing.Union[%s]" % ", ".join(map(_argument, value.__args__))
    bare = not getattr(value, "__args__", None) or getattr(value, "_special", False)
    if bare or hasattr(value, "__metadata__"):
        return stable_text(repr(value))
    name = stable_text(repr(value)).partition("[")[0]
    return "%s[%s]" % (name, ", ".join(map(_argument, value.__args__)))


def _origin(value: typing.Any) -> object:
    return typing.Union if type(value) is _UNION else getattr(value, "__origin__", None)


def _argument(value: typing.Any) -> str:
    if isinstance(value, type) and not getattr(value, "__args__", None):
        return type_name(value)
    return _alias(value)


def _complex(value: complex) -> str:
    return "%r %r" % (value.real, value.imag)


_EXACT: typing.Dict[type, typing.Callable[[typing.Any], typing.Optional[str]]] = {
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    complex: _complex,
    range: _range,
    type(Ellipsis): _repr,
    type(NotImplemented): _repr,
    type: _class,
    type(len): _builtin_function,
    types.ModuleType: _module,
    type(re.compile("")): _pattern,
    datetime.datetime: _datetime,
    datetime.date: _date,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
    datetime.timezone: _tzinfo,
    decimal.Decimal: str,
    fractions.Fraction: _fraction,
    uuid.UUID: str,
}

_UNION: typing.Any = getattr(types, "UnionType", None)

_FORMS: typing.Tuple[typing.Any, ...] = (
    typing.List,
    typing.List[int],
    typing.Optional[int],
    typing.Callable[[int], int],
    typing.Any,
)
for _form in _FORMS:
    if not isinstance(_form, type):
        _EXACT[type(_form)] = _alias
for _name in ("GenericAlias", "UnionType"):
    if hasattr(types, _name):
        _EXACT[getattr(types, _name)] = _alias

_TAGS: typing.Dict[typing.Any, str] = {
    _alias: CLASS,
    _class: CLASS,
    _builtin_function: FUNCTION,
}
"""What things with a name are called, whatever their own types."""

STATEFUL: typing.Tuple[typing.Any, ...] = (
    datetime.datetime,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    uuid.UUID,
)
"""Types without parts whose subclasses may give values attributes."""

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
    (type, _class),
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
