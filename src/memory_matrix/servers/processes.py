"""Start servers as child processes that cannot outlive this one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PATIENCE = 15.0
"""Seconds that a supervisor has to end its server and remove its folder."""
_ENVIRON = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")


@dataclass(frozen=True)
class User:
    """An account to run as."""

    uid: int
    gid: int


class Supervised:
    """A folder and the server in it, both of which go with this process."""

    def __init__(self, folder: Path) -> None:
        # Isolated and without site-packages: that is twice as fast.
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._last_words = ""

    def run(
        self,
        commands: Sequence[Sequence[str]],
        *,
        stop_signal: signal.Signals,
        user: User | None = None,
    ) -> None:
        """Run `commands` one after the other, once; the last is the server, `stop_signal` ends it."""
        order = {
            "parent": os.getpid(),
            "commands": [list(command) for command in commands],
            "environ": _environ(),
            "user": None if user is None else [user.uid, user.gid],
            "stop_signal": int(stop_signal),
        }
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # It is gone: `ended` says so.
            self._supervisor.stdin.write(json.dumps(order).encode() + b"\n")
            self._supervisor.stdin.flush()

    def ended(self) -> str | None:
        """Return what the server last wrote once it has ended by itself, None while it runs."""
        if self._supervisor.poll() is None:
            return None
        if not self._last_words:
            assert self._supervisor.stdout is not None
            text = self._supervisor.stdout.read().decode(errors="replace")
            self._last_words = text.strip() or "it wrote nothing"
        return self._last_words

    def end(self) -> None:
        """End the server, if it runs, and remove the folder."""
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()  # The server goes with it.
            self._supervisor.wait()
        finally:
            self._supervisor.stdout.close()


@contextmanager
def supervised(folder: Path) -> Iterator[Supervised]:
    """Have `folder`, and what is run in it, ended and removed when the block is left.

    So it is when this process is killed.
    """
    process = Supervised(folder)
    try:
        yield process
    finally:
        process.end()


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _environ() -> dict[str, str]:
    """Return a server's variables: a developer's PGPORT or LANG must not change what is tested."""
    kept = {name: os.environ[name] for name in _ENVIRON if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}
