"""Folders of servers' own: where their users may go, and the removal of those that killed runs left."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.processes import User

_PREFIX = "memory-matrix-server-"
_NEW = 60.0
"""Seconds in which who makes a folder comes to lock it."""
_MEMORY = Path("/dev/shm")  # noqa: S108
_ROOMY = 4 << 30
"""Bytes that a file system in memory has to have left. In containers it rarely has."""


@contextmanager
def reachable_folder(folder: Path, user: User | None) -> Iterator[Path]:
    """Make a folder of the user's own, mode 700, in `folder` or else a temporary one; remove it.

    Where there is much memory and nobody chose a folder for temporary files, it is in memory: on a
    disk, where files were just deleted, making one can take the most of what a small table takes.

    The server's supervisor removes it when this process is killed. Where that was killed as well, the
    next one that is made beside it does so: nobody holds its lock any more.

    Raises:
        UnavailableError: `user` can reach neither.
    """
    memory = [_MEMORY] if "TMPDIR" not in os.environ and _is_roomy(_MEMORY) else []
    for parent in (*memory, folder, Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108
        if parent.is_dir() and is_reachable(parent / "any", user):
            _sweep(parent, user)
            with _held(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))) as new:
                give(new, user)
                yield new
            return
    raise UnavailableError(
        f"Postgres refuses to run as root, and the user it runs as instead can reach neither {folder} "
        f"nor {tempfile.gettempdir()}: run memory-matrix as an ordinary user."
    )


def is_reachable(path: Path, user: User | None) -> bool:
    """Return whether `user` may pass through every folder above `path`."""
    return user is None or all(
        _may(folder, user, stat.S_IXUSR, stat.S_IXGRP, stat.S_IXOTH)
        for folder in path.resolve().parents
    )


def give(path: Path, user: User | None) -> None:
    """Make `user` the owner of `path`."""
    if user is not None:
        os.chown(path, user.uid, user.gid)


@contextmanager
def _held(new: Path) -> Iterator[Path]:
    """Hold the lock of a folder, and remove it when the block is left."""
    lock = os.open(new, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some file systems have no locks: what is left there is not swept.
            _lock(lock)
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path, user: User | None) -> None:
    """Remove what is left in `parent` by runs of this user that are gone."""
    owners = {os.geteuid(), *([] if user is None else [user.uid])}
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # It is held, or gone.
            found = folder.lstat()
            if found.st_uid in owners and time.time() - found.st_mtime > _NEW:
                _remove_unheld(folder)


def _remove_unheld(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _lock(lock)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _lock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _may(folder: Path, user: User, *modes: int) -> bool:
    status = folder.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & modes[0])
    if status.st_gid == user.gid:
        return bool(status.st_mode & modes[1])
    return bool(status.st_mode & modes[2])


def _is_roomy(folder: Path) -> bool:
    """Return whether there is room for servers in `folder`, and programs may be run from it."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    writable = not found.f_flag & os.ST_RDONLY and os.access(folder, os.W_OK | os.X_OK)
    runs = not found.f_flag & getattr(os, "ST_NOEXEC", 0)
    return writable and runs and found.f_bavail * found.f_frsize > _ROOMY
