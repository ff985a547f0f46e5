"""A whole start, where nobody has to be asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_matrix.starting.files import put
from memory_matrix.starting.making import make_start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory-matrix.toml").write_text("x = 1", encoding="utf-8")
    return tmp_path


def test_what_is_no_ordinary_file_holds_nothing_up(folder: Path):
    for name in ("pyproject.toml", "payloads.py", "uv.lock", "requirements.txt", "models.py"):
        os.mkfifo(folder / name)
    start = make_start(folder)
    assert start.notes == ()
    assert start.payloads.path.name == "memory_payloads.py"


def test_a_matrix_that_does_not_name_the_payloads_is_known(folder: Path):
    assert make_start(folder).is_unnamed()
    (folder / "memory-matrix.toml").write_text("# payloads.py", encoding="utf-8")
    assert not make_start(folder).is_unnamed()


def test_a_workflow_that_checks_another_folder_is_known(folder: Path):
    (folder / ".git").mkdir()
    for name in ("one", "other"):
        (folder / name).mkdir()
        (folder / name / "memory-matrix.toml").touch()
    assert not make_start(folder / "one").is_unchecked()
    for file in make_start(folder / "one").files:
        put(file)
    assert not make_start(folder / "one").is_unchecked()
    assert make_start(folder / "other").is_unchecked()
    assert not make_start(folder).is_unchecked()
