"""Places at which code of a project waits, in whatever process it runs, until a test lets it go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

LONGEST = 60.0
"""Seconds after which what should come about counts as never coming."""

_WAIT = """
import os, time
open(os.path.join({folder!r}, "arrivals", str(os.getpid())), "w").close()
while not os.path.exists(os.path.join({folder!r}, "opened")):
    time.sleep(0.02)
"""


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds that another process brings about; fail when it does not."""
    deadline = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < deadline, f"it did not come about within {LONGEST:g} s"
        time.sleep(0.02)


class Gate:
    """A closed gate. Code that comes to it waits there until it is opened, or until it is killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._wait = folder / "wait.py"
        (folder / "arrivals").mkdir(parents=True)
        self._wait.write_text(_WAIT.format(folder=str(folder)), encoding="utf-8")

    @property
    def code(self) -> str:
        """The expression that comes to this gate."""
        return f"__import__('runpy').run_path({str(self._wait)!r})"

    def wait_for(self, number: int) -> None:
        """Wait until `number` processes have come to the gate since it was made."""
        eventually(lambda: len(self.arrived()) >= number)

    def arrived(self) -> set[int]:
        """Return the processes that have come to the gate so far."""
        return {int(each.name) for each in (self._folder / "arrivals").iterdir()}

    def open(self) -> None:
        """Let everybody pass, now and later."""
        (self._folder / "opened").touch()
