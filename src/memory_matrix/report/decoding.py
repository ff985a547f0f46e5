"""Plain JSON values to dataclasses, checked by the types that their fields are declared with."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memory_matrix.report.visible import NAME, visible

Decoder = Callable[[Any], Any]


class MalformedError(ValueError):
    """A value is not what its place asks for; says where, such as `cells[3].outcome`."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path.lstrip('.')} {problem}" if path else problem)
        self.problem = problem
        self.path = path

    def inside(self, step: str) -> MalformedError:
        """Return the same error as seen from one level further out."""
        return MalformedError(self.problem, step + self.path)


@cache
def decoder(kind: Any) -> Decoder:
    """Return what turns a JSON value into a `kind`: text, truth value, number, date, tuple, mapping
    or dataclass.

    Keys that a dataclass does not have are left out: a later release may have added them. The
    decoder raises MalformedError.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _record(kind)
    if origin in {Union, UnionType}:
        return _optional(next(each for each in arguments if each is not NoneType))
    if origin is Literal:
        return _choice(arguments)
    if origin is tuple:
        return _items(decoder(arguments[0]))
    if origin is Mapping:
        return _mapping(decoder(arguments[1]))
    return _PLAIN[kind] if kind in _PLAIN else _scalar(kind)


def _record(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    plan = [
        (each.name, each.metadata.get("key", each.name), decoder(hints[each.name]), _may_lack(each))
        for each in fields(kind)
    ]

    def decode(value: Any) -> Any:
        _expect(dict, value)
        found: dict[str, Any] = {}
        for name, key, decode_field, may_lack in plan:
            if key not in value:
                if not may_lack:
                    raise MalformedError(f"has no {key!r}")
                continue
            try:
                found[name] = decode_field(value[key])
            except MalformedError as error:
                raise error.inside(f".{key}") from None
        return kind(**found)

    return decode


def _may_lack(field: Field[Any]) -> bool:
    if field.metadata.get("required"):
        return False
    return field.default is not MISSING or field.default_factory is not MISSING


def _optional(kind: Any) -> Decoder:
    decode = decoder(kind)
    return lambda value: None if value is None else decode(value)


def _choice(choices: tuple[Any, ...]) -> Decoder:
    allowed = {each: each for each in choices}

    def decode(value: Any) -> Any:
        if not isinstance(value, str) or value not in allowed:
            raise MalformedError(f"is {value!r:.60}, not one of {', '.join(choices)}")
        return allowed[value]

    return decode


def _items(decode_item: Decoder) -> Decoder:
    def decode(value: Any) -> tuple[Any, ...]:
        _expect(list, value)
        decoded = []
        for number, item in enumerate(value):
            try:
                decoded.append(decode_item(item))
            except MalformedError as error:
                raise error.inside(f"[{number}]") from None
        return tuple(decoded)

    return decode


def _mapping(decode_item: Decoder) -> Decoder:
    def decode(value: Any) -> dict[str, Any]:
        _expect(dict, value)
        decoded = {}
        for key, item in value.items():
            try:
                decoded[key] = decode_item(item)
            except MalformedError as error:
                raise error.inside(f".{visible(key, NAME)}") from None
        return decoded

    return decode


def _scalar(kind: type) -> Decoder:
    def decode(value: Any) -> Any:
        _expect(kind, value)
        return value

    return decode


def _number(value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and abs(value) < _EXACT:
        return float(value)
    raise MalformedError(f"is {value!r:.60}, not a number")


def _date(value: Any) -> dt.date:
    _expect(str, value)
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
        raise MalformedError(f"is {value!r:.60}, not a date such as 2026-12-31") from None


_PLAIN: Mapping[Any, Decoder] = {float: _number, dt.date: _date}

_EXACT = 2**53
"""Whole numbers below this are floats without loss."""


_JSON_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "an object",
}


def _expect(kind: type, value: Any) -> None:
    if type(value) is not kind:
        raise MalformedError(f"is {value!r:.60}, not {_JSON_NAMES[kind]}")
