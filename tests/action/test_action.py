"""The action in workflows of other repositories, run for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.act import ROOT, Ended, make_repository, run_workflow

PROJECTS = ROOT / "tests/action/projects"
TOP = """
name: Memory
on: push
permissions: {}
jobs:
  memory:
    runs-on: ubuntu-24.04
    permissions: {}
    steps:
      - uses: actions/checkout@v7
        with: {persist-credentials: false}
"""


@pytest.fixture
def run(tmp_path: Path):
    """Run a workflow with these steps in a repository that holds one of the projects."""

    def call(project: str, steps: str, **files: str) -> Ended:
        folder = PROJECTS / project
        texts = {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in folder.rglob("*.*")
            if path.is_file() and path.suffix in {".py", ".toml"}
        }
        repository = make_repository(
            tmp_path / "another repository",
            {**texts, **files, ".github/workflows/memory.yml": f"{TOP}{steps}"},
        )
        return run_workflow(repository, "memory.yml", tmp_path / "act")

    return call


@pytest.mark.integration
def test_a_job_fails_where_memory_breaks_and_says_so_everywhere(run):
    ended = run(
        "broken",
        """
      - id: memory
        uses: memory-matrix/memory-matrix@v1
        with:
          command: compat
          upload-artifact: true
          artifact-name: report of 'this'
""",
    )
    outputs = ended.output("memory")
    assert (ended.code, list(ended.jobs.values())) == (1, ["failure"]), ended.story
    assert (outputs["result"], outputs["breaks"], outputs["cells"]) == ("fail", "2", "14")
    assert outputs["artifact-id"] == "1"
    assert ended.report("report of 'this'")["summary"]["breaks"] == 2
    (summary,) = ended.summaries.values()
    assert "2 breaks in 14 cells" in summary
    assert "report of 'this'" in summary
    (error,) = [each for each in ended.annotations if each["level"] == "error"]
    assert "ticket" in error["message"]
    assert (error["file"], int(error["line"])) == ("payloads.py", 7)


@pytest.mark.integration
def test_a_bad_input_ends_a_step_with_one_line_for_each_and_nothing_is_run(run):
    ended = run(
        "sound",
        """
      - id: memory
        uses: memory-matrix/memory-matrix@v1
        with:
          command: comapt
          strict: perhaps
          upload-artifact: true
      - if: always()
        run: test ! -e memory-matrix-report
""",
    )
    assert ended.code == 1
    assert ended.output("memory")["result"] == "error"
    first, second, *others = ended.said("error")
    assert not [each for each in others if "exit status" not in each]
    assert "input command: 'comapt' is not allowed" in first
    assert "one of run, compat" in first
    assert "input strict: 'perhaps' is not allowed" in second
    assert not ended.artifacts.exists()


@pytest.mark.act
def test_a_job_passes_where_nothing_breaks_though_its_folder_holds_modules_of_the_same_names(run):
    broken = "raise RuntimeError('a module of the workspace was imported')"
    names = ("memory_matrix/__init__.py", "redis.py", "packaging.py", "json.py", "uv.toml")
    ended = run(
        "sound",
        """
      - id: memory
        uses: memory-matrix/memory-matrix@v1
        with: {command: compat}
        env:
          PYTHONPATH: ${{ github.workspace }}
          VIRTUAL_ENV: ${{ github.workspace }}/nowhere
          UV_PYTHON: "2.7"
          UV_SYSTEM_PYTHON: "1"
          UV_PROJECT_ENVIRONMENT: ${{ github.workspace }}/nowhere
          PIP_TARGET: ${{ github.workspace }}/nowhere
      - run: test ! -e nowhere
""",
        **dict.fromkeys(names, broken),
    )
    assert ended.code == 0, ended.story
    assert ended.output("memory")["result"] == "pass"
    assert ended.output("memory")["breaks"] == "0"
    assert ended.said("error") == []
