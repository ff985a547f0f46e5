"""How the command line is entered: Ctrl-C ends it in the same way from its first import on.

Nothing is imported here that takes time: until this is loaded, an interrupt ends in a traceback.
"""

from __future__ import annotations

import sys
from importlib import import_module

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

SAID = "interrupted; everything it started is stopped."


def enter(module: str) -> int:
    """Return the exit code of the `main` of `module`, which is imported here."""
    try:
        code: int = import_module(module).main()
    except KeyboardInterrupt:  # before its own handling of signals began, or after that ended
        _say(f"memory-matrix: {SAID}")
        code = INTERRUPTED
    _forget_interrupts()
    return code


def _forget_interrupts() -> None:
    """See to it that the exit code is what `python -m` ends with, after an interrupt too.

    An interrupt of code that Python runs from a text, as imports do to make classes, is remembered even
    where it is handled, and the process then ends by the signal; the next text makes that forgotten.
    """
    exec("")  # noqa: S102 - this text is empty


def _say(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # nobody listens: the exit code still says it
        return
