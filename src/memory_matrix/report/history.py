"""What runs found over time: a file of JSON lines, one for each run."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report.appending import append_whole
from memory_matrix.report.baseline import Changes, cell_changes, suite_changes
from memory_matrix.report.decoding import Decoder, MalformedError, decoder
from memory_matrix.report.folders import why_not
from memory_matrix.report.grouping import unavailable
from memory_matrix.report.model import Report

_CUT = 200
"""Characters of a line that a refusal shows."""


@dataclass(frozen=True)
class Entry:
    """One run in numbers. Later releases may add fields; those that have no value here stay."""

    time: str
    """UTC, such as `2026-03-01T12:00:00Z`."""
    cells: int
    breaks: int
    """Known ones too."""
    commit: str | None = None
    """What was checked out; None where nobody knows."""
    version: str = ""
    """The version of memory-matrix."""
    matrix: str | None = None
    digest: str = ""
    """What the matrix runs, in short: numbers of another one cannot be compared. What it excuses, and what
    fails a run, is not in it: the numbers tell that by themselves."""
    known: int = 0
    new: int | None = None
    """Breaks that are not known and not in the baseline; None without one."""
    fixed: int | None = None
    """Breaks of the baseline that break no more; None without one."""
    drifted: int = 0
    skipped: int = 0
    cases: int = 0
    passed: int = 0
    failed: int = 0
    new_failed: int | None = None
    """Failed cases that did not fail in the baseline; None without one."""
    fixed_cases: int | None = None
    """Failed cases of the baseline that passed; None without one."""
    errors: int = 0
    """Cases that could not be run."""
    waived: int = 0
    missing: int = 0
    """Parts of the matrix that no shard reported."""
    unavailable: int = 0
    """Environments, servers and stores that could not be had."""


def entry(report: Report) -> Entry:
    """Return `report` in numbers."""
    summary, suite = report.summary(), report.suite_summary()
    of_cells, of_cases = cell_changes(report), suite_changes(report)
    return Entry(
        time=report.time or "",
        commit=report.commit,
        version=report.version,
        matrix=report.matrix,
        digest=report.digest,
        **{key: summary[key] for key in ("cells", "breaks", "known", "drifted", "skipped")},
        **{key: suite[key] for key in ("cases", "passed", "failed", "waived")},
        new=_new(of_cells),
        fixed=_fixed(of_cells),
        new_failed=_new(of_cases),
        fixed_cases=_fixed(of_cases),
        errors=suite["error"],
        missing=len(report.missing),
        unavailable=sum(map(len, unavailable(report).values())),
    )


def _new(changes: Changes | None) -> int | None:
    return None if changes is None else changes.new


def _fixed(changes: Changes | None) -> int | None:
    return None if changes is None else changes.fixed


def check(path: Path) -> None:
    """Make sure that entries can be added to `path`, before a run takes its time.

    Raises:
        UsageError: it is there, and is no history.
    """
    try:
        if path.is_file():
            read(path)
            _check_writable(path)
        elif path.exists():
            raise UsageError(f"The history {str(path)!r} is no file; name a file of JSON lines.")
        else:
            _check_folder(path)
    except OSError as error:
        raise UsageError(
            f"The history {str(path)!r} cannot be read: {error.strerror or error}."
        ) from None


def _check_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise UsageError(
            f"The history {str(path)!r} cannot be written; name another file, or let it be written."
        )


def _check_folder(path: Path) -> None:
    if problem := why_not(path.parent):
        raise UsageError(
            f"The history {str(path)!r} cannot be made: {problem}; name a file in a folder that can"
            " be written to."
        )


def read(path: Path) -> tuple[Entry, ...]:
    """Return the entries of `path`, in the order in which they were added.

    Raises:
        UsageError: a line of it is no entry.
        OSError: it cannot be read.
    """
    return tuple(_entries(path, path.read_bytes()))


def append(path: Path, added: Entry) -> None:
    """Add an entry to the end of `path`, which is made when missing: whole, or not at all.

    Raises:
        UsageError: the file is no history.
        MemoryMatrixError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path) as file:
            held = file.read()
            for _ in _entries(path, held):
                pass
            gap = b"\n" if held and not held.endswith(b"\n") else b""
            append_whole(file.fileno(), gap + json.dumps(asdict(added)).encode() + b"\n")
    except OSError as error:
        raise MemoryMatrixError(
            f"The history {str(path)!r} cannot be written: {error.strerror or error}. Name another"
            " file with --history, or make room and room to write there."
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[FileIO]:
    """Open `path` for this process alone; the lock is the file's own and ends with the process."""
    with path.open("a+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file


def _entries(path: Path, held: bytes) -> Iterator[Entry]:
    decode: Decoder = decoder(Entry)
    for number, line in enumerate(held.split(b"\n"), 1):
        if line.strip():
            try:
                yield decode(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise UsageError(_refusal(path, number, line, error)) from None


def _refusal(path: Path, number: int, line: bytes, error: Exception) -> str:
    shown = line.decode("utf-8", "backslashreplace")[:_CUT]
    what = str(error) if isinstance(error, MalformedError) else "it is no JSON"
    return (
        f"The history {str(path)!r} is not one of memory-matrix: line {number} is {shown!r}, and"
        f" {what}. Name another file, or take that line out."
    )
