"""Sessions of nox for a matrix file, in two lines of a noxfile.

`from memory_matrix.nox import sessions`, and then `sessions()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import nox

from memory_matrix.errors import UsageError
from memory_matrix.matrix import read
from memory_matrix.matrix.sessions import Session
from memory_matrix.runners import (
    LACKING,
    REPORTS,
    TAG,
    Offered,
    SuiteCommand,
    find,
    forget,
    missing,
    offer,
    suite_command,
)

_CLEANING = 60.0
"""Seconds that a run has to stop its servers in after Ctrl-C."""

_Function = Callable[..., None]


def sessions(
    config: str | Path | None = None,
    *,
    name: str = "integration",
    compat: str | None = "compat",
    install: Sequence[str] = (),
    default: bool = False,
) -> None:
    """Register a session for each suite process of a matrix file, and one that runs compat.

    `nox -s integration` runs all of the suite. One session is `integration-3.12(pg18, valkey9)`, with
    what else tells its environment apart in front of the servers; or `integration(production, pg18,
    valkey9)` where the environments are not all made from an axis `python`. Its tags are the
    environment, the Python, the servers, and `memory-matrix`. What follows `--` goes to
    `memory-matrix suite`. A machine that lacks an interpreter or Docker skips what needs it; where CI
    is set, that fails.

    A matrix file that is wrong or missing ends nox with one paragraph on standard error.

    Args:
        config: the matrix file; by default the one that `memory-matrix` finds from this folder.
        name: what the suite's sessions are called.
        compat: what the session that runs compat is called; None for no such session.
        install: what to install into an environment of the session's own, as for `session.install`,
            and to run there; by default the memory-matrix that nox itself has is run.
        default: whether `nox` alone runs them.
    """
    offered = _offered(config)
    run = _Runs(offered, tuple(install))
    groups = grouped(name, offered.sessions)
    backend = None if install else "none"
    register = partial(nox.session, default=default, venv_backend=backend)
    for group, each in groups.items():
        register(_of_suite(run, each), name=group)
    if name not in groups:
        parts = [f"{group}({one})" for group in groups for one in groups[group]]
        register(
            _of_all(offered), name=name, venv_backend="none", requires=list(map(_plain, parts))
        )
    if compat is not None:
        register(_of_compat(run), name=compat, tags=[TAG])


def grouped(name: str, found: Sequence[Session]) -> dict[str, dict[str, Session]]:
    """Return the sessions by what they are called, and by what follows that in parentheses.

    Where every environment has a version on the axis `python`, that is in the name: `integration-3.12`.
    """
    by_python = all(session.python is not None for session in found)
    groups: dict[str, dict[str, Session]] = {}
    for session in found:
        group = f"{name}-{session.python}" if by_python else name
        environment = session.rest if by_python else session.environment.name
        parts = (*filter(None, (environment,)), *session.labels)
        groups.setdefault(group, {})[", ".join(parts)] = session
    return groups


def _offered(config: str | Path | None) -> Offered:
    here = Path.cwd()
    try:
        file = _found(here, config)
        return offer(file.relative_to(here) if file.is_relative_to(here) else file)
    except UsageError as error:
        print(f"memory-matrix: error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


def _found(here: Path, config: str | Path | None) -> Path:
    file = find(here, config)
    if file is None:
        raise UsageError(
            f"There is no matrix file in {here} or above it: write {read.FILE}, or name the file in "
            'the noxfile, as in sessions("matrix.toml").'
        )
    return file


def _plain(requirement: str) -> str:
    """Return a session's name as `requires` takes it, where braces mean something."""
    return requirement.replace("{", "{{").replace("}", "}}")


# What is registered


def _of_suite(run: _Runs, each: dict[str, Session]) -> _Function:
    def suite(session: nox.Session, cells: Session) -> None:
        run.suite(session, cells)

    suite.__doc__ = f"Test the stores of {run.offered.file} in one environment, on these servers."
    cells = [nox.param(one, id=name, tags=[*one.tags, TAG]) for name, one in each.items()]
    parametrized: _Function = nox.parametrize("cells", cells)(suite)
    return parametrized


def _of_all(offered: Offered) -> _Function:
    count = len(offered.sessions)

    def everything(session: nox.Session) -> None:
        if not count:
            session.error(
                f"The suite has nothing to run: name in {offered.file} a server that its stores need."
            )
        session.log(f"The reports are in {REPORTS}.")

    everything.__doc__ = f"Test the stores of {offered.file} in all environments: {count} sessions."
    return everything


def _of_compat(run: _Runs) -> _Function:
    def compat(session: nox.Session) -> None:
        run.compat(session)

    compat.__doc__ = (
        f"Write and read memory in all environments of {run.offered.file}, and compare."
    )
    return compat


# What runs


@dataclass(frozen=True)
class _Runs:
    """Runs what a matrix file offers, and knows what has been run in this process."""

    offered: Offered
    install: tuple[str, ...]
    done: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The options of a run, and the name of the session that had it."""

    def suite(self, session: nox.Session, cells: Session) -> None:
        """Run one session of the suite."""
        command = self._command(session, cells)
        before = self.done.setdefault(command.options, session.name)
        if before != session.name:
            session.skip(f"What follows -- makes it the same as {before}, which ran already")
        forget(command.report)
        codes = [0] if command.strict else [0, LACKING]
        self._run(session, command.arguments, codes)
        lack = missing(command.report)
        if lack is not None:
            (session.skip if lack.of_the_machine else session.error)(lack.reason.rstrip("."))

    def compat(self, session: nox.Session) -> None:
        """Run compat."""
        report = str(REPORTS / "compat")
        config = str(self.offered.file)
        options = ("--report-dir", report, "-c", config, *session.posargs)
        self._run(session, ("-m", "memory_matrix", "compat", *options), [0])

    def _command(self, session: nox.Session, cells: Session) -> SuiteCommand:
        try:
            command = suite_command(self.offered, cells, REPORTS, session.posargs)
        except UsageError as error:
            session.error(str(error).rstrip("."))
        if command is None:
            session.skip("--select leaves nothing of it")
        return command

    def _run(self, session: nox.Session, arguments: Sequence[str], codes: Sequence[int]) -> None:
        if self.install:
            session.install(*self.install)
        session.run(
            *("python" if self.install else sys.executable, *arguments),
            external=not self.install,
            success_codes=codes,
            interrupt_timeout=_CLEANING,
            terminate_timeout=_CLEANING,
        )
