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
from dataclasses import dataclass, field
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


@dataclass
class Supervised:
    """A server's process, through its supervisor."""

    _supervisor: subprocess.Popen[bytes]
    _last_words: str = field(default="", init=False)

    def ended(self) -> str | None:
        """Return what the server last wrote once it has ended by itself, None while it runs."""
        if self._supervisor.poll() is None:
            return None
        if not self._last_words:
            assert self._supervisor.stdout is not None
            text = self._supervisor.stdout.read().decode(errors="replace")
            self._last_words = text.strip() or "it wrote nothing"
        return self._last_words


@contextmanager
def supervised(
    commands: Sequence[Sequence[str]],
    *,
    folder: Path,
    stop_signal: signal.Signals,
    user: User | None = None,
) -> Iterator[Supervised]:
    """Run `commands` one after the other, the last being the server, until the block is left.

    The server is ended by `stop_signal`, or else killed, and `folder` removed: when the block is
    left, and when this process is killed.
    """
    # Isolated and without site-packages: that is twice as fast.
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SUPERVISOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _order(supervisor, commands, folder, stop_signal, user)
        yield Supervised(supervisor)
    finally:
        _end(supervisor)


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _order(
    supervisor: subprocess.Popen[bytes],
    commands: Sequence[Sequence[str]],
    folder: Path,
    stop_signal: signal.Signals,
    user: User | None,
) -> None:
    order = {
        "parent": os.getpid(),
        "commands": [list(command) for command in commands],
        "folder": str(folder),
        "environ": _environ(),
        "user": None if user is None else [user.uid, user.gid],
        "stop_signal": int(stop_signal),
    }
    assert supervisor.stdin is not None
    supervisor.stdin.write(json.dumps(order).encode() + b"\n")
    supervisor.stdin.flush()


def _environ() -> dict[str, str]:
    """Return a server's variables: a developer's PGPORT or LANG must not change what is tested."""
    kept = {name: os.environ[name] for name in _ENVIRON if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _end(supervisor: subprocess.Popen[bytes]) -> None:
    assert supervisor.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        supervisor.stdin.close()
    try:
        supervisor.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        supervisor.kill()  # The server goes with it.
        supervisor.wait()
    finally:
        if supervisor.stdout is not None:
            supervisor.stdout.close()
