"""Things made ahead by a thread, so that who wants one has it at once."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

PATIENCE = 5.0
"""Seconds that a server gets to answer when all is over."""


class Stock:
    """Names of what is made ahead and, once given back, dropped in turn. For many threads.

    Makes nothing before the first is taken, then `ahead` more than are wanted; drops none while no more
    than `keep` were given back.
    What `drop` raises of the kinds `quietly` is left to whoever cleans up in the end.
    """

    def __init__(
        self,
        make: Callable[[], str],
        drop: Callable[[str], object],
        *,
        ahead: int,
        keep: int,
        quietly: tuple[type[Exception], ...],
    ) -> None:
        self._make = make
        self._drop = drop
        self._ahead = ahead
        self._keep = keep
        self._quietly = quietly
        self._changed = threading.Condition()
        self._ready: deque[str | Exception] = deque()
        self._used: deque[str] = deque()
        self._wanted = 0
        self._failed = False
        self._thread: threading.Thread | None = None
        self._closed = False

    def take(self) -> str:
        """Return a name that nobody else gets.

        Raises:
            Exception: what making it raised.
        """
        with self._changed:
            self._start()
            self._wanted += 1
            try:
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._ready or self._closed)
                taken = self._ready.popleft() if self._ready else RuntimeError("it is closed")
            finally:
                self._wanted -= 1
                self._changed.notify_all()
        if isinstance(taken, Exception):
            raise taken
        return taken

    def give_back(self, name: str) -> None:
        """Let `name` be dropped."""
        with self._changed:
            self._used.append(name)
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread; one that a hung server keeps waiting goes with the process."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _start(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(
                target=self._work, name="memory-matrix-stock", daemon=True
            )
            self._thread.start()

    def _work(self) -> None:
        while (task := self._next()) is not None:
            task()

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next thing to do; None when all is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._lacks() or self._is_full())
            if self._closed:
                return None
            return self._add if self._lacks() else self._drop_oldest

    def _lacks(self) -> bool:
        # After a failure nothing is made before somebody asks again.
        ahead = 0 if self._failed else self._ahead
        return len(self._ready) < max(ahead, self._wanted)

    def _is_full(self) -> bool:
        return len(self._used) > self._keep

    def _add(self) -> None:
        made: str | Exception
        try:
            made = self._make()
        except Exception as error:  # noqa: BLE001 - it is raised where the name is wanted
            made = error
        with self._changed:
            self._failed = isinstance(made, Exception)
            if not self._failed or self._wanted:
                self._ready.append(made)
            self._changed.notify_all()

    def _drop_oldest(self) -> None:
        with self._changed:
            name = self._used.popleft()
        with contextlib.suppress(*self._quietly):
            self._drop(name)
