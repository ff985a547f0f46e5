"""A run's folder is its own while it lives, and gone afterwards, whoever has to remove it."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memory_matrix.runfolder import run_folder

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_there_for_its_user_alone_and_gone_afterwards(temporary: Path) -> None:
    with run_folder() as folder:
        assert folder.parent == temporary
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "deep" / "er" / "file").write_text("x")

    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit])
def test_it_is_gone_after_an_exception_too(temporary: Path, raised: type[BaseException]) -> None:
    with pytest.raises(raised), run_folder():
        raise raised

    assert list(temporary.iterdir()) == []


def test_two_runs_have_two_folders_and_leave_each_others_alone(temporary: Path) -> None:
    with run_folder() as first, run_folder() as second:
        assert first != second
        assert first.exists()

    assert list(temporary.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(temporary: Path) -> None:
    dead = temporary / "memory-matrix-run-dead"
    (dead / "blobs").mkdir(parents=True)
    (dead / "owner.lock").touch()
    unborn = temporary / "memory-matrix-run-unborn"
    unborn.mkdir()

    with run_folder():
        assert not dead.exists()
        assert not unborn.exists()


def test_what_is_not_ours_stays(temporary: Path) -> None:
    kept = [
        temporary / "memory-matrix-runs",
        temporary / "memory-matrix-run-with-no-lock" / "file",
        temporary / "elsewhere" / "owner.lock",
    ]
    for each in kept:
        each.parent.mkdir(exist_ok=True)
        each.write_text("x")
    link = temporary / "memory-matrix-run-link"
    link.symlink_to(temporary / "elsewhere")

    with run_folder():
        pass

    assert all(each.exists() for each in [*kept, link])


USE_FOLDERS = """
import sys, tempfile
from memory_matrix.runfolder import run_folder

tempfile.tempdir = sys.argv[1]
for _ in range(100):
    with run_folder() as folder:
        if not (folder / "owner.lock").exists():
            sys.exit("lost " + str(folder))
"""


@pytest.mark.concurrency
def test_runs_that_start_and_end_at_once_never_lose_their_folder(temporary: Path) -> None:
    runs = [subprocess.Popen([sys.executable, "-c", USE_FOLDERS, str(temporary)]) for _ in range(4)]

    assert [run.wait(timeout=120) for run in runs] == [0] * 4
    assert list(temporary.iterdir()) == []


def test_a_folder_for_temporary_files_that_is_gone_is_an_error_of_the_system(
    temporary: Path,
) -> None:
    temporary.rmdir()

    with pytest.raises(OSError, match="memory-matrix-run-"), run_folder():
        pass
