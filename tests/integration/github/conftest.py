"""Projects whose runs are steps of GitHub Actions, with the runner's files in a temporary folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.project import LONGEST, Project, Run
from support.runner import Command, obeyed

ENTRY = (sys.executable, "-I", "-m", "memory_matrix.github")


@dataclass
class Steps:
    """A repository with a project in its folder `app`, and steps that run there."""

    project: Project
    summary: Path
    outputs: Path

    def action(self, **inputs: str) -> Run:
        """Run what the action runs, with inputs; `fail_on` is the input fail-on."""
        done = subprocess.run(
            ENTRY,
            cwd=self.project.folder,
            env=self.project.variables(variables(inputs)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr, None)

    def output(self, name: str) -> str:
        """Return an output of one line."""
        lines = self.outputs.read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)[name]


def variables(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return inputs as the action hands them on."""
    return {f"MEMORY_MATRIX_INPUT_{name.upper()}": value for name, value in inputs.items()}


def commands(run: Run) -> list[Command]:
    """Return what GitHub's runner obeys of a run's log."""
    return [*obeyed(run.stdout), *obeyed(run.stderr)]


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """Steps of a repository in a temporary folder."""
    folder = tmp_path / "repository/app"
    folder.mkdir(parents=True)
    files = tmp_path / "summary.md", tmp_path / "outputs"
    for file in files:
        file.touch()
    environ = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder.parent),
        "GITHUB_STEP_SUMMARY": str(files[0]),
        "GITHUB_OUTPUT": str(files[1]),
        "RUNNER_TEMP": str(tmp_path),
    }
    return Steps(Project(folder, "[servers]", environ), *files)
