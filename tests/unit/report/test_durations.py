"""How long a run took, by what shards are packed of."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.report import files
from memory_matrix.report.durations import load_seconds, seconds_of
from memory_matrix.report.model import EnvironmentRecord, Report, SuiteResult

REPORT = Report(
    environments=(
        EnvironmentRecord("a", "3.12", seconds={"build": 10.0, "write": 2.0, "read": 3.0}),
        EnvironmentRecord("b", "3.12", seconds={"build": 10.0, "write": 4.0}),
        EnvironmentRecord("c", "3.12", seconds={"build": 10.0}),
    ),
    suite=(
        SuiteResult("a", ("pg",), "S", "one", "passed", seconds=1.5),
        SuiteResult("a", ("pg",), "S", "two", "failed", seconds=2.0),
        SuiteResult("a", ("pg",), "S", "one", "passed", serializer="json", seconds=9.0),
        SuiteResult("b", ("pg",), "S", "one", "skipped", seconds=0.0),
    ),
)


def test_building_counts_for_each_phase_that_ran() -> None:
    seconds = seconds_of(REPORT)

    assert seconds.write == {"a": 12.0, "b": 14.0}
    assert seconds.read == {"a": 13.0}


def test_cases_count_for_their_cell_and_what_was_skipped_is_not_known() -> None:
    assert seconds_of(REPORT).suite == {
        ("a", ("pg",), "S", None): 3.5,
        ("a", ("pg",), "S", "json"): 9.0,
    }


def test_they_survive_the_report_file(tmp_path: Path) -> None:
    files.write(REPORT, tmp_path)

    assert load_seconds(tmp_path) == load_seconds(tmp_path / "report.json") == seconds_of(REPORT)


def test_no_report_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no report at"):
        load_seconds(tmp_path)
