"""Use a store from several processes at once, as an application does: they share no memory, and no locks.

Each is a Python of its own, which loads the store anew and does jobs. It reads lines of JSON: which store, and
where to open it; then a job a line. It answers each with a line: the value, or the error that came of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol, cast

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.servers.client import Servers
from memory_matrix.stores.loading import load_store
from memory_matrix.stores.protocol import Scope, StoreEnv
from memory_matrix.suite.calling import together
from memory_matrix.suite.embedding import embed
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed, HarnessError
from memory_matrix.suite.samples import record
from memory_matrix.suite.site import Facilities, Site

_PROGRAM = "import sys; sys.path[:] = {path!r}; from memory_matrix.suite import elsewhere; elsewhere.main()"
"""What the other process runs: with this one's path, so that it loads the same modules."""
_NOT_SENT = ("codec", "embed")
"""What of an env a process makes for itself."""
_ENDING = 5.0
"""Seconds that a process gets to end by itself."""


class User(Protocol):
    """Who uses a store: another process, or an object in this one."""

    def do(self, job: str, **given: Any) -> Any:
        """Return what comes of a job: see the end of this module."""


class Here:
    """A store object in this process, for a store that no other process can load."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def do(self, job: str, **given: Any) -> Any:
        """Return what comes of a job."""
        return _JOBS[job](self, **given)


class Process:
    """Another process, with a store object of its own."""

    def __init__(self, process: subprocess.Popen[str], said: IO[bytes], order: str) -> None:
        self._process = process
        self._said = said
        self._send(order)

    def loaded(self) -> bool:
        """Return whether it could load the store, once it knows.

        Raises:
            HarnessError: it ended.
        """
        answer = self._answer()
        if answer is None:
            raise HarnessError(f"a process of the suite {self._how_it_ended()}")
        return bool(answer["value"])

    def do(self, job: str, **given: Any) -> Any:
        """Return what comes of a job.

        Raises:
            CaseFailed: an error does, or the process ended.
        """
        self._send(json.dumps({"job": job, "given": given}))
        answer = self._answer()
        if answer is None:
            raise CaseFailed(f"a process that used the store {self._how_it_ended()}")
        if "error" in answer:
            raise CaseFailed(f"in a process of its own, {answer['error']}")
        return answer["value"]

    def end(self) -> None:
        """End the process: by itself, unless it is at work."""
        if self._busy:
            self._process.kill()
        with suppress(OSError):
            cast("IO[str]", self._process.stdin).close()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        cast("IO[str]", self._process.stdout).close()

    def _send(self, line: str) -> None:
        self._busy = True
        with suppress(OSError):  # it has ended, which its answer will say
            stdin = cast("IO[str]", self._process.stdin)
            stdin.write(f"{line}\n")
            stdin.flush()

    def _answer(self) -> Any:
        line = cast("IO[str]", self._process.stdout).readline()
        self._busy = False
        return json.loads(line) if line else None

    def _how_it_ended(self) -> str:
        code = self._process.wait(_ENDING)
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f"ended with status {code}: {(lines or ['it said nothing'])[-1][:300]}"


@contextmanager
def users(memory: Memory, count: int) -> Iterator[Sequence[User]]:
    """Yield processes that have opened the store; or objects, where it cannot be loaded anew.

    Raises:
        CaseFailed: on leaving, the store could not be closed.
        HarnessError: a process cannot be started.
    """
    _ = memory.store  # whether many may make the tables at once is the question of another case
    with processes(memory, count) as started:
        found: Sequence[User] = started or [Here(memory.another()) for _ in range(count)]
        for each in found:
            each.do("open")
        yield found


@contextmanager
def processes(memory: Memory, count: int) -> Iterator[Sequence[User]]:
    """Yield processes that have loaded the store; none where it cannot be loaded anew.

    Raises:
        CaseFailed: on leaving, the store could not be closed.
        HarnessError: a process cannot be started.
    """
    with ExitStack() as stack:
        started = _processes(memory, count, stack)
        yield started
        for each in started:
            each.do("finish")


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return the values of calls that are made at one moment; raises what one of them raises."""
    return [done.result() for done in together(calls)]


def _processes(memory: Memory, count: int, stack: ExitStack) -> list[Process]:
    order = _order(memory)
    if order is None:
        return []
    started = [stack.enter_context(_started(order)) for _ in range(count)]
    return started if all(at_once([each.loaded for each in started])) else []


@contextmanager
def _started(order: str) -> Iterator[Process]:
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(
            (sys.executable, "-c", _PROGRAM.format(path=sys.path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            encoding="ascii",
        )
        process = Process(running, said, order)
        try:
            yield process
        finally:
            process.end()


def _order(memory: Memory) -> str | None:
    """Return what to tell a process; None if what the store is opened with cannot be sent."""
    root = memory.tested.root
    if root is None:
        return None
    order = {"source": memory.tested.source, "root": str(root), "env": env_sent(memory.env)}
    try:
        return json.dumps(order)
    except (TypeError, ValueError):
        return None


def env_sent(env: StoreEnv) -> dict[str, Any]:
    """Return an env as jobs take it."""
    return {
        each.name: getattr(env, each.name) for each in fields(env) if each.name not in _NOT_SENT
    }


# ---- the other process --------------------------------------------------------------------------


def main() -> None:
    """Do the jobs that standard input tells."""
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # what a library prints is no answer
        lines = iter(sys.stdin.readline, "")
        memory = _loaded(json.loads(next(lines)))
        _say(answers, {"value": memory is not None})
        if memory is not None:
            user = Here(memory)
            for line in lines:
                _say(answers, _done(user, json.loads(line)))


def _say(answers: IO[str], answer: Mapping[str, Any]) -> None:
    answers.write(f"{json.dumps(answer)}\n")
    answers.flush()


def _loaded(order: Mapping[str, Any]) -> Memory | None:
    try:
        store = load_store(order["source"], Path(order["root"]))
    except MemoryMatrixError:
        return None
    no_servers = Site(Facilities(cast("Servers", None), {}))  # it knows them by the store alone
    return Memory(store, _env(order["env"]), no_servers)


def _env(given: Mapping[str, Any]) -> StoreEnv:
    codec = None
    if given["serializer"] is not None:
        from memory_matrix.suite.running import load_codec

        codec = load_codec(given["serializer"])
    return StoreEnv(**{**given, "nodes": tuple(given["nodes"])}, codec=codec, embed=embed)


def _done(user: Here, told: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"value": user.do(told["job"], **told["given"])}
    except Exception as error:  # noqa: BLE001 - whatever a store raises is a finding
        from memory_matrix.suite.running import reason_of

        return {"error": reason_of(error)}


# ---- jobs ---------------------------------------------------------------------------------------


def sent(scope: Scope) -> dict[str, Any]:
    """Return a scope as jobs take it."""
    return asdict(scope)


def _scope(given: Mapping[str, Any]) -> Scope:
    return Scope(**{**given, "namespace": tuple(given["namespace"])})


def _open(user: Here) -> None:
    _ = user.memory.store


def _move(user: Here, env: Mapping[str, Any]) -> None:
    """Open the store at another place, without making its tables."""
    user.memory.finish()
    user.memory = Memory(user.memory.tested, _env(env), user.memory.site)
    user.memory.open()


def append_each(memory: Memory, scope: Scope, own: Sequence[Sequence[str]]) -> None:
    """Append in as many threads as there are lists, each text of a list by itself."""
    writers = workers_of(memory, len(own))
    for each in writers:
        _ = each.store
    at_once([partial(_say_each, *pair, scope) for pair in zip(writers, own, strict=True)])


def _say_each(writer: Memory, texts: Sequence[str], scope: Scope) -> None:
    for text in texts:
        writer.say(scope, text)


def workers_of(memory: Memory, count: int) -> list[Memory]:
    """Return what each of several threads uses: the one object, or its own where they may not share."""
    if memory.policy.threads == "yes" or memory.is_async:
        return [memory] * count
    return [memory.another() for _ in range(count)]


def _append(user: Here, scope: Mapping[str, Any], own: Sequence[Sequence[str]]) -> None:
    append_each(user.memory, _scope(scope), own)


def _texts(user: Here, scope: Mapping[str, Any]) -> list[str]:
    return user.memory.texts(_scope(scope))


def pop_some(memory: Memory, scope: Scope, count: int) -> list[str]:
    """Return the texts of what is popped, one after the other."""
    popped = [memory.pop(scope) for _ in range(count)]
    return ["nothing" if message is None else message.text for message in popped]


def _pop(user: Here, scope: Mapping[str, Any], count: int) -> list[str]:
    return pop_some(user.memory, _scope(scope), count)


def use_first(memory: Memory, name: str) -> None:
    """Make the tables of an opened store, and write."""
    memory.setup()
    if memory.offers("append"):
        memory.say(Scope(), name)
    if memory.offers("put"):
        memory.put(Scope(), record(memory, name))


def _use_first(user: Here, name: str) -> None:
    use_first(user.memory, name)


def _finish(user: Here) -> None:
    user.memory.finish()


_JOBS: Mapping[str, Callable[..., Any]] = {
    "open": _open,
    "move": _move,
    "append": _append,
    "texts": _texts,
    "pop": _pop,
    "use_first": _use_first,
    "finish": _finish,
}
