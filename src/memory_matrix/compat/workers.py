"""Start workers inside environments and hear what they tell, several at a time."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from memory_matrix.compat.events import Event
from memory_matrix.environments.model import Environment
from memory_matrix.errors import MemoryMatrixError

if TYPE_CHECKING:
    from typing_extensions import Self

WORKER = Path(__file__).parents[1] / "worker" / "__main__.py"

KEPT_FROM_HOME = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables of the orchestrator's own Python that an environment must not see."""


@dataclass(frozen=True)
class Task:
    """The work of one worker: what to do, in which environment, with which job."""

    environment: Environment
    mode: Literal["write", "read"]
    job: Mapping[str, Any]
    patience: float
    """Seconds without a word from the worker after which it is given up."""


@dataclass(eq=False)
class _Worker:
    task: Task
    process: subprocess.Popen[bytes]
    log: Path
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    pending: bytes = b""
    given_up: bool = False


def run_tasks(tasks: Sequence[Task], folder: Path, parallel: int) -> Iterator[tuple[Task, Event]]:
    """Yield each event of each task as it comes, the last one of a task being `ended`.

    `ended` has `status`, `seconds` until the worker's last word, and `log`, the end of what it
    printed. However this generator ends, no worker is left.

    Raises:
        MemoryMatrixError: a worker cannot be started at all.
    """
    waiting = deque(enumerate(tasks))
    active: set[str] = set()
    with selectors.DefaultSelector() as selector, _Started() as started:
        while waiting or active:
            while waiting and len(active) < parallel:
                number, task = waiting.popleft()
                worker = started.start(task, folder, f"{task.mode}-{number}-{os.urandom(4).hex()}")
                selector.register(_stdout(worker), selectors.EVENT_READ, worker)
                active.add(worker.log.name)
            dead = started.dead()
            ready = {key.data: key.fd for key, _ in selector.select(timeout=0 if dead else 0.5)}
            for worker in dict.fromkeys([*ready, *dead]):
                # What a dead worker left running may hold its pipe open for ever.
                more = os.read(ready[worker], 1 << 16) if worker in ready else b""
                yield from ((worker.task, event) for event in _events(worker, more))
                if not more:
                    selector.unregister(_stdout(worker))
                    active.discard(worker.log.name)
                    yield worker.task, started.finish(worker)
            started.give_up_silent()


class _Started:
    """The workers that run; leaving the block kills those that still do."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in list(self._workers):
            self.finish(worker)

    def start(self, task: Task, folder: Path, name: str) -> _Worker:
        job, log, scratch = (folder / f"{name}.{end}" for end in ("json", "log", "scratch"))
        job.write_text(json.dumps(task.job), encoding="ascii")
        scratch.mkdir()
        try:
            with log.open("wb") as stderr:
                process = subprocess.Popen(
                    [*task.environment.command, str(WORKER), task.mode, str(job)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=scratch,
                    env=_variables(task.environment, scratch),
                    start_new_session=True,  # Ctrl-C reaches the orchestrator alone, which ends us
                )
        except OSError as error:
            raise MemoryMatrixError(
                f"The worker of environment {task.environment.spec.name!r} cannot be started:"
                f" {error}."
            ) from error
        worker = _Worker(task, process, log)
        self._workers.append(worker)
        return worker

    def finish(self, worker: _Worker) -> Event:
        """End `worker` and all it started; return its last event."""
        self._workers.remove(worker)
        process = worker.process
        if process.stdin:
            process.stdin.close()  # tells the worker that nobody listens
        if _stdout(worker).closed is False:
            _stdout(worker).close()
        try:
            process.wait(timeout=0 if worker.given_up else 1)
        except subprocess.TimeoutExpired:
            process.terminate()  # it then kills the child that is at work
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return {
            "event": "ended",
            "status": process.wait(),
            "given_up": worker.given_up,
            "seconds": worker.heard - worker.started,
            "log": _tail(worker.log),
        }

    def dead(self) -> list[_Worker]:
        """Return the workers whose process has ended."""
        return [worker for worker in self._workers if worker.process.poll() is not None]

    def give_up_silent(self) -> None:
        """Kill workers that have not said a word for longer than is bearable."""
        for worker in self._workers:
            if time.monotonic() - worker.heard > worker.task.patience and not worker.given_up:
                worker.given_up = True
                worker.process.terminate()
                worker.process.kill()


def _stdout(worker: _Worker) -> IO[bytes]:
    assert worker.process.stdout is not None
    return worker.process.stdout


def _events(worker: _Worker, more: bytes) -> Iterator[Event]:
    worker.heard = time.monotonic()
    *lines, worker.pending = (worker.pending + more).split(b"\n")
    for line in lines:
        with suppress(ValueError):  # a module wrote to what it took for standard output
            event = json.loads(line)
            if isinstance(event, dict) and "event" in event:
                _refuse_internal(worker, event)
                yield event


def _refuse_internal(worker: _Worker, event: Event) -> None:
    """Raise where the worker's own code failed: that is never a finding."""
    if event.get("outcome") == "internal":
        name, payload = worker.task.environment.spec.name, event.get("payload", "?")
        *more, last = event["error"].strip().splitlines()
        where = f"The worker of environment {name!r} failed while it dealt with payload {payload!r}"
        raise MemoryMatrixError("\n".join([f"{where}: {last}", *more]))


def _variables(environment: Environment, scratch: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in KEPT_FROM_HOME}
    return {
        **kept,
        "PYTHONHASHSEED": "0",  # the same set is then written as the same bytes
        "TMPDIR": str(scratch),
        **dict(environment.spec.env),
    }


def _tail(log: Path, most: int = 2000) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - most))
        return file.read().decode("utf-8", "replace").strip()
