"""Ctrl-C ends the command line in one way, whenever it comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

INTERRUPTING = """
import runpy, signal, sys

INTERRUPT = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print(end='')"

class Interrupting:
    left = int(sys.argv.pop(1))

    def find_spec(self, name, path=None, target=None):
        if "memory_matrix.entry" in sys.modules and name.isascii():
            Interrupting.left -= 1
            if Interrupting.left == 0:
                exec(INTERRUPT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Interrupts itself while it looks for the n-th module, in code that is run from a text."""

MODULES = {"memory_matrix": ["plan"], "memory_matrix.github": []}
SAID = "memory-matrix: interrupted; everything it started is stopped.\n"


def interrupting(folder: Path) -> list[str]:
    """Return what starts a module in `folder` that interrupts itself."""
    (folder / "interrupting.py").write_text(INTERRUPTING)
    return [sys.executable, "-m", "interrupting"]


def run(folder: Path, number: int, module: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*interrupting(folder), str(number), module, *MODULES[module]],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "MEMORY_MATRIX_INPUT_COMMAND": "plan", "GITHUB_OUTPUT": "outputs"},
    )


@pytest.mark.parametrize("number", [1, 2, 3, 8, 21, 55])
@pytest.mark.parametrize("module", MODULES)
def test_an_interrupt_while_modules_are_imported_ends_it_as_a_later_one_does(
    module: str, number: int, tmp_path: Path
) -> None:
    done = run(tmp_path, number, module)

    said = done.stderr + (done.stdout if module == "memory_matrix.github" else "")
    assert done.returncode == 130, said
    assert said.endswith(SAID), said
    assert said.count(SAID) == 1
    assert "Traceback" not in said


@pytest.mark.parametrize("module", MODULES)
def test_without_an_interrupt_it_runs(module: str, tmp_path: Path) -> None:
    done = run(tmp_path, 1_000_000, module)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_that_is_installed_enters_there_too() -> None:
    from importlib.metadata import distribution

    (script,) = (
        each
        for each in distribution("memory-matrix").entry_points
        if each.group == "console_scripts"
    )

    assert script.value == "memory_matrix.__main__:main"


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_an_interrupt_that_nobody_hears_of_is_still_told_by_the_exit_code(
    redirection: str, tmp_path: Path
) -> None:
    command = [*interrupting(tmp_path), "1", "memory_matrix", "plan"]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *command], cwd=tmp_path, check=False
    )

    assert done.returncode == 130
