"""Run the cases of one pytest command in several processes: `python -m memory_matrix.suite.crew`.

Reads lines of JSON from standard input: a question about stores, which is answered on standard output, and
a wish for cases to run, which is the last. Until the wish comes, what every process needs is imported, once
for all where processes can be forked. Each of them collects all cases, in the same order, and asks for the
number of the next one; one that dies costs the case that it was at.

This process itself loads nothing of the user's: nobody knows whether what that starts survives a fork.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, NoReturn

from memory_matrix.suite.describe import compile_package, describe
from memory_matrix.suite.kin import adopt_orphans, end_with, kill_descendants
from memory_matrix.suite.wishes import Question, Wish

_FORKS = sys.platform == "linux"
"""Elsewhere a fork may not use all that its parent has loaded."""
_CONTEXT: Any = multiprocessing.get_context("fork" if _FORKS else "spawn")
_FOR_STORES = ("psycopg_pool",)
_FOR_CASES = (
    *("pytest", "_pytest.junitxml", "_pytest.skipping", "_pytest.unittest", "pytest_timeout"),
    *("memory_matrix.pytest_plugin", "memory_matrix.matrix.sources"),
    *("memory_matrix.suite.reporting", "memory_matrix.suite.starting"),
)
_NONE_LEFT = -1
_LOOK = 0.1
"""Seconds between two looks at whether a process has died whose own children keep its line open."""
_INTERNAL_ERROR = 3
"""How pytest ends where it failed itself."""
_TAIL = 2000
"""Bytes that are kept of what a process said before it died."""
_HARMLESS = (0, 1, 5)
"""How pytest ends where it ran what it was to run: all passed, some failed, none was left."""


class Turns:
    """A plugin of pytest that runs the cases whose numbers the crew gives it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._process = os.getpid()

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run cases until there are none left."""
        if session.testsfailed or session.config.option.collectonly:
            return False
        while (number := self._next(len(session.items))) != _NONE_LEFT:
            item = session.items[number]
            # What comes next in this process is not known: it tears down all that it has set up.
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if os.getpid() != self._process:  # a store has forked, and here is who was to end
                os._exit(0)
        return True

    def _next(self, count: int) -> int:
        try:
            self._line.send(count)
            number: int = self._line.recv()
        except (EOFError, OSError):  # nobody wants the results any more
            return _NONE_LEFT
        return number


def _work(
    arguments: Sequence[str], line: Connection, others: Sequence[Connection], crew: int
) -> None:
    """Be one of the crew; ends the process with the status of pytest."""
    import pytest

    end_with(crew)
    for each in others:
        each.close()  # so that the crew's end is heard by all
    status = _INTERNAL_ERROR
    try:
        status = int(pytest.main([*arguments], plugins=[Turns(line)]))
    except BaseException:  # noqa: BLE001 - whatever a store raises; who started us sees the status
        traceback.print_exc()
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End at once: without waiting for threads and processes of stores, or taking apart what was loaded."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a store has closed it
            stream.flush()
    os._exit(status)


@dataclass
class _Member:
    process: BaseProcess
    line: Connection
    at: int | None = None
    """The number of the case that it is running."""
    since: float = field(default_factory=time.monotonic)
    """When it was last heard of."""
    late: bool = False
    """Whether it was killed for being silent for too long."""


@dataclass
class Crew:
    """Processes at work, and who gets which case."""

    wish: Wish
    _members: list[_Member] = field(default_factory=list)
    _given: int = 0
    _code: int = 0

    def run(self) -> int:
        """Run all cases, and return the exit status: that of a process that went wrong, if one did.

        Ends early, for nobody wants the results, where the process that asked for them is gone.
        """
        asker = os.getppid()
        for _ in range(self.wish.workers):
            self._hire()
        while self._members and os.getppid() == asker:
            ready = wait([end for each in self._members for end in _ends(each)], _LOOK)
            for each in [*self._members]:
                if each.line in ready and self._answer(each):
                    continue
                if not each.process.is_alive():
                    self._part(each)
                elif time.monotonic() - each.since > self._patience(each):
                    each.late = True
                    each.process.kill()
        return self._code

    def _patience(self, member: _Member) -> float:
        """Return how long a member may be silent; cases end by a limit of their own, if they can."""
        return self.wish.loading if member.at is None else self.wish.longest

    def _hire(self) -> None:
        line, theirs = _CONTEXT.Pipe()
        others = [line, *(each.line for each in self._members)] if _FORKS else []
        process = _CONTEXT.Process(
            target=_work, args=(self.wish.arguments, theirs, others, os.getpid())
        )
        process.start()
        theirs.close()
        self._members.append(_Member(process, line))

    def _answer(self, member: _Member) -> bool:
        """Give a member its next case; return whether it asked for one."""
        try:
            count: int = member.line.recv()
            member.at = self._given if self._given < count else None
            self._given += member.at is not None
            member.since = time.monotonic()
            member.line.send(_NONE_LEFT if member.at is None else member.at)
        except (EOFError, OSError):  # it has ended, or is about to
            member.process.join(_LOOK)
            return False
        return True

    def _part(self, member: _Member) -> None:
        """Part with a member that has ended; hire another one where it died at work."""
        self._members.remove(member)
        member.line.close()
        code = member.process.exitcode or 0
        if member.at is not None:
            self._write_lost(member.at, None if member.late else code)
            self._hire()
        elif code not in _HARMLESS:
            if member.late:
                _say(f"TimeoutError: it neither loaded nor ended in {self.wish.loading:g} s")
            self._code = code if code > 0 else 128 - code
        else:
            self._code = self._code or code

    def _write_lost(self, number: int, status: int | None) -> None:
        """Say of a case that its process ended, with a status, or that it had to be ended."""
        with Path(self.wish.results).open("ab", buffering=0) as file:
            file.write(json.dumps({"lost": number, "status": status}).encode() + b"\n")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _ends(member: _Member) -> tuple[Any, ...]:
    return (member.line, member.process.sentinel)


class _Describing:
    """A process that loads stores, and what it says of them."""

    def __init__(self, question: Question) -> None:
        self._output = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed by `answer`
        self._line, theirs = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(
            target=_describe, args=(question, theirs, self._output.name, os.getpid())
        )
        self._patience = question.patience
        self._asker = os.getppid()
        self._process.start()
        theirs.close()

    def is_over(self) -> bool:
        """Return whether `answer` need not wait."""
        return bool(wait([self._line, self._process.sentinel], 0))

    def answer(self) -> str:
        """Wait for the answer, and return it as a line of JSON; end what stores have started."""
        answer = self._answer()
        self._process.kill()
        self._process.join()
        if _FORKS:
            kill_descendants()
        self._line.close()
        self._output.close()
        return answer

    def _answer(self) -> str:
        deadline = time.monotonic() + self._patience
        while not self._line.poll(_LOOK) and self._process.is_alive():
            if time.monotonic() > deadline or os.getppid() != self._asker:
                late = f"TimeoutError: they were not there after {self._patience:g} s"
                return json.dumps({"said": f"{_tail(self._output)}\n{late}", "code": None})
        try:
            answer: str = self._line.recv() if self._line.poll(0) else ""
        except EOFError:
            answer = ""
        if answer:
            return answer
        self._process.join()
        return json.dumps({"said": _tail(self._output), "code": self._process.exitcode})


def _describe(question: Question, line: Connection, output: str, crew: int) -> None:
    """Send what stores say of themselves; what their modules print goes to `output`."""
    end_with(crew)
    with Path(output).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    root = Path(question.root)
    line.send(json.dumps([describe(source, root) for source in question.stores]))


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    return file.read().decode(errors="replace")


def _import_all(modules: Sequence[str], describing: _Describing | None = None) -> None:
    """Import what is needed, and answer a question as soon as that can be done.

    What cannot be had is told by who needs it.
    """
    for module in modules if _FORKS else ():
        if describing is not None and describing.is_over():
            print(describing.answer(), flush=True)
            describing = None
        with suppress(Exception):
            import_module(module)
    if describing is not None:
        print(describing.answer(), flush=True)


def _cases() -> list[str]:
    folder = Path(__file__).parent / "cases"
    return [f"memory_matrix.suite.cases.{each.stem}" for each in folder.glob("*.py")]


def main() -> int:
    """Do what standard input says, leave no process, and return the exit status."""
    if not _FORKS:
        return _main()
    adopt_orphans()
    try:
        return _main()
    finally:
        kill_descendants()


def _main() -> int:
    gc.disable()  # until tests are run, see `memory_matrix.suite.starting`: nothing here is garbage
    compile_package()
    _import_all(_FOR_STORES)
    said = _heard()
    describing = None
    if "stores" in said:
        describing = _Describing(Question(**said))
    _import_all([*_FOR_CASES, *_cases()], describing)
    if describing is not None:
        said = _heard()
    return _run(Wish(**said)) if said else 0


def _heard() -> dict[str, Any]:
    """Return what standard input says next; nothing at its end."""
    line = sys.stdin.readline()
    said: dict[str, Any] = json.loads(line) if line else {}
    return said


def _run(wish: Wish) -> int:
    os.environ["TMPDIR"] = tempfile.tempdir = wish.temporary
    _import_all(wish.own)
    return Crew(wish).run()


if __name__ == "__main__":
    _leave(main())
