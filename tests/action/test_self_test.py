"""This project's own self-test of the action, a workflow, run for real: the action as `uses: $/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.act import own_repository, run_workflow
from support.definitions import workflows


@pytest.mark.act
def test_the_self_test_passes(tmp_path: Path):
    repository = own_repository(tmp_path / "own", {})
    ended = run_workflow(repository, "self-test.yml", tmp_path / "act")
    assert ended.code == 0, ended.story
    assert set(ended.jobs.values()) == {"success"}
    jobs = {job.partition("/")[2].partition("/")[0] for job in ended.jobs}
    named = {job["name"] for job in workflows()["self-test.yml"]["jobs"].values()}
    assert named <= jobs, f"not all jobs were run: {sorted(named - jobs)}"
    assert not [job for job, text in ended.summaries.items() if "executed" in text]
