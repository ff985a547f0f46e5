"""The log of a step, in which nothing but this package's own commands is a command.

GitHub's runner obeys lines that begin with `::`, and `##[` anywhere in a line, on both streams. Other
lines are changed a little where they hold these. Commands go to standard error, as progress does:
standard output is the report's alone.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from memory_matrix.github.commands import Annotation, Level

_COMMAND = re.compile(r"((?:\A|[\r\n])[\s\ufeff\u200b]*:):")
_OLD_COMMAND = "##["


def is_github() -> bool:
    """Return whether this is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def neutral(text: str) -> str:
    """Return whole lines of `text` as lines that the runner only shows."""
    return _COMMAND.sub(r"\1 :", text).replace(_OLD_COMMAND, "## [")


class GuardedStream:
    """A text stream whose lines are made neutral on their way; a line is written when it is whole."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rest = ""

    def write(self, text: str) -> int:
        """Write the lines that end in `text`; what follows them is kept for later."""
        whole, end, self._rest = (self._rest + text).rpartition("\n")
        if end:
            self._stream.write(neutral(whole) + end)
        return len(text)

    def flush(self) -> None:
        """Hand on what is written so far."""
        self._stream.flush()

    def end_line(self) -> None:
        """Write what is not a whole line yet as one."""
        if self._rest:
            self.write("\n")

    def command(self, line: str) -> None:
        """Write a command, a line of its own."""
        self.end_line()
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def issue(line: str, stream: TextIO | None = None) -> None:
    """Write a command to `stream` (standard error), guarded or not."""
    stream = stream or sys.stderr
    if isinstance(stream, GuardedStream):
        stream.command(line)
    else:
        print(line, file=stream, flush=True)


def say(level: Level, text: str, place: str | None = None) -> None:
    """Show `text` as an annotation of the tool itself; at `place`, where that is in the repository."""
    file, line = (None, None) if place is None else _in_repository(place)
    issue(str(Annotation(level, text, "memory-matrix", file, line)))


def _in_repository(place: str) -> tuple[str | None, int | None]:
    from memory_matrix.github.annotations import Places

    return Places.here().find(place)


@contextmanager
def guarded_errors() -> Iterator[None]:
    """Guard standard error, under GitHub Actions."""
    with _guard(sys.stderr) as stream, redirect_stderr(stream):
        yield


@contextmanager
def guarded_output() -> Iterator[None]:
    """Guard standard output, under GitHub Actions; for what people read, not for data."""
    with _guard(sys.stdout) as stream, redirect_stdout(stream):
        yield


@contextmanager
def _guard(stream: TextIO) -> Iterator[TextIO]:
    if not is_github() or isinstance(stream, GuardedStream):
        yield stream
        return
    guarded = GuardedStream(stream)
    try:
        yield cast("TextIO", guarded)
    finally:
        guarded.end_line()
