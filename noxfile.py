#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.5", "uv>=0.11"]
# ///
"""Sessions for working on memory-matrix. See them with `nox -l`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import nox

sys.path.insert(
    0, str(Path("src").resolve())
)  # whatever Python nox has: nothing is installed there

from memory_matrix.nox import sessions

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "tests"]
nox.options.error_on_missing_interpreters = False

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
MATRICES = sorted(path.stem for path in Path("matrix").glob("*.toml"))

SPREAD = ("-n", "3", "--dist", "worksteal")
"""For two cores: a third of the time such tests wait, for servers, networks and processes that end."""

STAGES = {
    "unit": ["tests/unit", "-m", "not concurrency and not large"],
    "servers": ["tests", "-m", "(integration or large) and not concurrency", *SPREAD],
    "concurrency": ["tests", "-m", "concurrency", *SPREAD],
    "action": ["tests/action", "-m", "act", "-n", "6"],  # all at once: jobs wait for each other
    "browser": ["tests/browser", "-m", "browser"],
}
"""What pytest is told for each stage of the project's own tests. Together they are all tests."""

MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of the user's own in it
ROOMY = 1 << 30
"""Bytes to spare; the folders of the stage unit take 20 MB."""

KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": None}
"""Without it each of pytest's processes compiles all that it imports anew: half of a short stage."""

# nox -s integration: the memory test suite across matrix/default.toml.
sessions("matrix/default.toml", compat=None, install=["-e", ".[docker]"])


def install(session: nox.Session, *groups: str) -> None:
    """Install the project as it stands, and what `groups` of pyproject.toml name."""
    session.install("-e", ".[docker]", *nox.project.dependency_groups(PROJECT, *groups))


def run_stages(session: nox.Session, stages: Sequence[str], *python: str) -> None:
    """Run stages of the project's own tests, one after the other."""
    for stage in stages:
        session.run(
            *(python or ("python", "-m")), "pytest", "-n", "2", *STAGES[stage], *session.posargs,
            env={**KEEP_BYTECODE, **(in_memory() if stage == "unit" else {})},
        )  # fmt: skip


def in_memory() -> dict[str, str]:
    """Have the folders of tests in memory, where there is room: a tenth of a stage of small tests."""
    try:
        found = os.statvfs(MEMORY)
    except OSError:  # not on Linux
        return {}
    roomy = found.f_bavail * found.f_frsize > ROOMY and os.access(MEMORY, os.W_OK)
    return {"PYTEST_DEBUG_TEMPROOT": str(MEMORY)} if roomy else {}


@nox.session(tags=["test"])
def tests(session: nox.Session) -> None:
    """Run all tests that this machine can, stage by stage."""
    install(session, "test", "browser")
    run_stages(session, list(STAGES))


@nox.session(python=PYTHONS, tags=["test"], default=False)
def unit(session: nox.Session) -> None:
    """Run the unit tests, no server and no environment, on each Python that memory-matrix runs on."""
    install(session, "test")
    run_stages(session, ["unit"])


@nox.session(tags=["test"], default=False)
def servers(session: nox.Session) -> None:
    """Run the tests that need real servers, interpreters and environments."""
    install(session, "test")
    run_stages(session, ["servers"])


@nox.session(tags=["test"], default=False)
def concurrency(session: nox.Session) -> None:
    """Run the tests of races: threads, processes, servers that end in the middle."""
    install(session, "test")
    run_stages(session, ["concurrency"])


@nox.session(tags=["test"], default=False)
def action(session: nox.Session) -> None:
    """Run the action and the workflows, by act."""
    install(session, "test")
    run_stages(session, ["action"])


@nox.session(tags=["test"], default=False)
def browser(session: nox.Session) -> None:
    """Open the HTML report in Chromium."""
    install(session, "test", "browser")
    run_stages(session, ["browser"])


@nox.session(tags=["lint"])
def lint(session: nox.Session) -> None:
    """Check style, formatting and types, the action and the workflows."""
    install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("python", "tools/lint_actions.py")


@nox.session(default=False)
@nox.parametrize("matrix", MATRICES, ids=MATRICES)
def compat(session: nox.Session, matrix: str) -> None:
    """Run memory-matrix on one of this project's own matrices."""
    session.install("-e", ".[docker]")
    session.run(
        "memory-matrix", "compat", "-c", f"matrix/{matrix}.toml", *session.posargs,
        success_codes=[0, 1],  # breaks are what these matrices are there to show
    )  # fmt: skip


@nox.session(tags=["test"], default=False)
def coverage(session: nox.Session) -> None:
    """Run all stages under coverage, subprocesses and all, and show what they miss together."""
    install(session, "test", "browser")
    session.run("coverage", "erase")
    try:
        run_stages(session, list(STAGES), "coverage", "run", "-m")
    finally:
        session.run("coverage", "combine")
        session.run("coverage", "report")


@nox.session(default=False)
def benchmark(session: nox.Session) -> None:
    """Time compat against one process per pair; with `-- --growth` for 5, 10 and 20 environments too."""
    session.install("-e", ".")
    session.run("python", "benchmarks/compat.py", *session.posargs)


if __name__ == "__main__":
    nox.main()
