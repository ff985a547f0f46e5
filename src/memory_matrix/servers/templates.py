"""Data folders that new Postgres servers of a run start from: copying takes a tenth of `initdb`."""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.binaries import Binary, reachable_folder, within_reach
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.processes import User, shortened_log, supervised
from memory_matrix.servers.recipes import Place, initdb

_POLL = 0.005


class Templates:
    """A data folder for each binary, made when the first server of it starts. For many threads."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
        self._made: dict[Path, Place] = {}

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

    def close(self) -> None:
        """Remove the folders."""
        with self._lock:
            self._stack.close()

    def _make(self, binary: Binary, user: User | None, launch: Launch) -> Place:
        with ExitStack() as stack:
            folder = stack.enter_context(reachable_folder(launch.folder, user))
            process = stack.enter_context(supervised(folder))
            place = Place(within_reach(binary, user, folder), folder, user, port=0)
            process.run([initdb(place, str(place.folder / "data"))], user=user)
            while (state := process.state()).running:
                launch.pause(_POLL)
            if state.code != 0:
                raise UnavailableError(
                    f"It could not make its data folder: {shortened_log(state.said)}."
                )
            with self._lock:
                self._stack.push(stack.pop_all())
        return place
