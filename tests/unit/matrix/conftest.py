"""A folder with a matrix file, and all that the example in the design names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.read import read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLE = Path(__file__).with_name("example.toml")

Write = Callable[[str], Path]
ReadText = Callable[[str], Matrix]


def table_of(path: Path) -> dict[str, Any]:
    """Return what TOML has in a file, unchecked."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder that holds every file that the example names."""
    (tmp_path / "app").mkdir()
    for name in ("app/codec.py", "payloads.py", "redis-server"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.fixture
def example(folder: Path) -> Path:
    """The example, as the matrix file of the folder."""
    path = folder / "memory-matrix.toml"
    path.write_text(EXAMPLE.read_text())
    return path


@pytest.fixture
def write(folder: Path) -> Write:
    """Write a text as the matrix file of the folder."""

    def write(text: str) -> Path:
        path = folder / "memory-matrix.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def read_text(write: Write) -> ReadText:
    """Read a text as the matrix file of the folder."""
    return lambda text: read(write(text))
