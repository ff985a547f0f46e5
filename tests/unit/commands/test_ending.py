"""The exit code of a run: findings, and what could not be had, are never taken for each other."""

from __future__ import annotations

import pytest

from memory_matrix.commands.ending import exit_code
from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Error,
    Report,
    ServerRecord,
    StoreRecord,
    SuiteOutcome,
    SuiteResult,
)
from support.tables import table

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


@table(("cells", "expected"), [((OWN, FINE), 0), ((OWN, FINE, BREAK), 1)])
@table("strict", [False, True])
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


def _case(outcome: SuiteOutcome) -> SuiteResult:
    return SuiteResult("a", ("redis",), "store", "case", outcome, f"why {outcome}")


@table(
    ("outcomes", "expected"),
    [
        (("passed",), 0),
        (("passed", "not-offered", "waived", "skipped"), 0),
        (("passed", "failed"), 1),
        (("failed", "error"), 1),
    ],
)
def test_failed_cases_of_the_suite_are_findings(
    outcomes: tuple[SuiteOutcome, ...], expected: int
) -> None:
    report = Report(environments=(READY,), suite=tuple(map(_case, outcomes)))

    assert exit_code(report, strict=False) == expected


def test_cases_that_could_not_be_run_are_the_tools_failure() -> None:
    report = Report(environments=(READY,), suite=(_case("passed"), _case("error")))

    with pytest.raises(MemoryMatrixError, match="1 case of the suite could not be run") as raised:
        exit_code(report, strict=False)

    assert raised.value.exit_code == 4


def test_a_suite_that_was_skipped_whole_is_not_passed() -> None:
    with pytest.raises(UsageError, match="why skipped"):
        exit_code(Report(environments=(READY,), suite=(_case("skipped"),)), strict=False)


@pytest.mark.parametrize(
    ("cell", "outcome", "said"),
    [(SKIPPED, "passed", "every cell was skipped"), (OWN, "skipped", "no case was run")],
)
def test_one_half_of_a_run_does_not_make_up_for_the_other(
    cell: Cell, outcome: SuiteOutcome, said: str
) -> None:
    report = Report(environments=(READY,), cells=(cell,), suite=(_case(outcome),))
    with pytest.raises(UsageError, match=said):
        exit_code(report, strict=False)


def test_a_store_that_an_environment_cannot_load_is_missing() -> None:
    store = StoreRecord("store", "a", {}, "unavailable", "no module")

    with pytest.raises(UnavailableError, match="store: no module"):
        exit_code(
            Report(environments=(READY,), suite=(_case("passed"),), stores=(store,)), strict=False
        )
