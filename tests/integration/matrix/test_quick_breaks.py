"""The quick matrix shows real breaks, on whichever interpreter runs it, from an empty cache."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memory_matrix.compat.run import run_compat
from memory_matrix.matrix.read import builtin_quick
from memory_matrix.progress import Progress
from memory_matrix.running import RunOptions

pytestmark = pytest.mark.integration


def test_the_quick_matrix_shows_breaks_of_every_library_in_both_directions(tmp_path: Path) -> None:
    matrix = replace(builtin_quick(tmp_path), servers=())

    report = run_compat(matrix, RunOptions(tmp_path / "cache"), Progress("nothing"))

    assert [each.status for each in report.environments] == ["ready", "ready"]
    breaks = {
        (cell.direction, cell.serializer, cell.payload) for cell in report.cells if cell.is_break
    }
    assert breaks >= {
        ("backward", "pickle", "pydantic_model"),
        ("forward", "pickle", "pydantic_model"),
        ("forward", "pickle", "attrs_slots"),
        ("forward", "cbor2", "date"),
    }
    if sys.version_info < (3, 13):  # later interpreters have wheels of numpy 2 only
        assert ("forward", "pickle", "numpy_object") in breaks
