"""Outputs say what this run found, and nothing of an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.github import outputs
from memory_matrix.github.outputs import Results
from memory_matrix.report import files
from memory_matrix.report.baseline import compare
from memory_matrix.report.model import Cell, Report, SuiteOutcome, SuiteResult
from support import hostile
from support.tables import table

from .conftest import Step

BREAK = Cell("old", "next", "json", "a", (), "unreadable", True, None, "backward")
KNOWN = Cell("old", "next", "json", "k", (), "changed", True, "ticket 7", "backward")
OTHERS = (
    Cell("old", "old", "json", "a", (), "ok"),
    Cell("old", "old", "json", "l", (), "changed"),
    Cell("old", "old", "json", "s", (), "skipped"),
)


def case(outcome: SuiteOutcome) -> SuiteResult:
    return SuiteResult("next", ("pg17",), "store", outcome, outcome)


REPORT = Report(
    cells=(BREAK, KNOWN, *OTHERS),
    suite=tuple(
        case(each) for each in ("passed", "failed", "error", "not-offered", "waived", "skipped")
    ),
)


def test_counts_are_those_of_compat_and_of_the_suite_together() -> None:
    assert outputs.of_report(REPORT) == {
        "breaks": "2",
        "new-breaks": "",
        "cells": "11",
        "passed": "2",
        "failed": "3",
        "skipped": "3",
    }


def test_new_breaks_are_those_that_the_baseline_has_not() -> None:
    found = compare(REPORT, Report(cells=OTHERS), "before")
    assert outputs.of_report(found)["new-breaks"] == "1"
    same = compare(REPORT, REPORT, "before")
    assert outputs.of_report(same)["new-breaks"] == "0"


@table(
    ("code", "result"), [(0, "pass"), (1, "fail"), (2, "error"), (3, "error"), (4, "error"), (130, "error")]
)  # fmt: skip
def test_the_result_is_findings_or_an_error(tmp_path: Path, code: int, result: str) -> None:
    assert outputs.of_run(code, Results.in_folder(tmp_path / "missing")) == {"result": result}


def test_a_report_of_this_run_is_found_by_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = Results.in_folder(Path("out"))
    files.write(REPORT, Path("out"))

    found = outputs.of_run(1, results)

    assert found["report-path"] == str(tmp_path / "out")
    assert found["json-path"] == str(tmp_path / "out/report.json")
    assert found["breaks"] == "2"


def test_an_older_report_is_not_taken_for_this_runs(tmp_path: Path) -> None:
    files.write(REPORT, tmp_path)

    assert outputs.of_run(2, Results.in_folder(tmp_path)) == {"result": "error"}


@pytest.mark.parametrize("name", ["y" * 300, "file", "file/x", "loop/x"], ids=lambda name: name[:9])
def test_what_cannot_be_a_folder_has_no_results(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    results = Results.in_folder(tmp_path / name)
    assert outputs.of_run(4, results) == {"result": "error"}


def test_a_report_that_takes_an_equal_ones_place_is_this_runs(tmp_path: Path) -> None:
    files.write(REPORT, tmp_path)
    results = Results.in_folder(tmp_path)
    files.write(REPORT, tmp_path)

    assert outputs.of_run(0, results)["cells"] == "11"


def test_results_of_a_shard_are_in_a_folder_of_its_own(tmp_path: Path) -> None:
    files.write(REPORT, tmp_path / "suite-1-of-3")
    results = Results.in_folder(tmp_path)
    (tmp_path / "written-2-of-3").mkdir()
    assert outputs.of_run(0, results) == {"result": "pass", "report-path": str(tmp_path)}

    files.write(REPORT, tmp_path / "suite-2-of-3")
    found = outputs.of_run(0, results)
    assert found["json-path"] == str(tmp_path / "suite-2-of-3/report.json")
    assert found["report-path"] == str(tmp_path)


def test_a_report_that_cannot_be_read_has_no_numbers(tmp_path: Path) -> None:
    results = Results.in_folder(tmp_path)
    (tmp_path / "report.json").write_text("{")

    assert set(outputs.of_run(4, results)) == {"result", "report-path", "json-path"}


@table("text", [*hostile.TEXTS, "a=b", "a<<b", "x\nend\nresult=pass"])
def test_any_text_arrives_as_one_output(text: str, step: Step) -> None:
    step.outputs.write_bytes(b"")
    outputs.write(step.outputs, {"first": text, "second": "x"})

    plain = text.encode(errors="backslashreplace").decode()
    assert step.written() == {"first": plain, "second": "x"}


def test_outputs_are_added_to_what_other_commands_wrote(step: Step) -> None:
    step.outputs.write_text("matrix={}\n")
    outputs.write(step.outputs, {"result": "pass"})

    assert step.outputs.read_text() == "matrix={}\nresult=pass\n"
