"""The exit code of a run: findings, and what could not be had, are never taken for each other."""

from __future__ import annotations

import pytest

from memory_matrix.cli import exit_code
from memory_matrix.errors import UnavailableError, UsageError
from memory_matrix.report.model import Cell, EnvironmentRecord, Error, Report, ServerRecord

OWN = Cell("a", "a", "json", "x", (), "ok")
FINE = Cell("a", "b", "json", "x", (), "ok", direction="backward")
BREAK = Cell("a", "b", "json", "x", (), "unreadable", is_break=True, direction="backward")
SKIPPED = Cell("a", "a", "json", "x", error=Error("build", "Skipped", "KeyError: 'x'"))

READY = EnvironmentRecord("a", "3.11.7")
NO_INTERPRETER = EnvironmentRecord(
    "b", "3.14", status="unavailable", reason="no 3.14", interpreter_missing=True
)
NO_PACKAGES = EnvironmentRecord("b", "3.11", status="unavailable", reason="no such release")
NO_SERVER = ServerRecord("pg17", "postgres", None, "image:x", "unavailable", "no Docker")


@pytest.mark.parametrize(("cells", "expected"), [((OWN, FINE), 0), ((OWN, FINE, BREAK), 1)])
@pytest.mark.parametrize("strict", [False, True])
def test_findings_decide_where_everything_was_had(
    cells: tuple[Cell, ...], expected: int, strict: bool
) -> None:
    assert exit_code(Report(environments=(READY,), cells=cells), strict=strict) == expected


@pytest.mark.parametrize(
    ("cells", "expected"), [((OWN,), 0), ((OWN, FINE), 0), ((OWN, FINE, BREAK), 1)]
)
def test_a_missing_interpreter_is_excused_where_others_were_run(
    cells: tuple[Cell, ...], expected: int
) -> None:
    report = Report(environments=(READY, NO_INTERPRETER), cells=cells)

    assert exit_code(report, strict=False) == expected
    with pytest.raises(UnavailableError, match=r"b: no 3\.14"):
        exit_code(report, strict=True)


def test_a_missing_interpreter_is_not_excused_where_nothing_else_was_run() -> None:
    with pytest.raises(UnavailableError, match=r"b: no 3\.14"):
        exit_code(Report(environments=(NO_INTERPRETER,)), strict=False)


@pytest.mark.parametrize(
    "report",
    [
        Report(environments=(READY, NO_PACKAGES), cells=(OWN, FINE)),
        Report(environments=(READY, NO_INTERPRETER, NO_PACKAGES), cells=(OWN, FINE)),
        Report(environments=(READY,), servers=(NO_SERVER,), cells=(OWN, BREAK)),
    ],
)
def test_anything_else_that_is_missing_is_never_excused(report: Report) -> None:
    with pytest.raises(UnavailableError, match=r"no such release|no Docker"):
        exit_code(report, strict=False)


def test_a_run_whose_cells_were_all_skipped_is_no_success() -> None:
    with pytest.raises(UsageError, match=r"every cell was skipped.*\n  KeyError: 'x'"):
        exit_code(Report(environments=(READY,), cells=(SKIPPED,)), strict=False)
