"""Projects whose runs start embedded servers of their own, with a place to look for what is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gates import Gate
from support.project import Project


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of the runs of `project`: they carry it as a mark."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path, temporary: Path) -> Project:
    """A new project; what its runs leave behind can be found."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, "", {"TMPDIR": str(temporary)})


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A gate for code of the project to wait at."""
    made = Gate(tmp_path / "gate")
    yield made
    made.open()
