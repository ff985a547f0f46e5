"""Projects whose runs start embedded servers of their own, with a place to look for what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.project import Project


@pytest.fixture
def project(tmp_path: Path, temporary: Path) -> Project:
    """A new project; what its runs leave behind can be found."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, "", {"TMPDIR": str(temporary)})
