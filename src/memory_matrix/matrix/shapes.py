"""The few shapes that a value in the matrix file has. Each one checks a value and is a JSON Schema."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from memory_matrix.matrix.problems import (
    At,
    Problem,
    as_json,
    did_you_mean,
    kind,
    listed,
    render,
    show,
)

Rule = Callable[[str, Path], Iterable[str]]
"""Yields what is wrong with a text; the path is the folder that relative paths start from."""

PRINTABLE = r"[^\x00-\x1f\x7f]+"
"""A pattern of Python and of JSON Schema: not empty, and no control characters."""


class Shape(Protocol):
    """What a value must be."""

    def problems(self, value: object, at: At, root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """A string. `pattern` is for the editor too; `rule` says what no pattern can."""

    allowed: str
    pattern: str = PRINTABLE
    rule: Rule | None = None
    longest: int = 2000
    """In characters. Nothing that is sound is longer, and libraries are slow on what is."""
    secret: bool = False
    """Whether the value itself stays out of sentences."""
    doc: str = ""
    default: str | None = None

    def problems(self, value: object, at: At, root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if not isinstance(value, str):
            what = f"is {kind(value)}{_unquoted(value)}; {self._must}"
            yield Problem(at, f"{self._shown(value)} {what}.")
        elif len(value) > self.longest:
            count = f"{len(value)} characters; it must be of at most {self.longest}"
            yield Problem(at, f"{self._shown(value)} has {count}.")
        elif not re.fullmatch(self.pattern, value):
            yield Problem(at, f"{self._shown(value)} cannot be; {self._must}.")
        else:
            for sentence in self.rule(value, root) if self.rule else ():
                yield Problem(at, sentence)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        limits = {"pattern": f"^(?:{self.pattern})$", "maxLength": self.longest}
        return _described({"type": "string", **limits}, self.doc, self.default)

    def _shown(self, value: object) -> str:
        return "the value" if self.secret else show(value)

    @property
    def _must(self) -> str:
        return f"it must be {self.allowed}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]
    doc: str = ""
    default: str | None = None

    def problems(self, value: object, at: At, _root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if not isinstance(value, str) or value not in self.words:
            hint = did_you_mean(value, self.words)
            yield Problem(at, f"{show(value)} is not one of {listed(self.words)}.{hint}")

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        return _described({"enum": list(self.words)}, self.doc, self.default)


@dataclass(frozen=True, kw_only=True)
class Number:
    """A finite number between two bounds, `maximum` included. TOML's true and false are none."""

    whole: bool = False
    minimum: float = 0
    above: bool = False
    """Whether `minimum` itself is too little."""
    maximum: float
    unit: str
    doc: str = ""
    default: float | None = None

    def problems(self, value: object, at: At, _root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield Problem(at, f"{show(value)} is {kind(value)}; it must be {self._allowed}.")
        elif not self._holds(value):
            yield Problem(at, f"{show(value)} cannot be; it must be {self._allowed}.")

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        lower = "exclusiveMinimum" if self.above else "minimum"
        schema = {"type": "integer" if self.whole else "number", lower: self.minimum}
        return _described({**schema, "maximum": self.maximum}, self.doc, self.default)

    def _holds(self, value: float) -> bool:
        if not isinstance(value, int) and (self.whole or not math.isfinite(value)):
            return False
        return self.minimum <= value <= self.maximum and not (self.above and value == self.minimum)

    @property
    def _allowed(self) -> str:
        number = "a whole number" if self.whole else "a number"
        lower = f"above {self.minimum}" if self.above else f"of at least {self.minimum}"
        return f"{number} of {self.unit}, {lower} and at most {self.maximum}"


@dataclass(frozen=True, kw_only=True)
class Day:
    """A date, or a string that holds one."""

    doc: str = ""

    def problems(self, value: object, at: At, _root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if to_date(value) is None:
            yield Problem(at, f"{show(value)} is no date; it must be a date such as 2026-12-31.")

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        pattern = r"^\d{4}-\d{2}-\d{2}$"
        return _described({"type": "string", "format": "date", "pattern": pattern}, self.doc)


@dataclass(frozen=True, kw_only=True)
class Items:
    """A list. Two items with the same identity are one too many."""

    item: Shape
    at_least: int = 0
    identity: Callable[[str], Hashable] = str
    """Of an item that is a string."""
    doc: str = ""
    default: tuple[str, ...] | None = None

    def problems(self, value: object, at: At, root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if not isinstance(value, list):
            hint = f" Write [{show(value)}]." if isinstance(value, str | dict) else ""
            yield Problem(at, f"{show(value)} is {kind(value)}; it must be a list.{hint}")
            return
        if len(value) < self.at_least:
            yield Problem(at, f"the list is empty; it must hold {self.at_least} or more.")
        for number, item in enumerate(value):
            yield from self.item.problems(item, (*at, number), root)
        yield from self._repeated(value, at)

    def _repeated(self, items: list[object], at: At) -> Iterator[Problem]:
        first: dict[Hashable, int] = {}
        for number, item in enumerate(items):
            identity = self.identity(item) if isinstance(item, str) else as_json(item)
            other = first.setdefault(identity, number)
            if other != number:
                sentence = f"{show(item)} is {render((*at, other))} again; list it once."
                yield Problem((*at, number), sentence)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        schema = {"type": "array", "items": self.item.schema(), "uniqueItems": True}
        if self.at_least:
            schema["minItems"] = self.at_least
        return _described(schema, self.doc, None if self.default is None else list(self.default))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table whose keys are known."""

    keys: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    """Keys at least one of which must be there."""
    nothing: str = "it names nothing"
    """What is so where none of them is."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Keys that belong somewhere else, and a sentence that says where."""
    doc: str = ""

    def problems(self, value: object, at: At, root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if not isinstance(value, dict):
            yield Problem(at, f"{show(value)} is {kind(value)}; it must be a table.")
            return
        for key in value:
            if key in self.keys:
                yield from self.keys[key].problems(value[key], (*at, key), root)
            else:
                yield Problem((*at, key), self._unknown(key))
        for key in self.required:
            if key not in value:
                yield Problem(at, f"{show(key)} is missing; add it.")
        if self.one_of and not any(key in value for key in self.one_of):
            yield Problem(at, f"{self.nothing}; add one or more of {listed(self.one_of)}.")

    def _unknown(self, key: str) -> str:
        if key in self.elsewhere:
            return f"no such key; {self.elsewhere[key]}"
        return f"no such key; there are {listed(self.keys)}.{did_you_mean(key, self.keys)}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        properties = {key: shape.schema() for key, shape in self.keys.items()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if self.required:
            schema["required"] = list(self.required)
        if self.one_of:
            schema["anyOf"] = [{"required": [key]} for key in self.one_of]
        return _described({**schema, "additionalProperties": False}, self.doc)


@dataclass(frozen=True, kw_only=True)
class Open:
    """A table whose keys the user chooses."""

    key: Text
    value: Shape
    identity: Callable[[str], Hashable] = str
    """Of a key; two keys with the same one are one too many."""
    at_least: int = 0
    doc: str = ""

    def problems(self, value: object, at: At, root: Path, /) -> Iterator[Problem]:
        """Yield what is wrong with `value`, which stands at `at`."""
        if not isinstance(value, dict):
            yield Problem(at, f"{show(value)} is {kind(value)}; it must be a table.")
            return
        if len(value) < self.at_least:
            yield Problem(at, f"the table is empty; it must hold {self.at_least} or more keys.")
        first: dict[Hashable, str] = {}
        for key, item in value.items():
            yield from self.key.problems(key, (*at, key), root)
            yield from self.value.problems(item, (*at, key), root)
            other = first.setdefault(self.identity(key), key)
            if other != key:
                yield Problem((*at, key), f"this is {show(other)} again; give it once.")

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of it."""
        schema: dict[str, Any] = {
            "type": "object",
            "propertyNames": self.key.schema(),
            "additionalProperties": self.value.schema(),
        }
        if self.at_least:
            schema["minProperties"] = self.at_least
        return _described(schema, self.doc)


def to_date(value: object) -> dt.date | None:
    """Return the date that `value` is or, as a string, holds; None if it is or holds none."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return None
    return None


def _unquoted(value: object) -> str:
    if isinstance(value, float):
        return ", and without quotes TOML reads 3.10 as 3.1: put it in quotes"
    return ": put it in quotes" if isinstance(value, int) else ""


def _described(schema: dict[str, Any], doc: str, default: object = None) -> dict[str, Any]:
    described = {"description": doc, **schema} if doc else schema
    return described if default is None else {**described, "default": default}
