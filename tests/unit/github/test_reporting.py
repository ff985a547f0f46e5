"""What a run tells GitHub: annotations and a summary, switched by options, never in the run's way."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.github import summary
from memory_matrix.github.reporting import told
from memory_matrix.report.model import Cell, Error, Report

from .conftest import Step

REPORT = Report(
    cells=tuple(
        Cell("old", "next", "json", f"p{number}", (), "unreadable", True, None, "backward",
             Error("load", f"E{number}", "x"))
        for number in range(20)
    ),
    matrix="memory-matrix.toml",
)  # fmt: skip


def tell(report: Report = REPORT, error: BaseException | None = None, **options: Any) -> None:
    """Tell of `report`, at the end of a run that ends with `error`."""
    given = {"annotations": None, "summary": None, "summary_title": None, "artifact": None}
    namespace = argparse.Namespace(**{**given, "report_dir": Path("out"), **options})
    with told(report, namespace):
        if error is not None:
            raise error


def test_a_run_is_annotated_and_summed_up(step: Step) -> None:
    tell(summary_title="Nightly", artifact="mine")

    errors = step.commands("error")
    assert len(errors) == 10
    assert errors[0].properties["file"] == "memory-matrix.toml"
    assert errors[-1].message == "11 more: see the summary."
    text = step.summary.read_text(encoding="utf-8")
    assert text.startswith("# Nightly\n\n## 20 breaks in 20 cells")
    assert "in the artifact `mine` of this run." in text


def test_the_summary_is_added_to_what_is_there(step: Step) -> None:
    step.summary.write_text("before\n")
    tell()
    tell()

    text = step.summary.read_text(encoding="utf-8")
    assert text.startswith("before\n## 20 breaks")
    assert text.count("\n## 20 breaks") == 2


def test_options_switch_either_off(step: Step) -> None:
    tell(annotations=False)
    assert step.commands() == []
    assert step.summary.stat().st_size > 0
    step.summary.write_text("")
    tell(summary=False)
    assert step.commands("error")[-1].message == "11 more: see report.md."
    assert step.summary.read_text() == ""


def test_a_shard_tells_only_what_it_is_asked_to(step: Step) -> None:
    shard = replace(REPORT, shard="1/3")
    tell(shard)
    assert (step.commands(), step.summary.read_text()) == ([], "")

    tell(shard, annotations=True, summary=True)
    assert len(step.commands("error")) == 10
    assert step.summary.read_text() != ""


def test_there_is_room_for_the_error_that_ends_the_run(step: Step) -> None:
    with pytest.raises(UnavailableError):
        tell(error=UnavailableError("no server"))

    assert len(step.commands("error")) == 9
    assert step.summary.read_text() != ""


def test_an_interrupted_run_tells_nothing(step: Step) -> None:
    with pytest.raises(KeyboardInterrupt):
        tell(error=KeyboardInterrupt())

    assert (step.commands(), step.summary.read_text()) == ([], "")


@pytest.mark.parametrize("variable", ["", "false", "1"])
def test_outside_github_nothing_is_told(
    step: Step, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", variable)
    tell(annotations=True, summary=True)

    assert (step.commands(), step.summary.read_text()) == ([], "")


@pytest.mark.parametrize("place", ["missing/summary.md", ".", ""])
def test_a_summary_that_cannot_be_written_is_a_warning(
    step: Step, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", place)
    tell()

    assert len(step.commands("warning")) == 1


def test_a_full_summary_is_a_warning(step: Step) -> None:
    step.summary.write_text("y" * (summary.LIMIT - 100))
    tell()

    (warning,) = step.commands("warning")
    assert "no room" in warning.message
    assert step.summary.stat().st_size == summary.LIMIT - 100


def test_a_summary_that_is_nearly_full_takes_what_it_can(step: Step) -> None:
    step.summary.write_text("y" * (summary.LIMIT - 5_000))
    tell()

    assert step.commands("warning") == []
    assert summary.LIMIT - 5_000 < step.summary.stat().st_size <= summary.LIMIT


def test_paths_are_relative_to_the_repository(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    (step.workspace / "app").mkdir()
    monkeypatch.chdir(step.workspace / "app")
    tell(replace(REPORT, locations={"p0": "payloads.py:3"}))

    first = step.commands("error")[0]
    assert (first.properties["file"], first.properties["line"]) == ("app/payloads.py", "3")


def test_a_workspace_may_be_reached_by_a_link(
    step: Step, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(step.workspace)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "link"))
    tell()

    assert step.commands("error")[0].properties["file"] == "memory-matrix.toml"


def test_other_errors_of_the_tool_leave_room_too(step: Step) -> None:
    with pytest.raises(MemoryMatrixError):
        tell(error=MemoryMatrixError("full"))

    assert step.commands("error")[-1].message == "12 more: see the summary."
