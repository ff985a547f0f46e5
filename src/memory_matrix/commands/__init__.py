"""The commands, one module each: `add` says what it takes, `call` does it and returns the exit code."""

from __future__ import annotations

from types import ModuleType


def modules() -> tuple[ModuleType, ...]:
    """Return the commands in the order in which help shows them."""
    from memory_matrix.commands import compat, doctor, init, merge, plan, report, run, suite

    return (run, compat, suite, plan, merge, report, init, doctor)
