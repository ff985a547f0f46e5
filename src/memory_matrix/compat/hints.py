"""Say for each kind of break what caused it and what to do: the rules are in `hints.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from memory_matrix.report.model import Difference, Error, Outcome


@dataclass(frozen=True)
class Rule:
    """What a cell must look like; every part that is given must fit. Patterns are searched for."""

    outcome: tuple[str, ...] = ()
    stage: tuple[str, ...] = ()
    type: str = ""
    message: str = ""
    path: str = ""
    expected: str = ""
    got: str = ""

    def fits(self, outcome: Outcome, error: Error | None, diff: tuple[Difference, ...]) -> bool:
        """Say whether what became of a cell looks like this."""
        return (
            (not self.outcome or outcome in self.outcome)
            and self._fits_error(error)
            and self._fits_diff(diff)
        )

    def _fits_error(self, error: Error | None) -> bool:
        if not (self.stage or self.type or self.message):
            return True
        return (
            error is not None
            and (not self.stage or error.stage in self.stage)
            and _found(self.type, error.type)
            and _found(self.message, error.message)
        )

    def _fits_diff(self, diff: tuple[Difference, ...]) -> bool:
        if not (self.path or self.expected or self.got):
            return True
        return any(
            _found(self.path, each.path)
            and _found(self.expected, each.expected)
            and _found(self.got, each.got)
            for each in diff
        )


@dataclass(frozen=True)
class Example:
    """What became of a cell, in the words of a real library."""

    outcome: Outcome
    error: Error | None = None
    diff: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Hint:
    """A kind of break: its stable code, the cause in a sentence, and what to do about it."""

    code: str
    title: str
    cause: str
    advice: str
    when: tuple[Rule, ...]
    example: Example

    @property
    def text(self) -> str:
        """Cause and advice, as reports show them."""
        return f"{self.cause} {self.advice}"


@dataclass(frozen=True)
class Hints:
    """All hints, in the order in which they are tried."""

    all: tuple[Hint, ...]

    def explain(
        self, outcome: Outcome, error: Error | None, diff: tuple[Difference, ...]
    ) -> Hint | None:
        """Return the first hint that fits what became of a cell; None where nothing is wrong."""
        if outcome in {"ok", "skipped"}:
            return None
        return next(
            (
                each
                for each in self.all
                if any(rule.fits(outcome, error, diff) for rule in each.when)
            ),
            None,
        )


@cache
def load_hints() -> Hints:
    """Return the hints that come with the package."""
    from memory_matrix.toml import tomllib

    text = files("memory_matrix.compat").joinpath("hints.toml").read_text(encoding="utf-8")
    return Hints(tuple(_hint(item) for item in tomllib.loads(text)["hint"]))


def _hint(item: Mapping[str, Any]) -> Hint:
    return Hint(
        item["code"],
        item["title"],
        item["cause"],
        item["advice"],
        tuple(_rule(rule) for rule in item["when"]),
        _example(item["example"]),
    )


def _example(item: Mapping[str, Any]) -> Example:
    if "path" in item:
        difference = Difference(item["path"], item["expected"], item["got"])
        return Example(item["outcome"], diff=(difference,))
    return Example(item["outcome"], Error(item.get("stage", "load"), item["type"], item["message"]))


def _rule(rule: Mapping[str, Any]) -> Rule:
    parts: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in rule.items()
    }
    return Rule(**parts)


def _found(pattern: str, text: str) -> bool:
    return not pattern or _compiled(pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
