"""End with who started us, and end all that was started below us. The standard library alone; on Linux."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0
"""Seconds that killed processes have to be gone."""
_POLL = 0.005


def adopt_orphans() -> None:
    """Let every process below this one whose parent ends be this one's child, in whatever session."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with(parent: int) -> None:
    """Have this process killed when the process `parent`, whose main thread started it, is gone."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if sys.platform == "linux" and os.getppid() != parent:  # it was gone before
        os._exit(1)


def kill_descendants() -> None:
    """Kill all processes below this one, which has adopted orphans, and wait until they are gone.

    Children that this process knows by an object of their own are reaped here, too.
    """
    deadline = time.monotonic() + _PATIENCE
    while _reaped() and time.monotonic() < deadline:
        for child in _children():
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
        time.sleep(_POLL)


def _reaped() -> bool:
    """Reap the children that have ended; return whether there are more."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _children() -> list[int]:
    """Return this process's children; none where the system does not list them."""
    found: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.extend(map(int, listed.read_text("ascii").split()))
    return found


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
