"""Paths that a matrix file names."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Literal

Found = Literal["file", "folder", "nothing", "something else"]


def absolute(text: str, root: Path) -> Path:
    """Return a path of the matrix file without `~`, and from `root` where it is relative."""
    try:
        return root / Path(text).expanduser()
    except RuntimeError:  # there is no such user
        return root / text


def what_is_at(path: Path) -> Found:
    """Return what is at `path`; `nothing` too where the system refuses to look."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "something else"
