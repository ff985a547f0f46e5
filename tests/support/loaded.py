"""Runs of programs such as `python -m memory_matrix` in processes that have loaded them.

Loading is most of a short run's time. A run here is a fork of a process that has done nothing but that:
its folder, arguments, variables, streams, exit code and end are its own. What Python reads of its
variables as it starts needs a start of its own, and gets one.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import re
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

MODULES = {
    "memory_matrix": (
        "filelock", "jinja2", "platformdirs", "psycopg", "redis", "rich.console", "rich.progress",
        "rich.table", "uv",
        "memory_matrix.cli", "memory_matrix.compat.merging", "memory_matrix.compat.run",
        "memory_matrix.environments.wheels", "memory_matrix.matrix.build",
        "memory_matrix.matrix.plan", "memory_matrix.matrix.read", "memory_matrix.report.history",
        "memory_matrix.report.markdown", "memory_matrix.report.terminal",
        "memory_matrix.servers.postgres_slots", "memory_matrix.servers.redis_slot",
        "memory_matrix.suite.run", "memory_matrix.suite.shards",
    ),
    "nox": ("nox._cli", "virtualenv.run"),
    # No plugins: pytest would warn that it cannot rewrite what is loaded already.
    "pytest": ("pytest", "_pytest.junitxml", "asyncio", "execnet", "filelock", "packaging.version"),
    "tox": ("tox.run", "virtualenv.run"),
}  # fmt: skip
"""What each program imports, some of it where it needs it."""

_OF_STARTS = re.compile(r"PYTHON|COVERAGE_|LC_|LANG")
_OWN = re.compile(r"PYTHON(?!PATH)")


def run(
    program: str,
    arguments: Sequence[str],
    cwd: Path,
    variables: Mapping[str, str],
    *,
    timeout: float,
    together: bool = False,
    errors: str = "strict",
) -> subprocess.CompletedProcess[str]:
    """Run `python -m PROGRAM`; `together` has standard error in standard output, in its order.

    `errors` says what becomes of bytes in them that are no UTF-8.

    Raises:
        TimeoutExpired: it took longer than `timeout` seconds; it was killed.
    """
    loaded = _loaded(program)
    start = loaded.run if loaded.suits(variables) else _run_anew
    done = start([program, *arguments], cwd, variables, timeout, together=together)
    texts = [io.TextIOWrapper(io.BytesIO(each), "utf-8", errors).read() for each in done[1:]]
    return subprocess.CompletedProcess([program, *arguments], done[0], *texts)


def _run_anew(
    command: Sequence[str],
    cwd: Path,
    variables: Mapping[str, str],
    timeout: float,
    *,
    together: bool,
) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr or b""


@cache
def _loaded(program: str) -> _Loaded:
    return _Loaded(program)


class _Loaded:
    """A process that has loaded a program and waits for runs, one after the other."""

    def __init__(self, program: str) -> None:
        variables = {name: text for name, text in os.environ.items() if not _OWN.match(name)}
        self._variables = _of_starts(variables)
        self._end, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, program, str(other.fileno())],
                env=variables,
                pass_fds=[other.fileno()],
            )
        atexit.register(self._close)

    def suits(self, variables: Mapping[str, str]) -> bool:
        """Return whether a Python with these variables would start as this one did.

        What coverage measures has to start by itself.
        """
        measured = any(name.startswith("COVERAGE_") for name in variables)
        return not measured and _of_starts(variables) == self._variables

    def run(
        self,
        command: Sequence[str],
        cwd: Path,
        variables: Mapping[str, str],
        timeout: float,
        *,
        together: bool,
    ) -> tuple[int, bytes, bytes]:
        """Run the program; return its exit code, and what it wrote."""
        (out, out_in), (err, err_in) = os.pipe(), os.pipe()
        request = json.dumps([command, str(cwd), dict(variables)]).encode()
        socket.send_fds(
            self._end, [_packed(len(request))], [out_in, out_in if together else err_in]
        )
        self._end.sendall(request)
        os.close(out_in)
        os.close(err_in)
        pid = _number(self._end)
        try:
            said = _read((out, err), timeout)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            _number(self._end)
            raise subprocess.TimeoutExpired([*command], timeout) from None
        finally:
            os.close(out)
            os.close(err)
        return os.waitstatus_to_exitcode(_number(self._end)), *said

    def _close(self) -> None:
        self._end.close()
        self._process.wait()


def _read(pipes: tuple[int, int], timeout: float) -> tuple[bytes, bytes]:
    """Return all that comes through two pipes.

    Raises:
        TimeoutError: they were not closed in time.
    """
    said = dict.fromkeys(pipes, b"")
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as open_ones:
        for pipe in pipes:
            open_ones.register(pipe, selectors.EVENT_READ)
        while open_ones.get_map():
            ready = open_ones.select(deadline - time.monotonic())
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if more := os.read(key.fd, 1 << 16):
                    said[key.fd] += more
                else:
                    open_ones.unregister(key.fd)
    return said[pipes[0]], said[pipes[1]]


def _packed(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _number(end: socket.socket) -> int:
    packed = end.recv(4, socket.MSG_WAITALL)
    assert len(packed) == 4, "the process that has loaded the program is gone"
    return int.from_bytes(packed, "big")


def _of_starts(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if _OF_STARTS.match(name)}


# In the process that has loaded a program


def _load(program: str) -> None:
    for module in MODULES[program]:
        import_module(module)
    if program == "memory_matrix":
        _warm_up()
    gc.freeze()


def _warm_up() -> None:
    from memory_matrix.commands import modules
    from memory_matrix.report.html import render
    from memory_matrix.report.model import Report
    from memory_matrix.suite.catalogue import cases

    modules()
    cases()
    render(Report())  # its template is compiled once


def _next_run(end: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    """Return, in a process of its own, what is to be run; ends this one when nobody asks any more."""
    while True:
        size, pipes, _, _ = socket.recv_fds(end, 4, 2)
        if not size:
            sys.exit()
        command, cwd, variables = json.loads(
            end.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        )
        pid = os.fork()
        if pid == 0:
            end.close()
            return command, cwd, variables, pipes
        for pipe in pipes:
            os.close(pipe)
        end.sendall(_packed(pid))
        end.sendall(_packed(os.waitpid(pid, 0)[1]))


def _become(command: list[str], cwd: str, variables: dict[str, str], pipes: list[int]) -> None:
    """Take over what `python -m` is started with."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    for number, opened in enumerate((os.open(os.devnull, os.O_RDONLY), *pipes)):
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    sys.argv[1:] = command[1:]
    sys.path[0] = cwd
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is at work ends by itself
    sys.path[0] = ""  # instead of this file's folder
    program = sys.argv[1]
    _load(program)
    _become(*_next_run(socket.socket(fileno=int(sys.argv[2]))))
    runpy.run_module(program, run_name="__main__", alter_sys=True)
