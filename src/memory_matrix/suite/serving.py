"""What a run has one of: the servers, and whoever cleans up on servers that were given by URL."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from memory_matrix.isolation.names import new_token
from memory_matrix.servers.client import ADDRESS

if TYPE_CHECKING:
    from memory_matrix.isolation.sweeper import Kind, Sweeper


class Host:
    """Belongs to the controller of a run, or to its only process. For any number of threads."""

    def __init__(self) -> None:
        self.token = new_token()
        """What tells the run's names from those of all others."""
        self._address = os.environ.get(ADDRESS)  # as it is before code of users can change it
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._sweeper: Sweeper | None = None
        self._swept: set[tuple[Kind, str]] = set()

    def address(self) -> str:
        """Return the address of the service that owns the run's servers; starts it where there is none.

        Raises:
            UnavailableError: the machine has no place for it.
        """
        with self._lock:
            if self._address is None:
                self._address = self._stack.enter_context(serving())
            return self._address

    def sweep(self, kind: Kind, url: str) -> None:
        """Have what this run makes on a server given by URL removed in the end, also after a kill."""
        with self._lock:
            if (kind, url) not in self._swept:
                self._swept.add((kind, url))
                self._started_sweeper().sweep(kind, url)

    def mind(self, worker: int) -> None:
        """Say that the process `worker` uses such a server: cleaning up waits for its end."""
        with self._lock:
            self._started_sweeper().mind(worker)

    def close(self) -> None:
        """End the servers, and clean up.

        Raises:
            MemoryMatrixError: something could not be removed.
        """
        self._stack.close()

    def _started_sweeper(self) -> Sweeper:
        if self._sweeper is None:
            from memory_matrix.isolation.sweeper import Sweeper

            self._sweeper = Sweeper(self.token)
            self._stack.callback(self._sweeper.close)
        return self._sweeper


@contextmanager
def serving() -> Iterator[str]:
    """Own the run's servers for the block; yield the address, which processes started in it find.

    Raises:
        UnavailableError: the machine has no place for it.
    """
    from memory_matrix.environments.cache import default_cache
    from memory_matrix.runfolder import run_folder
    from memory_matrix.servers.processes import supervised
    from memory_matrix.servers.service import serve
    from memory_matrix.servers.starting import no_place

    with ExitStack() as stack:
        try:
            folder = stack.enter_context(run_folder())
            stack.enter_context(supervised(folder))  # so that it goes when this process is killed
        except OSError as error:
            raise no_place(error) from None
        address = stack.enter_context(serve(folder, default_cache()))
        os.environ[ADDRESS] = address
        stack.callback(os.environ.pop, ADDRESS, None)
        yield address
