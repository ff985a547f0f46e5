"""Expectations whose failure says what was expected and what came, in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from memory_matrix.suite.outcomes import CaseFailed

_LONGEST = 300
_DRIVERS = frozenset(("psycopg", "psycopg2", "asyncpg", "sqlalchemy", "redis", "valkey"))


def equal(what: str, got: Any, wanted: Any) -> None:
    """Fail unless `got` equals `wanted`, types included (1, 1.0 and True are three values)."""
    if not same(got, wanted):
        raise CaseFailed(f"{what}: expected {shown(wanted)}, got {shown(got)}{_where(got, wanted)}")


def true(condition: object, what: str) -> None:
    """Fail with the sentence `what` unless `condition` holds."""
    if not condition:
        raise CaseFailed(what)


def contents(what: str, got: Collection[Any], wanted: Collection[Any]) -> None:
    """Fail unless `got` holds just what `wanted` does, in any order; says what is missing or too much."""
    missing, extra = _minus(wanted, got), _minus(got, wanted)
    if missing or extra:
        raise CaseFailed(
            f"{what}: expected {len(wanted)} items, got {len(got)}"
            + (f"; missing {shown(missing)}" if missing else "")
            + (f"; not expected {shown(extra)}" if extra else "")
        )


def own_error(what: str, refusal: BaseException) -> None:
    """Fail where a refusal is a raw error of what talks to a database."""
    kind = type(refusal)
    if kind.__module__.partition(".")[0] in _DRIVERS:
        raise CaseFailed(
            f"{what}: expected a refusal of the store's own, got a raw database error, "
            f"{kind.__module__}.{kind.__qualname__}: {shown(str(refusal))}"
        )


def same(got: Any, wanted: Any) -> bool:
    """Return whether two plain values are equal in type and value, at every depth."""
    todo = [(got, wanted)]
    while todo:  # no recursion: metadata may be nested as deep as anybody likes
        left, right = todo.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if not _same_keys(left, right):
                return False
            todo.extend((each, right[key]) for key, each in left.items())
        elif isinstance(left, list | tuple) and isinstance(right, type(left)):
            if type(left) is not type(right) or len(left) != len(right):
                return False
            todo.extend(zip(left, right, strict=True))
        elif not _same_scalar(left, right):
            return False
    return True


def shown(value: Any) -> str:
    """Return `value` in at most 300 characters, with every odd character escaped."""
    try:
        text = ascii(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deep to show"
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 60]}...{text[-40:]} ({len(text)} characters)"


def _same_keys(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if {*map(type, left)} == {str} == {*map(type, right)}:  # as most are, and quickly told
        return left.keys() == right.keys()
    return _typed(left) == _typed(right)


def _typed(keys: Collection[Any]) -> set[tuple[type, Any]]:
    return {(type(key), key) for key in keys}


def _same_scalar(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return float.hex(left) == float.hex(right)  # tells -0.0 from 0.0, and takes NaN for NaN
    equal_values: bool = left == right
    return equal_values


def _where(got: Any, wanted: Any) -> str:
    """Return at which index two sequences differ first."""
    if not isinstance(got, Sequence) or not isinstance(wanted, Sequence):
        return ""
    if isinstance(got, str | bytes) and isinstance(wanted, str | bytes) and len(got) < 40:
        return ""
    pairs = enumerate(zip(got, wanted, strict=False))
    index = next((at for at, (left, right) in pairs if not same(left, right)), None)
    if index is not None:
        return f"; first different at {index}"
    return f"; lengths {len(got)} and {len(wanted)}" if len(got) != len(wanted) else ""


def _minus(left: Collection[Any], right: Collection[Any]) -> list[Any]:
    rest = list(right)
    missing = []
    for each in left:
        if each in rest:
            rest.remove(each)
        else:
            missing.append(each)
    return missing
