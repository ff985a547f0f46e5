"""Runs of these tests in processes that have loaded the program are as those that start by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import loaded

pytestmark = pytest.mark.integration

TESTS = """
import os, sys, time

def test_said():
    print("out", sys.argv[1:], os.getcwd(), os.environ["MARK"], sys.stdin.read())
    print("err", os.isatty(1), sys.path[0], file=sys.stderr)

def test_killed():
    os.kill(os.getpid(), 9)

def test_sleeps():
    time.sleep(600)
"""


@pytest.fixture
def variables() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "MARK": "seen", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("-q", "-s", "-p", "no:cacheprovider", "test_it.py::test_said"),
        ("-q", "-p", "no:cacheprovider", "test_it.py::test_killed"),
        ("--no-such-option",),
    ],
    ids=lambda arguments: arguments[-1],
)
def test_a_run_ends_and_says_the_same(
    tmp_path: Path, variables: dict[str, str], arguments: tuple[str, ...]
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)

    here = loaded.run("pytest", arguments, tmp_path, variables, timeout=60)
    anew = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=tmp_path,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert here.returncode == anew.returncode
    assert without_seconds(here.stdout) == without_seconds(anew.stdout)
    assert here.stderr == anew.stderr


def without_seconds(text: str) -> list[str]:
    """Return the lines of what pytest said, without how long it took."""
    return [line.partition(" in ")[0] for line in text.splitlines()]


def test_a_run_that_takes_too_long_is_killed_and_the_next_one_runs(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    hanging = ("-q", "-p", "no:cacheprovider", "test_it.py::test_sleeps")

    with pytest.raises(subprocess.TimeoutExpired):
        loaded.run("pytest", hanging, tmp_path, variables, timeout=1)

    assert loaded.run("pytest", ["--version"], tmp_path, variables, timeout=60).returncode == 0
