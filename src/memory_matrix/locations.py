"""Where payloads and adapters of the user are defined, as reports name it."""

from __future__ import annotations

import os
from pathlib import Path

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def location(file: str | None, line: int) -> str | None:
    """Return `payloads.py:12`, from the current folder where the file is in it, else absolute.

    None for what no file of the user's defines: what is built in, installed, or made by code alone.
    """
    if not file or not Path(file).is_file():
        return None
    path, here = Path(os.path.realpath(file)), Path(os.path.realpath("."))
    if not _INSTALLED.isdisjoint(path.parts):
        return None
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{shown.as_posix()}:{line}"
