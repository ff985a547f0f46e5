"""Data folders that new Postgres servers start from: copying takes a tenth of `initdb`.

A run has one for each binary. It starts itself from one in the cache, which an earlier run made by a
server's wheel, and whose password is not known any more: each run has a password of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from memory_matrix.environments import cache as caches
from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.servers.binaries import Binary, within_reach
from memory_matrix.servers.folders import give, reachable_folder
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.processes import Supervised, User, shortened_log, supervised
from memory_matrix.servers.recipes import INITDB_OPTIONS, Place, initdb, new_password

_POLL = 0.005
_SECTION = "data-folders"
_ZONE = Path("/etc/localtime")
"""What `initdb` takes the server's time zone from."""


class Templates:
    """A data folder for each binary, made when the first server of it starts. For many threads."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
        self._made: dict[Path, Place] = {}
        self._processes: list[Supervised] = []

    def of(self, binary: Binary, user: User | None, launch: Launch) -> Place:
        """Return the place of a Postgres that never runs, its folder `data` filled.

        Raises:
            UnavailableError: the folder cannot be had.
            ReleasedError: it was not wanted any more before it was there.
        """
        with self._lock:
            lock = self._locks[binary.path]
        with lock:
            if binary.path not in self._made:
                self._made[binary.path] = self._make(binary, user, launch)
            return self._made[binary.path]

    def leave(self) -> None:
        """Let the folders be removed, which `close` waits for: no server starts from them any more."""
        with self._lock:
            for process in self._processes:
                process.leave()

    def close(self) -> None:
        """Remove the folders."""
        with self._lock:
            self._stack.close()

    def _make(self, binary: Binary, user: User | None, launch: Launch) -> Place:
        with ExitStack() as stack:
            folder = stack.enter_context(reachable_folder(launch.folder, user))
            process = stack.enter_context(supervised(folder))
            place = Place(within_reach(binary, user, folder), folder, user, port=0)
            _fill(process, place, _kept(binary, launch.cache), launch)
            with self._lock:
                self._stack.push(stack.pop_all())
                self._processes.append(process)
        return place


def _fill(process: Supervised, place: Place, kept: Path | None, launch: Launch) -> None:
    """Fill the place's folder `data`, from the `kept` one where there is one."""
    data = place.folder / "data"
    if kept is not None and _is_whole(kept):
        password = new_password(place, str(data))
        if _copied(kept, data, place.user):
            if _complaint(process, password, place, launch) is None:
                return
            shutil.rmtree(kept, ignore_errors=True)  # somebody has damaged it
        shutil.rmtree(data, ignore_errors=True)
    said = _complaint(process, initdb(place, str(data)), place, launch)
    if said is not None:
        raise UnavailableError(f"It could not make its data folder: {shortened_log(said)}.")
    if kept is not None:
        _keep(data, kept)


def _complaint(
    process: Supervised, command: Sequence[str], place: Place, launch: Launch
) -> str | None:
    """Run a command to its end; return what it said where it failed."""
    # Killed at once it would leave shared memory behind.
    process.run([command], user=place.user, stop_signal=signal.SIGTERM)
    while (state := process.state()).running:
        launch.pause(_POLL)
    return None if state.code == 0 else state.said


def _kept(binary: Binary, cache: Path) -> Path | None:
    """Return where the data folder of a wheel's binary is kept; None for binaries that may change."""
    if binary.tree is None:
        return None
    zone = _ZONE.read_bytes() if _ZONE.is_file() else b""
    made_by = (*INITDB_OPTIONS, str(binary.path.relative_to(binary.tree)))
    digest = hashlib.blake2b("\0".join(made_by).encode() + zone, digest_size=12).hexdigest()
    return cache / _SECTION / f"{binary.tree.name}-{digest}"


def _is_whole(kept: Path) -> bool:
    return os.path.isfile(kept / "PG_VERSION")  # noqa: PTH113 - False too where that cannot be seen


def _keep(data: Path, kept: Path) -> None:
    """Keep a copy of a data folder for later runs, where the cache can be written."""
    with suppress(MemoryMatrixError, OSError):
        caches.section(kept.parents[1], _SECTION)
        caches.obtain(kept, is_good=_is_whole, make=lambda folder: _kept_copy(data, folder))


def _kept_copy(data: Path, folder: Path) -> None:
    if not _copied(data, folder, None):
        raise OSError(f"{folder} cannot be filled")


def _copied(source: Path, target: Path, user: User | None) -> bool:
    """Copy a data folder; the copy belongs to `user`. Return whether it is whole."""
    done = subprocess.run(["cp", "-R", source, target], capture_output=True, check=False)
    for folder, _, files in os.walk(target) if user is not None else ():
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            give(path, user)
    return done.returncode == 0
