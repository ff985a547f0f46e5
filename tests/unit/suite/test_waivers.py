"""Waivers: which failures they excuse, and until when."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from memory_matrix.matrix.model import Waiver
from memory_matrix.report.model import SuiteOutcome, SuiteResult
from memory_matrix.suite.results import CaseResult
from memory_matrix.suite.run import stale_waivers
from memory_matrix.suite.waivers import CaseWaiver, read_waivers, waived
from support.tables import table

TODAY = dt.date(2026, 5, 1)
TOMORROW = dt.date(2026, 5, 2)
YESTERDAY = dt.date(2026, 4, 30)
FAILED = CaseResult("ttl_zero", "H", "app.py:Store", ("pg17", "redis:8.0"), None, "failed", "bad")


@pytest.mark.parametrize("until", [TODAY, TOMORROW])
def test_a_waiver_holds_through_its_last_day(until: dt.date) -> None:
    ended = waived(FAILED, [CaseWaiver("known", until)], TODAY)

    assert ended.outcome == "waived"
    assert ended.reason == f"known (until {until}): bad"


def test_after_its_last_day_the_case_fails_and_says_so() -> None:
    ended = waived(FAILED, [CaseWaiver("known", YESTERDAY)], TODAY)

    assert ended.outcome == "failed"
    assert ended.reason == "its waiver (known) ended on 2026-04-30: bad"


def test_of_several_that_have_ended_the_last_one_is_named() -> None:
    waivers = [CaseWaiver("old", dt.date(2025, 1, 1)), CaseWaiver("new", YESTERDAY)]

    assert waived(FAILED, waivers, TODAY).reason == "its waiver (new) ended on 2026-04-30: bad"


def test_a_waiver_in_force_counts_whatever_else_has_ended() -> None:
    waivers = [CaseWaiver("old", YESTERDAY), CaseWaiver("new", TOMORROW)]

    assert waived(FAILED, waivers, TODAY).reason == "new (until 2026-05-02): bad"


@table(
    "pattern",
    [
        {"case": "ttl_*"},
        {"store": "Store"},
        {"store": "app.py:*"},
        {"server": "redis*"},
        {"case": "ttl_zero", "server": "pg17"},
    ],
)
def test_it_covers_what_its_globs_match(pattern: dict[str, str]) -> None:
    assert waived(FAILED, [CaseWaiver("known", TOMORROW, **pattern)], TODAY).outcome == "waived"


@pytest.mark.parametrize("pattern", [{"case": "iso_*"}, {"store": "Other"}, {"server": "pg18"}])
def test_it_covers_nothing_else(pattern: dict[str, str]) -> None:
    assert waived(FAILED, [CaseWaiver("known", TOMORROW, **pattern)], TODAY) == FAILED


@table("outcome", ["passed", "error", "not-offered", "skipped"])
def test_only_failures_are_waived(outcome: str) -> None:
    ended = CaseResult("ttl_zero", "H", "s", (), None, outcome)  # type: ignore[arg-type]

    assert waived(ended, [CaseWaiver("known", TOMORROW)], TODAY) == ended


IN_FORCE, RAN_OUT = dt.date(2999, 1, 1), dt.date(2020, 1, 1)
HELD = "suite.waiver[0] (ticket 2) held until 2020-01-01: what it excused fails the run again."
PASSES = "suite.waiver[0] (ticket 2): every case it covers passes; take it out."
COVERS_NONE = "suite.waiver[0] (ticket 2): it covers no case; take it out."


@table(
    ("until", "outcomes", "whole", "said"),
    [
        (RAN_OUT, ("failed", "passed"), True, HELD),
        (RAN_OUT, ("failed",), False, HELD),
        (RAN_OUT, ("passed",), True, PASSES),
        (RAN_OUT, ("passed",), False, None),
        (RAN_OUT, (), True, COVERS_NONE),
        (IN_FORCE, ("waived", "passed"), True, None),
        (IN_FORCE, ("passed",), True, PASSES),
        (IN_FORCE, ("passed",), False, None),
        (IN_FORCE, (), True, COVERS_NONE),
    ],
)
def test_a_report_says_of_a_waiver_that_it_ran_out_or_that_nothing_needs_it(
    until: dt.date, outcomes: tuple[SuiteOutcome, ...], whole: bool, said: str | None
) -> None:
    waiver = Waiver("ticket 2", "suite.waiver[0]", until, case="ttl_*")
    results = [SuiteResult("a", ("pg17",), "S", "ttl_zero", each) for each in outcomes]
    results.append(SuiteResult("a", ("pg17",), "S", "iso_users", "failed"))

    assert stale_waivers([waiver], results, whole=whole) == (() if said is None else (said,))


def test_waivers_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "waivers.json"
    path.write_text(json.dumps([{"reason": "known", "until": "2026-05-02", "case": "ttl_*"}]))

    assert read_waivers(path) == [CaseWaiver("known", TOMORROW, case="ttl_*")]
