"""The suite's own processes look for garbage again once they test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

TEST = """
import gc

import starts

def test_garbage():
    assert not starts.LOOKED_FOR_GARBAGE
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1000
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_garbage_is_looked_for_from_the_first_test_on(tmp_path: Path, workers: str) -> None:
    (tmp_path / "starts.py").write_text("import gc\nLOOKED_FOR_GARBAGE = gc.isenabled()\n")
    (tmp_path / "test_garbage.py").write_text(TEST)
    plugins = ("-p", "memory_matrix.suite.starting", "-p", "no:cacheprovider")

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-n", workers, str(tmp_path)],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout
