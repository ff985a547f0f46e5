"""A temporary folder for one run, and the removal of those that killed runs left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PREFIX = "memory-matrix-run-"
_LOCK = "owner.lock"


@contextmanager
def run_folder() -> Iterator[Path]:
    """Yield a new folder that only this user can enter, and remove it afterwards.

    While the run lives it holds the folder's lock, so that the next run knows which folders are
    left over.

    Raises:
        OSError: the folder for temporary files cannot be written.
    """
    parent = Path(tempfile.gettempdir())
    _sweep(parent)
    folder, lock = _claim(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _claim(parent: Path) -> tuple[Path, BaseFileLock]:
    """Make a folder and hold its lock. Another run may sweep it away before it is held."""
    from filelock import FileLock

    while True:
        folder = parent / f"{_PREFIX}{os.urandom(6).hex()}"
        folder.mkdir(mode=0o700)
        lock = FileLock(folder / _LOCK)
        with suppress(FileNotFoundError, FileExistsError):
            lock.acquire()
            if (folder / _LOCK).exists():
                return folder, lock
            lock.release()


def _sweep(parent: Path) -> None:
    """Remove the folders of runs that are gone."""
    from filelock import FileLock, Timeout

    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError, Timeout):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            if not (folder / _LOCK).exists():
                folder.rmdir()  # where it is empty: its run was killed before it held the lock
                continue
            with FileLock(folder / _LOCK, blocking=False):
                shutil.rmtree(folder, ignore_errors=True)
