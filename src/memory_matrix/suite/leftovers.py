"""What is left in this process of a store that was closed."""

from __future__ import annotations

import threading
import time

_OTHERS = ("memory-suite", "memory-matrix", "Dummy-")
"""How the names begin of threads of the suite's own, and of those that Python did not start."""
MOMENT = 1.0
"""Seconds within which what a closed store has let go ends."""


class Threads:
    """Knows the threads that there were when it was made."""

    def __init__(self) -> None:
        self._before = set(threading.enumerate())

    def left(self) -> list[str]:
        """Return the names of those that came since and do not end, within a moment."""
        ends = time.monotonic() + MOMENT
        for each in self._new():
            each.join(max(0.0, ends - time.monotonic()))
        return sorted(each.name for each in self._new())

    def _new(self) -> list[threading.Thread]:
        return [
            each
            for each in threading.enumerate()
            if each not in self._before and not each.name.startswith(_OTHERS)
        ]
