"""The command line starts with what it needs and no more."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

HEAVY = {
    "asyncio", "docker", "filelock", "packaging", "platformdirs", "psycopg", "redis", "rich",
    "sqlite3", "testcontainers", "unittest", "uv",
}  # fmt: skip


def imported(*arguments: str) -> set[str]:
    """Return the top-level modules that a run of the command line imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "memory_matrix", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line]
    assert "memory_matrix.commands.options" in names
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["compat", "--help"], ["--version"], ["compat", "--no-such-option"]]
)
def test_help_and_refusals_import_nothing_heavy(arguments: list[str]) -> None:
    # What site-packages itself loads at every start (`.pth` files) is not ours to avoid.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert imported(*arguments) & HEAVY <= set(bare)
