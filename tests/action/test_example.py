"""examples/agent-app as a repository on GitHub, and a repository that `init` has set up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.act import ROOT, make_repository, run_workflow
from support.project import COMMAND, Project

pytestmark = pytest.mark.act

EXAMPLE = ROOT / "examples/agent-app"


def test_the_workflow_of_the_example_finds_exactly_the_three_breaks(tmp_path: Path):
    Project(tmp_path, "").need("3.11", "3.13")
    tracked = subprocess.check_output(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=EXAMPLE,
        text=True,
    )
    names = [name for name in tracked.split("\0") if name]
    files = {name: (EXAMPLE / name).read_text(encoding="utf-8") for name in names}
    repository = make_repository(tmp_path / "agent-app", files)
    ended = run_workflow(repository, "memory.yml", tmp_path / "act")
    assert (ended.code, list(ended.jobs.values())) == (1, ["failure"]), ended.log
    outputs = ended.output("memory")
    assert (outputs["result"], outputs["breaks"], outputs["cells"]) == ("fail", "3", "12")
    lines = (EXAMPLE / "payloads.py").read_text(encoding="utf-8").splitlines()
    errors = [each for each in ended.annotations if each["level"] == "error" and "file" in each]
    annotated = [(each["file"], lines[int(each["line"]) - 1]) for each in errors]
    assert sorted(annotated) == [
        ("payloads.py", "def payload_conversation():"),
        ("payloads.py", "def payload_summary():"),
        ("payloads.py", "def payload_tracking():"),
    ]
    (summary,) = ended.summaries.values()
    assert "3 breaks in 12 cells" in summary
    assert ended.report("memory-matrix-report")["summary"]["breaks"] == 3


def test_the_workflow_that_init_writes_passes_at_once(tmp_path: Path):
    repository = make_repository(tmp_path / "new", {"README.md": "new\n"})
    subprocess.run((*COMMAND, "init"), cwd=repository, check=True, stdout=subprocess.DEVNULL)
    ended = run_workflow(repository, "memory-matrix.yml", tmp_path / "act")
    assert (ended.code, list(ended.jobs.values())) == (0, ["success"]), ended.log
    assert ended.report("memory-matrix-report")["summary"]["cells"] > 0
