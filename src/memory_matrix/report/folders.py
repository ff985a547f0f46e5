"""Where reports can be written, known before there is one. Quick to import: every command line asks."""

from __future__ import annotations

import os
from pathlib import Path

from memory_matrix.errors import UsageError


def check_folder(folder: Path) -> None:
    """Make sure that reports can be written to `folder`, before a run takes its time.

    Raises:
        UsageError: something else is there, or it cannot be made or written.
    """
    if problem := why_not(folder):
        raise UsageError(
            f"No report can be written to {str(folder)!r}: {problem}. Name another folder with"
            " --report-dir."
        )


def why_not(folder: Path) -> str | None:
    """Return why no file can be made in `folder`, which is made when missing; None where one can."""
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if _is_there(each))
    except OSError as error:
        return f"{str(error.filename)!r}: {error.strerror or error}"
    if not there.is_dir():
        return f"{str(there)!r} is no folder"
    return None if os.access(there, os.W_OK | os.X_OK) else f"{str(there)!r} may not be written to"


def _is_there(path: Path) -> bool:
    """Return whether anything is there, be it a link to nothing.

    Raises:
        OSError: nobody can tell.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
