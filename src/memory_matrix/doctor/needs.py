"""What the matrix needs of the machine: its file, interpreters, and servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memory_matrix.doctor.model import Check
from memory_matrix.environments.interpreters import find
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.wheels import is_installed
from memory_matrix.errors import UnavailableError, UsageError
from memory_matrix.matrix.model import CURRENT_PYTHON, Matrix, ServerSource
from memory_matrix.report.visible import counted
from memory_matrix.servers.asking import NotReadyError, ask
from memory_matrix.servers.binaries import find_binary

_PATIENCE = 1.5
"""Seconds that a server given by URL has to answer."""


def check_matrix(path: Path | None, matrix: Matrix | None, error: UsageError | None) -> Check:
    """Return the check of the matrix file, which is read already or could not be."""
    if error is not None:
        return Check(
            "matrix", "problem", str(error), "correct it; `memory-matrix plan` shows what it comes to",
            needed=True,
        )  # fmt: skip
    if path is None or matrix is None:
        return Check("matrix", "missing", "no matrix file here", "`memory-matrix init` writes one")
    environments = counted(len(matrix.environments), "environment")
    return Check(
        "matrix", "ok", f"{path}: {environments}, {counted(len(matrix.servers), 'server')}"
    )


def check_wanted_pythons(matrix: Matrix, runner: Runner, *, strict: bool) -> Iterator[Check]:
    """Yield a check for each interpreter that the matrix names and this machine has not.

    As in a run, one that is missing alone is excused unless that is `strict`.
    """
    wanted = dict.fromkeys(each.python for each in matrix.environments)
    missing = [each for each in wanted if not _has_python(each, runner)]
    needed = strict or len(missing) == len(wanted)
    for python in missing:
        yield Check(
            f"Python {python}", "missing",
            "the matrix names it" if needed else "a run here leaves its environments out",
            f"`uv python install {python}`, or run with --download-pythons"
            if python[0].isdigit()
            else "correct its path in the matrix file",
            needed=needed, excused=not needed,
        )  # fmt: skip


def _has_python(python: str, runner: Runner) -> bool:
    if python == CURRENT_PYTHON:
        return True
    try:
        find(python, runner=runner)
    except UnavailableError:
        return False
    return True


def check_server(source: ServerSource, cache: Path) -> Iterator[Check]:
    """Yield the check of a server's source; images are the Docker engine's."""
    if source.form in _CHECKS:
        yield _CHECKS[source.form](source, cache)


def _wheel(source: ServerSource, cache: Path) -> Check:
    if is_installed(source.value, cache=cache):
        return Check(source.text, "ok", "in the cache")
    return Check(source.text, "missing", "not in the cache", "nothing: the first run fetches it")


def _binary(source: ServerSource, cache: Path) -> Check:
    try:
        return Check(source.text, "ok", str(find_binary(source, cache=cache).path))
    except UnavailableError as error:
        advice = "name a server's executable, or the folder it is in"
        return Check(source.text, "problem", str(error), advice, needed=True)


def _url(source: ServerSource, _: Path) -> Check:
    try:
        answer = ask(source.kind, source.value, timeout=_PATIENCE)
    except NotReadyError as error:
        advice = "start it, or correct its URL in the matrix file"
        if error.refused:
            advice = "correct the user, the password or the database in its URL"
        return Check(source.text, "missing", str(error), advice, needed=True)
    return Check(source.text, "ok", f"answers as {answer.flavour} {answer.version}")


_CHECKS = {"wheel": _wheel, "bin": _binary, "url": _url}
