"""Projects of a user who runs memory-matrix through nox and tox."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A new project with the two lines of a noxfile, and a tox.ini that says nothing."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    made = Workshop(folder)
    made.write("noxfile.py", "from memory_matrix.nox import sessions\nsessions()\n")
    made.write("tox.ini", "[tox]\nno_package = true\n")
    return made
