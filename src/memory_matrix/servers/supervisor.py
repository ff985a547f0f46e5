"""Runs one server for a parent process, and ends it and removes its folder when the parent is gone.

Started by path with the folder as its argument, on the standard library alone and with late
imports: its start is part of every server's start. The parent writes one line of JSON, an `Order`,
to its standard input and holds the pipe open: the pipe's end is the order to stop, whether the
parent closed it or was killed. What a server that ended by itself last wrote goes to standard output.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False  # `typing` costs more than all the other imports
if TYPE_CHECKING:
    from collections.abc import Callable

_STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_PATIENCE = 5.0
"""Seconds that a server has to end by itself."""
_TAIL = 2000
_PR_SET_PDEATHSIG = 1
_IPC_RMID = 0


class Order:
    """What the parent asks for."""

    def __init__(
        self,
        *,
        parent: int,
        commands: list[list[str]],
        environ: dict[str, str],
        user: list[int] | None,
        stop_signal: int,
        folder: str,
    ) -> None:
        self.parent = parent
        self.commands = commands
        """Run one after the other; the last one is the server."""
        self.folder = folder
        self.environ = environ
        self.user = user
        """A user's and a group's number to run as, where they are not this process's own."""
        self.stop_signal = stop_signal

    @property
    def log(self) -> str:
        """The file that the commands write to."""
        return os.path.join(self.folder, "log")


class _Waker:
    """A pipe that becomes readable when a child ends or somebody asks this process to stop."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in (*_STOP_SIGNALS, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def wait(self, child: subprocess.Popen[bytes], parent: int) -> bool:
        """Wait for the end of `child`; return False when it has to be stopped instead."""
        while child.poll() is None:
            # The time limit is for a parent whose end of the pipe lives on in a fork of it.
            ready, _, _ = select.select([0, self._reader], [], [], 2.0)
            if 0 in ready or os.getppid() != parent:
                return False
            if self._reader in ready and _STOP_SIGNALS & set(os.read(self._reader, 512)):
                return False
        return True


def main() -> int:
    """Run what the parent orders; return 0 after an order to stop, 1 when the server ended."""
    import json

    folder = sys.argv[1]
    try:
        waker = _Waker()
        line = sys.stdin.buffer.readline()
        if not line.endswith(b"\n"):
            return 0
        order = Order(**json.loads(line), folder=folder)
        if not _run(order, waker):
            return 0
        tail = _tail(order.log)
    finally:
        _free_shared_memory(os.path.join(folder, "data", "postmaster.pid"))
        _remove(folder)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(tail)
        sys.stdout.buffer.flush()
    return 1


def _run(order: Order, waker: _Waker) -> bool:
    """Run the commands; return whether one ended that should not have."""
    for command in order.commands:
        try:
            child = _start(order, command)
        except (OSError, subprocess.SubprocessError) as error:
            with open(order.log, "a", encoding="utf-8") as log:
                log.write(f"cannot run {command[0]}: {error}\n")
            return True
        try:
            if not waker.wait(child, order.parent):
                return False
        finally:
            _end(child, order.stop_signal)
        if child.returncode != 0:
            return True
    return True


def _start(order: Order, command: list[str]) -> subprocess.Popen[bytes]:
    user, group = order.user or (None, None)
    with open(order.log, "ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=order.folder,
            env=order.environ,
            user=user,
            group=group,
            extra_groups=None if order.user is None else [],
            start_new_session=True,
            preexec_fn=_dying_with_parent(order.stop_signal),
        )


def _dying_with_parent(number: int) -> Callable[[], None] | None:
    """Return what lets a child get the signal `number` when this process is killed (Linux only)."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl

    def call() -> None:
        prctl(_PR_SET_PDEATHSIG, number)

    return call


def _end(child: subprocess.Popen[bytes], number: int) -> None:
    """End `child` and whatever else is in its process group."""
    if child.poll() is None:
        child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _tail(log: str) -> bytes:
    with contextlib.suppress(OSError), open(log, "rb") as file:
        file.seek(max(0, os.path.getsize(log) - _TAIL))
        return file.read()
    return b""


def _free_shared_memory(pid_file: str) -> None:
    """Free the segment of a Postgres that was killed: it removes its `postmaster.pid` otherwise."""
    try:
        with open(pid_file, encoding="ascii") as file:
            segment = int(file.read().splitlines()[6].split()[1])
    except (OSError, ValueError, IndexError):
        return
    import ctypes

    ctypes.CDLL(None).shmctl(segment, _IPC_RMID, None)


def _remove(folder: str) -> None:
    """Remove `folder`; the last processes of a killed server may still write into it."""
    import shutil

    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
