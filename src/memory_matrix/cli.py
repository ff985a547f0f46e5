"""The command line: options in, one call, exit code out."""

from __future__ import annotations

import argparse
import errno
import functools
import gc
import io
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memory_matrix import __version__
from memory_matrix.commands import modules
from memory_matrix.commands.options import EXIT_CODES, Parser
from memory_matrix.entry import INTERRUPTED, SAID
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.github import log
from memory_matrix.report.visible import visible

_WIDEST = 10
"""Characters of the longest escape that stands for one."""

TRACEBACK = "MEMORY_MATRIX_TRACEBACK"
"""The variable that shows where a defect of the tool itself is."""

CLEANING = 5.0
"""Seconds after a signal to end in which others are taken for the same wish."""

_GARBAGE = (50_000, 20, 20)
"""After how many new objects to look for garbage: a command loads much and leaves little behind."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_DESCRIPTION = """\
Find what breaks in AI-agent memory when versions change.

memory-matrix writes memory in each environment of a matrix (Python versions, package versions,
releases of your app), keeps the bytes on real Redis and Postgres servers, reads them in every other
environment, and reports what breaks. Without a matrix file it runs a small built-in matrix.
"""

_EPILOG = f"""\
{EXIT_CODES}
examples:
  memory-matrix compat                          write, read and compare what this folder's matrix says
  memory-matrix suite                           test stores on real servers
  memory-matrix run                             both
  memory-matrix plan                            show what the matrix file expands to
  memory-matrix compat --select 'serializer=pickle reader=next'
  memory-matrix report --from memory-matrix-report
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; every error is one paragraph on stderr."""
    _prepare_streams()
    gc.set_threshold(*_GARBAGE)
    with log.guarded_errors():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        with _signals():
            return _run(arguments)
    except MemoryMatrixError as error:
        _complain(str(error), error.place)
        return error.exit_code
    except OSError as error:
        _complain(_about(error))
        return MemoryMatrixError.exit_code
    except Exception as error:  # noqa: BLE001 - a defect of the tool must not pass for a finding
        _complain(about_defect(error))
        return MemoryMatrixError.exit_code
    except KeyboardInterrupt:
        _say(SAID)
        return INTERRUPTED
    except _TerminatedError as terminated:
        _say("terminated; everything it started is stopped.")
        return 128 + terminated.number


def _run(arguments: Sequence[str] | None) -> int:
    try:
        try:
            options = parser().parse_args(arguments)
            code: int = options.module.call(options)
            return code
        finally:
            _flush()
    except BrokenPipeError:  # nobody reads: `| head`
        return 128 + signal.SIGPIPE


def _complain(text: str, place: str | None = None) -> None:
    """Say what ended the run; a step of GitHub Actions shows it as its error, at its place.

    What it quotes, such as a name in a file, is only text to the terminal.
    """
    lines = text.expandtabs().split("\n")
    text = "\n".join(visible(line, _WIDEST * len(line)) for line in lines)
    if not log.is_github():
        _say(f"error: {text}")
        return
    with _perhaps_unheard():
        log.say("error", text, place)


def _say(text: str) -> None:
    with _perhaps_unheard():
        print(f"memory-matrix: {text}", file=sys.stderr)


@contextmanager
def _perhaps_unheard() -> Iterator[None]:
    """Let go of what nobody reads: the exit code still says how it ended."""
    try:
        yield
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _flush() -> None:
    """Print what is not printed yet, or let it go: Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _prepare_streams() -> None:
    """See to it that nothing which is printed can fail for where it is printed to."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us: `>&-`
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold any character


def about_defect(error: Exception) -> str:
    """Return what is said of an error that nobody foresaw: a paragraph, or where it comes from."""
    import traceback

    if os.environ.get(TRACEBACK):
        return "".join(traceback.format_exception(error)).rstrip()
    return (
        f"a defect of memory-matrix itself, {type(error).__name__}: {error}."
        f" Please report it with what {TRACEBACK}=1 shows."
    )


def _about(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    advice = ""
    if error.errno == errno.ENOSPC and not where:
        import tempfile

        advice = f": make room for temporary files, in {tempfile.gettempdir()}, for reports and for what is printed"
    return f"The system does not let it: {where}{error.strerror or error}{advice}."


class _TerminatedError(BaseException):
    """SIGTERM or SIGHUP, raised in the main thread so that everything is cleaned up on its way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _signals() -> Iterator[None]:
    """Raise an exception in the main thread when a signal asks this process to end.

    What follows it within seconds, such as a second Ctrl-C, must not disturb the cleaning up.
    """
    last = -math.inf

    def end(number: int, _: object) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < CLEANING:
            return
        last = now
        raise KeyboardInterrupt if number == signal.SIGINT else _TerminatedError(number)

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # `nohup`, or in the background of a script
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@functools.cache
def parser() -> Parser:
    """Return the parser; what it gives has the command's name as `command`."""
    made = Parser(
        prog="memory-matrix",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"memory-matrix {__version__}")
    commands = made.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for module in modules():
        module.add(commands).set_defaults(module=module)
    return made
