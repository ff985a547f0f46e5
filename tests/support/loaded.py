"""Runs of programs such as `python -m memory_matrix` in processes that have loaded them.

Loading is most of a short run's time. A run here is a fork of a process that has done nothing but that:
its folder, arguments, variables, streams, exit code and end are its own. What Python reads of its
variables as it starts needs a start of its own, and gets one.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import runpy
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
    with TemporaryDirectory(prefix="run-") as name:
        said = [Path(name, "stdout"), Path(name, "stdout" if together else "stderr")]
        loaded = _loaded(program)
        start = loaded.run if loaded.suits(variables) else _run_anew
        code = start([program, *arguments], cwd, variables, said, timeout)
        texts = [path.read_text(encoding="utf-8", errors=errors) for path in said]
    return subprocess.CompletedProcess([program, *arguments], code, *texts)


def _run_anew(
    command: Sequence[str],
    cwd: Path,
    variables: Mapping[str, str],
    said: Sequence[Path],
    timeout: float,
) -> int:
    with said[0].open("ab") as stdout, said[1].open("ab") as stderr:
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=cwd,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            timeout=timeout,
            check=False,
        ).returncode


@cache
def _loaded(program: str) -> _Loaded:
    return _Loaded(program)


class _Loaded:
    """A process that has loaded a program and waits for runs, one after the other."""

    def __init__(self, program: str) -> None:
        variables = {name: text for name, text in os.environ.items() if not _OWN.match(name)}
        self._variables = _of_starts(variables)
        self._process = subprocess.Popen(
            [sys.executable, __file__, program],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
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
        said: Sequence[Path],
        timeout: float,
    ) -> int:
        """Run the program and return its exit code."""
        pid = int(self._ask([*command], str(cwd), dict(variables), [*map(str, said)]))
        if not select.select([self._answers], [], [], timeout)[0]:
            os.kill(pid, signal.SIGKILL)
            self._answers.readline()
            raise subprocess.TimeoutExpired([*command], timeout)
        return os.waitstatus_to_exitcode(int(self._answers.readline()))

    def _ask(self, *request: Any) -> bytes:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        answer: bytes = self._answers.readline()
        return answer

    def _close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._answers.close()
        self._process.wait()

    @property
    def _answers(self) -> Any:
        return self._process.stdout


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


def _become(command: list[str], cwd: str, variables: dict[str, str], said: list[str]) -> None:
    """Take over what `python -m` is started with."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    for number, path in enumerate((os.devnull, *said)):
        opened = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY)
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
    _become(*_next_run())
    runpy.run_module(program, run_name="__main__", alter_sys=True)
