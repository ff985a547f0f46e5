"""Child processes that can all be ended at once, from whichever thread waits for them."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeVar

from memory_matrix.servers.supervisor import signal_tree

_LOOK = 0.5
"""Seconds between two looks at whether a child has ended whose own children keep its output open."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class StoppedError(Exception):
    """The runner was stopped: whoever waits for it has something else to report."""


@dataclass(frozen=True)
class Finished:
    """How a child process ended and what it said."""

    code: int
    """Its exit status; negative for the signal that ended it."""
    stdout: str
    stderr: str


@dataclass
class Runner:
    """Starts child processes, each in a process group of its own, and ends them all on `stop`."""

    stopped: bool = False
    _live: set[subprocess.Popen[str]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def run(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: Path | None = None,
        stdin: str = "",
        timeout: float | None = None,
    ) -> Finished:
        """Run `command` to its end and return how it ended.

        Raises:
            OSError: it cannot be started.
            subprocess.TimeoutExpired: it took more than `timeout` seconds; it is ended then.
            StoppedError: the runner was stopped before or meanwhile.
        """
        return self.start(command, environ=environ, cwd=cwd).finish(stdin, timeout=timeout)

    def start(
        self, command: Sequence[str], *, environ: Mapping[str, str], cwd: Path | None = None
    ) -> Running:
        """Start `command`, which waits for its standard input until it is told to finish.

        Raises:
            OSError: it cannot be started.
            StoppedError: the runner was stopped before.
        """
        return Running(self, self._start(command, environ, cwd))

    def stop(self) -> None:
        """End every child process with its descendants, and start no more."""
        with self._lock:
            self.stopped = True
            for process in self._live:
                _kill(process)

    def _start(
        self, command: Sequence[str], environ: Mapping[str, str], cwd: Path | None
    ) -> subprocess.Popen[str]:
        with self._lock:  # so that `stop` misses no process that is just being started
            if self.stopped:
                raise StoppedError
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=dict(environ),
                cwd=cwd,
                start_new_session=True,
            )
            self._live.add(process)
            return process

    def end(self, process: subprocess.Popen[str]) -> None:
        """End a child process with its descendants."""
        with self._lock:
            self._live.discard(process)
            _kill(process)
        with process:  # closes the pipes and waits
            pass


@dataclass(frozen=True)
class Running:
    """A child process that waits for its standard input."""

    _runner: Runner
    _process: subprocess.Popen[str]

    def ask(self, line: str) -> str:
        """Write a line to its standard input, and return the line that it answers, empty once it ended.

        Raises:
            StoppedError: the runner was stopped meanwhile.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if self._runner.stopped:
            raise StoppedError
        return answer

    def finish(self, stdin: str, *, timeout: float | None = None) -> Finished:
        """Let it run to its end on `stdin`, and return how it ended.

        Raises:
            subprocess.TimeoutExpired: it took more than `timeout` seconds; it is ended then.
            StoppedError: the runner was stopped meanwhile.
        """
        try:
            stdout, stderr = self._communicate(stdin, timeout)
        finally:
            self.end()
        if self._runner.stopped:
            raise StoppedError
        return Finished(self._process.returncode, stdout, stderr)

    def _communicate(self, stdin: str, timeout: float | None) -> tuple[str, str]:
        """Return what it wrote until it ended, also where its own children keep its output open."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        given: str | None = stdin
        killed = False
        while True:
            ended = self._process.poll() is not None
            left = max(0.0, min(_LOOK, deadline - time.monotonic()))
            try:
                return self._process.communicate(given, timeout=left)
            except subprocess.TimeoutExpired as error:
                if killed:  # they have left its process group
                    return _read(error.stdout), _read(error.stderr)
                if not ended and time.monotonic() >= deadline:
                    raise
            given = None
            if ended:
                _kill(self._process)
                killed = True

    def end(self) -> None:
        """End it with its descendants."""
        self._runner.end(self._process)


def _read(output: bytes | str | None) -> str:
    """Return the text of what is bytes where it was cut short."""
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a child and what it has started, which may live on when the child has ended."""
    if process.poll() is None:
        signal_tree(process.pid, signal.SIGKILL)  # also what has left its process group
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def parallel(
    runner: Runner, jobs: int, work: Callable[[Item], Result], items: Iterable[Item]
) -> list[Result]:
    """Return `work(item)` for each item, in their order, at most `jobs` at a time.

    When one raises, or this thread is interrupted while it waits, the runner is stopped, the others
    unwind, and the exception goes on.
    """
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            runner.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
