"""Places of their own for the runs that tests start, and gates for their code to wait at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gates import Gate


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of the runs of `project`: they carry it as a mark."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A gate for code of the project to wait at."""
    made = Gate(tmp_path / "gate")
    yield made
    made.open()
