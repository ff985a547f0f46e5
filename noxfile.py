#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.5", "uv>=0.11"]
# ///
"""Sessions for working on memory-matrix. See them with `nox -l`."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "tests"]
nox.options.error_on_missing_interpreters = False

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
MATRICES = sorted(path.stem for path in Path("matrix").glob("*.toml"))


def install(session: nox.Session, group: str) -> None:
    """Install the project as it stands, and what `group` of pyproject.toml names."""
    session.install("-e", ".[docker]", *nox.project.dependency_groups(PROJECT, group))


@nox.session(tags=["test"])
def tests(session: nox.Session) -> None:
    """Run all tests that this machine can: unit, then with real servers and environments."""
    install(session, "test")
    session.run("pytest", "-n", "2", "tests/unit", *session.posargs)
    session.run("pytest", "-n", "2", "tests/integration", *session.posargs)


@nox.session(python=PYTHONS, tags=["test"], default=False)
def unit(session: nox.Session) -> None:
    """Run the unit tests, no server and no environment, on each Python that memory-matrix runs on."""
    install(session, "test")
    session.run("pytest", "-n", "2", "tests/unit", *session.posargs)


@nox.session(tags=["lint"])
def lint(session: nox.Session) -> None:
    """Check style, formatting and types."""
    install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


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
    """Run all tests under coverage, subprocesses and all, and show what they miss."""
    install(session, "test")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-n", "2", "tests", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session(default=False)
def benchmark(session: nox.Session) -> None:
    """Time compat against one process per pair; with `-- --growth` for 5, 10 and 20 environments too."""
    session.install("-e", ".")
    session.run("python", "benchmarks/compat.py", *session.posargs)


if __name__ == "__main__":
    nox.main()
