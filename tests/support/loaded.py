"""Runs of the command line by processes that have loaded it: loading is most of a short run's time.

A run is a fork of a process that has done nothing but that. Its folder, arguments, variables, streams,
exit code and end are its own; what Python reads of its variables as it starts needs a start of its own.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MODULES = (
    "filelock", "jinja2", "platformdirs", "psycopg", "redis", "rich.console", "rich.progress",
    "rich.table", "uv",
    "memory_matrix.cli", "memory_matrix.compat.merging", "memory_matrix.compat.run",
    "memory_matrix.environments.wheels", "memory_matrix.matrix.build", "memory_matrix.matrix.plan",
    "memory_matrix.matrix.read", "memory_matrix.report.history", "memory_matrix.report.markdown",
    "memory_matrix.report.terminal", "memory_matrix.servers.postgres_slots",
    "memory_matrix.servers.redis_slot", "memory_matrix.suite.run", "memory_matrix.suite.shards",
)  # fmt: skip
"""What commands import where they need it."""

_OF_STARTS = re.compile(r"PYTHON|COVERAGE_|LC_|LANG")


class Loaded:
    """A process that waits for runs, one after the other."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = _of_starts(variables)
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        atexit.register(self.close)

    def suits(self, variables: Mapping[str, str]) -> bool:
        """Return whether a Python with these variables would start as this one did.

        What coverage measures has to start by itself.
        """
        measured = any(name.startswith("COVERAGE_") for name in variables)
        return not measured and _of_starts(variables) == self._variables

    def run(
        self, arguments: Sequence[str], cwd: Path, variables: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line.

        Raises:
            TimeoutExpired: it took longer than `timeout` seconds; it was killed.
        """
        with TemporaryDirectory(prefix="run-") as name:
            written = [Path(name, stream) for stream in ("stdout", "stderr")]
            pid = int(self._asked([*arguments], str(cwd), dict(variables), [*map(str, written)]))
            if not select.select([self._answers], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                self._answers.readline()
                raise subprocess.TimeoutExpired([*arguments], timeout)
            code = os.waitstatus_to_exitcode(int(self._answers.readline()))
            said = [path.read_text(encoding="utf-8") for path in written]
        return subprocess.CompletedProcess([*arguments], code, *said)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._answers.close()
        self._process.wait()

    def _asked(self, *request: Any) -> bytes:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        answer: bytes = self._answers.readline()
        return answer

    @property
    def _answers(self) -> Any:
        return self._process.stdout


def _of_starts(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if _OF_STARTS.match(name)}


def _load() -> None:
    for module in MODULES:
        import_module(module)
    from memory_matrix.commands import modules
    from memory_matrix.report.html import render
    from memory_matrix.report.model import Report
    from memory_matrix.suite.catalogue import cases

    modules()
    cases()
    render(Report())  # its template is compiled once
    gc.freeze()


def _next_run() -> tuple[list[str], str, dict[str, str], list[str]]:
    """Return, in a process of its own, what is to be run; ends this one when nobody asks any more."""
    for line in sys.stdin.buffer:
        pid = os.fork()
        if pid == 0:
            request: tuple[list[str], str, dict[str, str], list[str]] = json.loads(line)
            return request
        _answer(pid)
        _answer(os.waitpid(pid, 0)[1])
    sys.exit()


def _answer(number: int) -> None:
    os.write(1, b"%d\n" % number)


def _become(arguments: list[str], cwd: str, variables: dict[str, str], written: list[str]) -> None:
    """Take over what `python -m memory_matrix` is started with."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    for number, path in enumerate((os.devnull, *written)):
        opened = os.open(path, os.O_CREAT | os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    sys.argv[1:] = arguments
    sys.path[0] = cwd
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is at work ends by itself
    del sys.path[0]
    _load()
    sys.path.insert(0, "")
    _become(*_next_run())
    from memory_matrix.__main__ import main

    sys.exit(main())
