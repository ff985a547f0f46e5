"""This project's own self-test of the action, a workflow, run for real: the action as `uses: $/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.act import own_repository, run_workflow
from support.definitions import workflows

ELSEWHERE = ("shards", "shards-ended")
"""The last jobs of the workflow, which do what test_workflow.py does."""


@pytest.mark.act
def test_the_self_test_passes(tmp_path: Path):
    repository = own_repository(tmp_path / "own")
    workflow = repository / ".github/workflows/self-test.yml"
    text, cut, _ = workflow.read_text(encoding="utf-8").partition(f"\n  {ELSEWHERE[0]}:\n")
    assert cut
    workflow.write_text(text, encoding="utf-8")
    ended = run_workflow(repository, workflow.name, tmp_path / "act")
    assert ended.code == 0, ended.story
    jobs = workflows()["self-test.yml"]["jobs"]
    assert ended.jobs == {
        f"Self-test/{job['name']}": "success" for key, job in jobs.items() if key not in ELSEWHERE
    }
    odd = f"Self-test/{jobs['odd']['name']}"
    assert odd not in ended.summaries
    assert all(
        message.startswith("input ") for message in ended.said("error") if "executed" in message
    )
