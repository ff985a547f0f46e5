"""The reusable workflow, called from another repository: many jobs find what one machine finds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.act import ROOT, Ended, commit, run_workflow
from support.machines import facts

PARTS = ("written", "read", "suite")
PROJECT = ROOT / "tests/action/projects/sharded"
CALLER = """
name: Memory
on: push
permissions: {}
jobs:
  memory:
    uses: memory-matrix/memory-matrix/.github/workflows/memory-matrix.yml@v1
    permissions: {contents: read}
    with:
      command: run
      only: case=text_ascii*
      jobs: JOBS
      fail-on: never
      working-directory: the agent
      artifact-prefix: memory
  after:
    needs: memory
    runs-on: ubuntu-24.04
    steps:
      - id: outputs
        env: {OUTPUTS: "${{ toJSON(needs.memory.outputs) }}"}
        run: printf 'all<<end\\n%s\\nend\\n' "$OUTPUTS" >> "$GITHUB_OUTPUT"
"""


@pytest.fixture
def call(tmp_path: Path):
    """Call the workflow in a repository with the project; some artifacts may be lost."""

    def run(*, jobs: int, lost: str = "") -> Ended:
        repository = tmp_path / "repository"
        shutil.copytree(
            PROJECT, repository / "the agent", ignore=shutil.ignore_patterns("__pycache__")
        )
        text = CALLER.replace("JOBS", str(jobs))
        workflow = repository / ".github/workflows/memory.yml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(text, encoding="utf-8")
        commit(repository)
        return run_workflow(repository, "memory.yml", tmp_path / "act", lost=lost)

    return run


@pytest.mark.act
def test_shards_find_together_what_one_machine_finds(call, tmp_path: Path):
    ended = call(jobs=2)  # each waits for one before it: three would take a half longer
    assert ended.code == 0, ended.story
    artifacts = {path.name for path in ended.artifacts.iterdir()}
    assert artifacts == {
        "memory-report",
        *(f"memory-{part}-{number}-of-2" for part in PARTS for number in (1, 2)),
    }
    merged, alone = ended.report("memory-report"), on_one_machine(tmp_path / "alone")
    assert merged["summary"]["breaks"] == 12
    assert facts(merged) == facts(alone)
    assert ended.said("error") == []
    (summary,) = ended.summaries.values()
    assert "12 breaks in 64 cells" in summary
    assert "4 cases passed" in summary
    outputs = json.loads(ended.output("outputs", job="after")["all"])
    assert (outputs["result"], outputs["breaks"], outputs["cells"]) == ("pass", "12", "68")
    assert outputs["artifact-name"] == "memory-report"


@pytest.mark.act
def test_jobs_that_are_lost_are_missing_in_the_report_and_fail_the_call(call):
    ended = call(jobs=2, lost="memory-read-2-of-2 memory-suite-1-of-2")
    assert ended.code == 1
    results = {name.rpartition("/")[2]: result for name, result in ended.jobs.items()}
    assert results["report"] == "failure", ended.story
    assert ended.output("merge")["result"] == "error"
    report = ended.report("memory-report")
    assert {(each["part"], each["shard"]) for each in report["missing"]} == {
        ("compat", "2/2"),
        ("suite", "1/2"),
    }
    (summary,) = ended.summaries.values()
    assert "missing" in summary


def on_one_machine(folder: Path) -> dict[str, Any]:
    """Return the report of a run that is not shared out."""
    command = (sys.executable, "-m", "memory_matrix", "run", "--fail-on", "never")
    subprocess.run(
        (*command, "--select", "case=text_ascii*", "--report-dir", folder),
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report
