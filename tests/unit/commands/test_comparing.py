"""--baseline, --history and the badge on the command line: what is refused, before anything is run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memory_matrix import cli
from memory_matrix.report import files, history
from memory_matrix.report.model import Cell, Report
from support.tables import table

FINE = Cell("old", "next", "json", "chat", (), "ok", direction="backward")
BROKEN = Cell("old", "next", "json", "tools", (), "unreadable", True, direction="backward")
REPORT = Report(cells=(FINE, BROKEN))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a saved report and a baseline, as two runs leave them."""
    kept = tmp_path_factory.mktemp("runs")
    files.write(REPORT, kept / "memory-matrix-report")
    files.write(Report(cells=(FINE,)), kept / "main")
    return kept


@pytest.fixture(autouse=True)
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a saved report and a baseline, in which the command line runs."""
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_SHA", raising=False)
    return tmp_path


@pytest.mark.parametrize("path", ["main", "main/report.json"])
def test_a_saved_report_is_compared(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--baseline", path]) == 0
    shown = capsys.readouterr().out
    assert "1 break in 2 cells (1 new, 0 fixed, 0 still broken)" in shown
    assert f"Compared with '{path}'." in shown


def test_the_comparison_is_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--baseline", "main", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [cell["new"] for cell in data["cells"]] == [None, True]
    assert data["baseline"]["source"] == "main"
    assert cli.main(["report", "--baseline", "main", "--format", "markdown"]) == 0
    assert "### New breaks (1)" in capsys.readouterr().out


@table("command", ["run", "compat", "suite", "report"])
@table("path", ["nowhere", "nowhere/report.json", "", ".", "x" * 300, "\0"])
def test_a_baseline_that_is_not_there_is_refused_at_once(
    command: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([command, "--baseline", path]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("memory-matrix: error: --baseline: ")
    assert said.err.count("\n") == 1


@table(
    ("held", "why"),
    [
        ('{"schema": 2}', "its schema is 2, this release reads 1."),
        ('{"schema": "1"}', "it is not a report of memory-matrix."),
        ("[]", "it is not a report of memory-matrix."),
        ('{"schema": 1', "It may be cut off"),
        ("", "It may be cut off"),
    ],
)
def test_a_baseline_that_cannot_be_read_is_refused_in_a_sentence(
    held: str, why: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.json").write_text(held)
    assert cli.main(["compat", "--baseline", "other.json"]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert "--baseline: 'other.json' is no " in said
    assert said.count("\n") == 1


@table("command", ["run", "compat", "suite", "report"])
def test_a_history_that_is_none_is_refused_at_once(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "README.md").write_text("# Mine\n")
    assert cli.main([command, "--history", "README.md"]) == 2
    assert "The history 'README.md' is not one of memory-matrix: line 1" in capsys.readouterr().err
    assert (folder / "README.md").read_text() == "# Mine\n"


def test_a_line_is_added_with_what_changed(folder: Path) -> None:
    for _ in range(2):
        assert cli.main(["report", "--baseline", "main", "--history", "kept/history.jsonl"]) == 0
    found = history.read(folder / "kept" / "history.jsonl")
    assert [(each.cells, each.breaks, each.new, each.fixed) for each in found] == [(2, 1, 1, 0)] * 2


def test_the_commit_is_that_of_the_workflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", "c0ffee")
    assert cli.main(["report", "--history", "history.jsonl"]) == 0
    assert history.read(folder / "history.jsonl")[0].commit == "c0ffee"


def test_without_git_there_is_no_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert cli.main(["report", "--history", "history.jsonl"]) == 0
    assert history.read(folder / "history.jsonl")[0].commit is None


def test_a_badge_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--format", "badge", "--label", "our memory"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schemaVersion": 1,
        "label": "our memory",
        "message": "1 break",
        "color": "red",
    }


def test_a_label_is_for_a_badge(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--label", "ours"]) == 2
    assert "--label is for --format badge" in capsys.readouterr().err
