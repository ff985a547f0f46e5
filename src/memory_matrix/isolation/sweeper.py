"""Removes what a run made on servers that were given by URL, once the run is over in whatever way.

A process of its own does, told over a pipe what to look after: the pipe ends with the run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.isolation.postgres import PostgresIsolation
from memory_matrix.isolation.redis import RedisIsolation

Kind = Literal["postgres", "redis"]

_MAIN = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import {0}; sys.exit({0}.main())"
_LONGEST = 30.0
"""Seconds that cleaning up may take, and that workers get to end after their controller was killed."""
_LOOK = 0.1


class Sweeper:
    """The process that removes what the run of `token` leaves on servers given by URL."""

    def __init__(self, token: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN.format(__name__), json.dumps(_modules())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the run, not for who cleans up after it.
        )
        self._tell("token", token)

    def sweep(self, kind: Kind, url: str) -> None:
        """Have a server cleaned in the end."""
        self._tell(kind, url)

    def mind(self, worker: int) -> None:
        """Have it wait for a worker's end before it cleans, should this process be killed."""
        self._tell("worker", str(worker))

    def close(self) -> None:
        """Have everything removed now, and wait for that.

        Raises:
            MemoryMatrixError: it could not be.
        """
        try:
            _, said = self._process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            said = f"the server did not answer for {_LONGEST:g} s"
            self._process.kill()
            self._process.wait()
        if said:
            raise MemoryMatrixError(
                f"What this run made on a server given by URL could not be removed: {said.strip()}"
            )

    def _tell(self, what: str, value: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # what it died of is told in the end
            self._process.stdin.write(json.dumps([what, value]) + "\n")
            self._process.stdin.flush()


def main() -> int:
    """Do what the pipe says, when it ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    told: dict[str, list[str]] = {"token": [], "postgres": [], "redis": [], "worker": []}
    for line in sys.stdin:
        with suppress(ValueError):  # cut short by a kill
            what, value = json.loads(line)
            told[what].append(value)
    _wait_for(map(int, told["worker"]))
    problems = [*_swept(told["token"][0], told["postgres"], told["redis"])]
    print("; ".join(problems), end="", file=sys.stderr)
    return bool(problems)


def _swept(token: str, postgres: Iterable[str], redis: Iterable[str]) -> list[str]:
    """Clean the servers; return what went wrong."""
    problems = []
    for url in postgres:
        try:
            with closing(PostgresIsolation(url, owned=False, token=token)) as places:
                places.clean()
        except Exception as error:  # noqa: BLE001 - it is told, and the other servers are cleaned
            problems.append(" ".join(str(error).split()))
    for url in redis:
        try:
            with closing(
                RedisIsolation(url, owned=False, token=token, may_hold_data=True)
            ) as prefixes:
                prefixes.clean()
        except Exception as error:  # noqa: BLE001 - as above
            problems.append(" ".join(str(error).split()))
    return problems


def _wait_for(workers: Iterable[int]) -> None:
    """Wait until the workers are gone: what they make after the cleaning would stay."""
    deadline = time.monotonic() + _LONGEST
    for worker in workers:
        while _lives(worker) and time.monotonic() < deadline:
            time.sleep(_LOOK)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _modules() -> list[str]:
    """Return where this process finds its modules, however it came to know it."""
    return [str(Path(folder).absolute()) for folder in sys.path if folder]
