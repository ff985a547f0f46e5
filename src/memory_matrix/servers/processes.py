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


@dataclass(frozen=True)
class State:
    """What a supervisor says of the commands that it runs."""

    running: bool
    code: int | None
    """The exit code of the last command that ended, None before there is one."""
    said: str
    """What the commands last wrote; empty while one runs."""
    paused: bool = False


class Supervised:
    """A folder and the server in it, both of which go with this process. For one thread at a time."""

    def __init__(self, folder: Path) -> None:
        # Isolated and without site-packages: that is twice as fast.
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(
        self,
        commands: Sequence[Sequence[str]],
        *,
        stop_signal: signal.Signals = signal.SIGKILL,
        user: User | None = None,
    ) -> None:
        """Run `commands` one after the other; the last is the server.

        `stop_signal` ends it in the end, and when its supervisor is killed.
        """
        self._ask(
            do="run",
            commands=[list(command) for command in commands],
            environ=_environ(),
            user=None if user is None else [user.uid, user.gid],
            stop_signal=int(stop_signal),
        )

    def state(self) -> State:
        """Return whether a command runs, and what the last one left."""
        return self._ask(do="look")

    def ended(self) -> str | None:
        """Return what the server last wrote once it has ended, None while it runs."""
        state = self.state()
        return None if state.running else state.said.strip() or "it wrote nothing"

    def stop(self, number: signal.Signals) -> None:
        """End what runs by the signal `number`, or by force where that takes too long."""
        self._ask(do="end", signal=int(number), patience=_PATIENCE - 5)

    def pause(self) -> None:
        """Let the server, and all that it started, do nothing more until `resume`."""
        self._ask(do="pause")

    def resume(self) -> None:
        """Let the server go on."""
        self._ask(do="resume")

    def leave(self) -> None:
        """Let the server be ended and the folder be removed, which `end` waits for."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._supervisor.stdin.close()

    def end(self) -> None:
        """End the server, if it runs, and remove the folder."""
        assert self._supervisor.stdout is not None
        self.leave()
        try:
            self._supervisor.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()  # The server goes with it.
            self._supervisor.wait()
        finally:
            self._supervisor.stdout.close()

    def _ask(self, **wish: object) -> State:
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._supervisor.stdin.write(json.dumps(wish).encode() + b"\n")
            self._supervisor.stdin.flush()
        reply = self._supervisor.stdout.readline()
        if not reply:
            return State(running=False, code=None, said="its supervisor was killed")
        return State(**json.loads(reply))


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


def shortened_log(log: str) -> str:
    """Return the last lines of a log as one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    text = " | ".join(lines[-3:]).rstrip(".")
    return text if len(text) <= 400 else f"...{text[-397:]}"


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
