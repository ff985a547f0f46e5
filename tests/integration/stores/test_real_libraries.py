"""Real libraries at faulty and at mended releases: the case that names a fault fails, then passes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.libraries import SuiteRun, runs
from support.project import Project

pytestmark = pytest.mark.integration


LARGE = pytest.mark.skipif(
    "MEMORY_MATRIX_LARGE_LIBRARIES" not in os.environ,
    reason="its environments take gigabytes: set MEMORY_MATRIX_LARGE_LIBRARIES=1",
)
RUNS = [pytest.param(run, id=run.name, marks=[LARGE] if run.large else []) for run in runs()]


@pytest.mark.parametrize("run", RUNS)
def test_the_case_that_names_a_fault_fails_where_it_is_and_passes_where_it_is_mended(
    run: SuiteRun, tmp_path: Path
) -> None:
    ended = Project(tmp_path, "").run(*run.arguments())

    if ended.code == 3 and "Check the network" in ended.stderr:
        pytest.skip(f"no package index can be reached: {ended.stderr.splitlines()[-1].strip()}")
    assert list(run.problems(ended.report)) == []
