"""A team's project in a folder of its own, and runs of its tests by a real pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from memory_matrix.servers.client import ADDRESS
from support import loaded
from support.processes import processes_of

LONGEST = 180
"""Seconds after which a run counts as hung."""

_OWN = re.compile(rf"PYTEST_|CI$|NO_COLOR$|FORCE_COLOR$|PYTHON(?!PATH)|COVERAGE_|{ADDRESS}$")
_OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED) (?:\S+?::)(\S+)", re.MULTILINE)
_INI = """
[pytest]
addopts = -p no:cacheprovider -p no:randomly -rA --tb=short
asyncio_default_fixture_loop_scope = function
filterwarnings =
    error
"""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    text: str
    """All that it wrote."""

    @property
    def outcomes(self) -> dict[str, str]:
        """The worst that became of each test, by its name."""
        found: dict[str, str] = {}
        for outcome, name in _OUTCOME.findall(self.text):
            if found.get(name) in {None, "PASSED"}:
                found[name] = outcome
        return found

    def all_passed(self, number: int) -> bool:
        """Return whether just `number` tests ran, and all of them passed."""
        found = list(self.outcomes.values())
        return self.code == 0 and found == ["PASSED"] * number


@dataclass
class Team:
    """A project that uses the plugin."""

    folder: Path
    temporary: Path
    """The folder for temporary files of its runs; whatever has it in its environment is of a run."""
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def ini(self, *lines: str) -> None:
        """Write the ini file, with further lines."""
        self.write("pytest.ini", "\n".join((_INI.strip(), *lines, "")))

    def run(self, *arguments: str, cwd: Path | None = None, **environ: str) -> Ended:
        """Run the project's tests."""
        done = loaded.run(
            "pytest", arguments, cwd or self.folder, self._variables(environ),
            timeout=LONGEST, together=True, errors="backslashreplace",
        )  # fmt: skip
        return Ended(done.returncode, done.stdout)

    @contextmanager
    def started(self, *arguments: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
        """Start the project's tests, in a process group of their own; kill what is left in the end."""
        with (
            self._log.open("w") as log,
            subprocess.Popen(
                self._command(arguments),
                cwd=self.folder,
                env=self._variables(environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                start_new_session=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def ended(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for what `started` started."""
        code = process.wait(LONGEST)
        return Ended(code, self._log.read_text(encoding="utf-8", errors="backslashreplace"))

    def noted(self) -> list[str]:
        """Return what tests of the project wrote down by `note`."""
        path = self.folder / "notes.txt"
        return path.read_text().splitlines() if path.exists() else []

    def left(self) -> list[str]:
        """Return what is left of all runs: processes, and files in their temporary folder."""
        return [*processes_of(self.temporary).values(), *map(str, self.temporary.iterdir())]

    @property
    def _log(self) -> Path:
        return self.folder / "output.txt"

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "pytest", *arguments]

    def _variables(self, more: dict[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not _OWN.match(name)}
        own = {
            "COLUMNS": "300",
            "NOTES": str(self.folder),
            "PYTEST_DEBUG_TEMPROOT": str(self.folder),
            "TMPDIR": str(self.temporary),
        }
        return {**kept, **own, **self.environ, **more}


NOTE = """
import os

def note(text):
    with open(os.path.join(os.environ["NOTES"], "notes.txt"), "a") as notes:
        notes.write(f"{text}\\n")

def notes():
    with open(os.path.join(os.environ["NOTES"], "notes.txt")) as notes:
        return notes.readlines()
"""
"""A module for tests of a project, which writes down what they see."""


def made_by_runs(url: str) -> list[str]:
    """Return the schemas, databases and connections of runs that are on a Postgres."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            r"SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'mm\_%'"
            r" UNION ALL SELECT datname FROM pg_database WHERE datname LIKE 'mm\_%'"
            r" UNION ALL SELECT application_name FROM pg_stat_activity"
            r" WHERE application_name LIKE 'mm\_%'"
        ).fetchall()
    return [name for (name,) in rows]
