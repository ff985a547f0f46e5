"""Runs one server for a parent process, and ends it and removes its folder when the parent is gone.

Started by path with the folder and the parent's number as its arguments, on the standard library
alone and with late imports: its start is part of every server's start. The parent writes a line of
JSON for each thing that it wants, reads a line of JSON for an answer, and holds the pipe open: the
pipe's end is the order to stop, whether the parent closed it or was killed.
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
    from typing import Any

_STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_PATIENCE = 5.0
"""Seconds that a server has to end by itself."""
_TAIL = 2000
_PR_SET_PDEATHSIG = 1
_IPC_RMID = 0


class _Waker:
    """A pipe that becomes readable when a child ends or somebody asks this process to stop."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in (*_STOP_SIGNALS, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def wait(self, parent: int) -> bytes:
        """Wait for the parent's next line and return it; empty where `_Supervisor` has to look after
        its child, and b"end" when it is to stop.
        """
        # The time limit is for a parent whose end of the pipe lives on in a fork of it.
        ready, _, _ = select.select([0, self._reader], [], [], 2.0)
        if os.getppid() != parent:
            return b"end"
        if self._reader in ready and _STOP_SIGNALS & set(os.read(self._reader, 512)):
            return b"end"
        if 0 not in ready:
            return b""
        line = sys.stdin.buffer.readline()
        return line if line.endswith(b"\n") else b"end"


class Supervisor:
    """The commands that the parent ordered: one of them runs at a time, and the last is the server."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._log = os.path.join(folder, "log")
        self._child: subprocess.Popen[bytes] | None = None
        self._next: list[list[str]] = []
        self._how: dict[str, Any] = {}
        self._trouble = ""
        self._code: int | None = None
        self._paused = False

    def do(self, wish: dict[str, Any]) -> dict[str, Any]:
        """Do what the parent asks for, and return the state afterwards."""
        name = wish.pop("do")
        if name == "run":
            self._run(**wish)
        elif name == "end":
            self.end(wish["signal"], wish["patience"])
        elif name in {"pause", "resume"}:
            self._freeze(freeze=name == "pause")
        self.look()
        said = self._trouble or _tail(self._log)
        running = self._child is not None
        return {
            "running": running,
            "code": self._code,
            "said": "" if running else said,
            "paused": running and self._paused,
        }

    def look(self) -> None:
        """See whether the command that runs has ended, and start the one after it."""
        if self._child is None or self._child.poll() is None:
            return
        ended, self._child = self._child, None
        _end(ended, signal.SIGKILL, 0)
        self._code = ended.returncode
        if self._code == 0 and self._next:
            self._start()

    def end(self, number: int, patience: float) -> None:
        """End what runs, by the signal `number` and, after `patience` seconds, by force."""
        child, self._child = self._child, None
        self._next = []
        if child is not None:
            _end(child, number, patience)
            self._code = child.returncode

    def end_at_once(self) -> None:
        """End what runs in the way that is quickest for it."""
        self.end(self._how.get("stop_signal", signal.SIGKILL), _PATIENCE)

    def _freeze(self, *, freeze: bool) -> None:
        if self._child is not None and self._paused != freeze:
            signal_tree(self._child.pid, signal.SIGSTOP if freeze else signal.SIGCONT)
            self._paused = freeze

    def _run(self, *, commands: list[list[str]], **how: Any) -> None:
        self.end_at_once()
        self._how, self._next, self._code, self._trouble = how, commands, None, ""
        self._start()

    def _start(self) -> None:
        command = self._next.pop(0)
        self._paused = False
        user, group = self._how["user"] or (None, None)
        try:
            with open(self._log, "ab") as log:
                self._child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._folder,
                    env=self._how["environ"],
                    user=user,
                    group=group,
                    extra_groups=None if user is None else [],
                    preexec_fn=_prepared(self._how["stop_signal"]),
                )
        except (OSError, subprocess.SubprocessError) as error:
            self._trouble = f"cannot run {command[0]}: {error}"
            self._next = []


def main() -> int:
    """Do what the parent orders until it is gone; then leave nothing."""
    import json

    folder, parent = sys.argv[1], int(sys.argv[2])
    supervisor = Supervisor(folder)
    try:
        waker = _Waker()
        while (line := waker.wait(parent)) != b"end":
            supervisor.look()
            if line:
                sys.stdout.buffer.write(json.dumps(supervisor.do(json.loads(line))).encode())
                sys.stdout.buffer.write(b"\n")
                sys.stdout.buffer.flush()
    finally:
        supervisor.end_at_once()
        _free_shared_memory(os.path.join(folder, "data", "postmaster.pid"))
        _remove(folder)
    return 0


def _prepared(number: int) -> Callable[[], None]:
    """Return what prepares a child: a process group of its own, and, on Linux, the signal `number`
    when this process is killed.

    The group stays in this process's session: should this process be killed while the group is
    stopped, the system lets it go on, so that it gets that signal.
    """
    if sys.platform != "linux":
        return os.setpgrp
    import ctypes

    prctl = ctypes.CDLL(None).prctl

    def call() -> None:
        os.setpgrp()
        prctl(_PR_SET_PDEATHSIG, number)

    return call


def _end(child: subprocess.Popen[bytes], number: int, patience: float) -> None:
    """End `child` and whatever it started."""
    if child.poll() is None and number != signal.SIGKILL:
        child.send_signal(number)
        signal_tree(child.pid, signal.SIGCONT)  # It may be paused.
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
    killed = signal_tree(child.pid, signal.SIGKILL) if child.returncode is None else []
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    _wait_for_end(killed)


def _wait_for_end(pids: list[int]) -> None:
    """Wait until processes that are killed are gone: a Postgres does not start before they are."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and any(map(_lives, pids)):
        time.sleep(0.005)


def _lives(pid: int) -> bool:
    """Return whether `pid` still holds anything, as a process that only waits to be reaped does not."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] != b"Z"
    return False


def signal_tree(root: int, number: int) -> list[int]:
    """Send a signal to `root` and all that it started: those of Postgres have groups of their own."""
    if number != signal.SIGCONT:
        _send(root, signal.SIGSTOP)  # So that it starts no more of them meanwhile.
    tree = _tree(root)
    for pid in tree:
        _send(pid, number)
    return tree


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _tree(root: int) -> list[int]:
    """Return `root` and its descendants, children before their parents."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(children.get(found[-1], ()))
    return found[::-1]


def _parents() -> list[tuple[int, int]]:
    """Return each process of this machine with the one that started it."""
    if not os.path.exists("/proc/self/stat"):
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, check=True
        )
        pairs = [line.split() for line in listed.stdout.splitlines()]
        return [(int(pid), int(parent)) for pid, parent in pairs]
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # The command's name, in brackets, may hold spaces and brackets itself.
            found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
    return found


def _tail(log: str) -> str:
    with contextlib.suppress(OSError), open(log, "rb") as file:
        file.seek(max(0, os.path.getsize(log) - _TAIL))
        return file.read().decode(errors="replace")
    return ""


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
