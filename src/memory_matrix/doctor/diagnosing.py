"""All checks, side by side, in the time that the slowest may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread

from memory_matrix.doctor import machine, needs
from memory_matrix.doctor.model import Check, Diagnosis
from memory_matrix.environments.processes import Runner, StoppedError
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.read import find, read
from memory_matrix.matrix.sources import EMBEDDED, sources

LONGEST = 15.0
"""Seconds after which a check that has not ended is given up: only a busy machine comes near."""
_LATER = "run this again when the machine is less busy"


@dataclass
class _Task:
    """Some checks under way in a thread of their own."""

    what: str
    work: Callable[[], Iterable[Check]]
    needed: bool = True
    """Whether a run needs what is checked."""
    found: list[Check] = field(default_factory=list)
    thread: Thread = field(init=False)

    def __post_init__(self) -> None:
        # A name server that does not answer holds a thread up for as long as it likes.
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.found.extend(self.work())
        except StoppedError:
            return
        except Exception as error:  # noqa: BLE001 - told of like everything else that is wrong
            self.found.append(self._problem(f"{type(error).__name__}: {error}"))

    def ended(self, deadline: float) -> list[Check]:
        """Return what the checks say once they have ended, or the deadline has passed."""
        self.thread.join(max(deadline - time.monotonic(), 0))
        if self.thread.is_alive():
            return [*self.found, self._problem(f"no answer within {LONGEST:g} seconds", _LATER)]
        return self.found

    def _problem(self, found: str, advice: str = "") -> Check:
        return Check(self.what, "problem", found, advice, needed=self.needed)


def diagnose(config: Path | None, start: Path, cache: Path, *, strict: bool = False) -> Diagnosis:
    """Return what there is for the matrix file `config`, or that which is found from `start` on.

    `strict` says whether a run here would be.
    """
    path, matrix, error = _matrix(config, start)
    runner = Runner()
    deadline = time.monotonic() + LONGEST
    try:
        tasks = _tasks(matrix, cache, runner, strict=strict)
        checks = [check for task in tasks for check in task.ended(deadline)]
    finally:
        runner.stop()
    shown = None if path is None else str(path)
    of_matrix = needs.check_matrix(path, matrix, error)
    return Diagnosis(shown, (of_matrix, *checks), refused=error is not None)


def _matrix(
    config: Path | None, start: Path
) -> tuple[Path | None, Matrix | None, UsageError | None]:
    try:
        path = config or find(start)
        return path, None if path is None else read(path), None
    except UsageError as error:
        return None, None, error


def _tasks(matrix: Matrix | None, cache: Path, runner: Runner, *, strict: bool) -> list[_Task]:
    servers = sources(EMBEDDED, Path()) if matrix is None else matrix.servers
    images = [each for each in servers if each.form == "image"]
    checked = [_Task(each.text, partial(needs.check_server, each, cache)) for each in servers]
    return [
        _Task("interpreters", lambda: _pythons(matrix, runner, strict=strict)),
        _Task("uv", lambda: machine.check_uv(runner)),
        _Task("Docker engine", lambda: machine.check_engine(images), needed=bool(images)),
        _Task("user for Postgres", lambda: machine.check_user(servers)),
        *checked,
        _Task("cache", lambda: machine.check_cache(cache), needed=False),
    ]


def _pythons(matrix: Matrix | None, runner: Runner, *, strict: bool) -> Iterator[Check]:
    yield from machine.check_pythons(runner)
    if matrix is not None:
        yield from needs.check_wanted_pythons(matrix, runner, strict=strict)
