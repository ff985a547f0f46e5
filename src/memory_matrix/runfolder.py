"""A temporary folder for one run, and the removal of those that killed runs left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "memory-matrix-run-"
_LOCK = "owner.lock"


@contextmanager
def run_folder() -> Iterator[Path]:
    """Yield a new folder that only this user can enter, and remove it afterwards.

    While the run lives it holds the folder's lock, so that the next run knows which folders are
    left over.
    """
    from filelock import FileLock

    parent = Path(tempfile.gettempdir())
    _sweep(parent)
    folder = parent / f"{_PREFIX}{os.urandom(6).hex()}"
    folder.mkdir(mode=0o700)
    lock = FileLock(folder / _LOCK)
    try:
        with lock:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove the folders of runs that are gone."""
    from filelock import FileLock, Timeout

    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError, Timeout):
            if folder.stat().st_uid != os.getuid() or not (folder / _LOCK).exists():
                continue
            with FileLock(folder / _LOCK, blocking=False):
                shutil.rmtree(folder, ignore_errors=True)
