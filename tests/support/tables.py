"""Tables of values that one assertion is about: one test for all of them, which names what fails."""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

Test = Callable[..., None]
Arguments = dict[str, Any]
Ends = dict[str, BaseException]
"""What rows ended with that did not end well."""


def table(
    names: str | tuple[str, ...], rows: Iterable[Any] | Mapping[str, Any]
) -> Callable[[Test], Test]:
    """Try a test with every row, as `pytest.mark.parametrize` does, but as one test.

    For many values that take the same way: a test for each costs far more than what it checks.
    All rows are tried, with the same fixtures; those that fail are named together, by the keys of
    `rows` where it has any. Where some were skipped and no other fails, the test is skipped.
    """
    keyed = rows if isinstance(rows, Mapping) else {f"row {n}": row for n, row in enumerate(rows)}
    arguments = {key: _arguments(names, row) for key, row in keyed.items()}
    assert arguments, "a table without rows tries nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def tries_every_row(**fixtures: Any) -> None:
            failed, skipped = _tried(test, arguments, fixtures)
            if failed:
                raise AssertionError(_listed(failed, arguments)) from next(iter(failed.values()))
            if skipped:
                pytest.skip(_listed(skipped, arguments))

        signature = inspect.signature(test)
        named = {name for row in arguments.values() for name in row}
        left = [each for name, each in signature.parameters.items() if name not in named]
        tries_every_row.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return tries_every_row

    return decorate


def _arguments(names: str | tuple[str, ...], row: Any) -> Arguments:
    return {names: row} if isinstance(names, str) else dict(zip(names, row, strict=True))


def _tried(test: Test, arguments: dict[str, Arguments], fixtures: Arguments) -> tuple[Ends, Ends]:
    """Return what failed, and what was skipped."""
    failed: Ends = {}
    skipped: Ends = {}
    for key, row in arguments.items():
        try:
            test(**row, **fixtures)
        except pytest.skip.Exception as reason:
            skipped[key] = reason
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - in any way it can
            failed[key] = error
    return failed, skipped


def _listed(ends: Ends, arguments: dict[str, Arguments]) -> str:
    lines = [f"{len(ends)} of {len(arguments)} rows:"]
    for key, end in ends.items():
        shown = ", ".join(f"{name}={reprlib.repr(each)}" for name, each in arguments[key].items())
        lines.append(f"{key} ({shown}): {str(end).partition(chr(10))[0]}")
    return "\n".join(lines)
