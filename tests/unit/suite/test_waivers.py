"""Waivers: which failures they excuse, and until when."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from memory_matrix.suite.results import CaseResult
from memory_matrix.suite.waivers import CaseWaiver, read_waivers, waived

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
    assert ended.reason == "bad (its waiver ended on 2026-04-30)"


def test_a_waiver_in_force_counts_whatever_else_has_ended() -> None:
    waivers = [CaseWaiver("old", YESTERDAY), CaseWaiver("new", TOMORROW)]

    assert waived(FAILED, waivers, TODAY).reason == "new (until 2026-05-02): bad"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("outcome", ["passed", "error", "not-offered", "skipped"])
def test_only_failures_are_waived(outcome: str) -> None:
    ended = CaseResult("ttl_zero", "H", "s", (), None, outcome)  # type: ignore[arg-type]

    assert waived(ended, [CaseWaiver("known", TOMORROW)], TODAY) == ended


def test_waivers_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "waivers.json"
    path.write_text(json.dumps([{"reason": "known", "until": "2026-05-02", "case": "ttl_*"}]))

    assert read_waivers(path) == [CaseWaiver("known", TOMORROW, case="ttl_*")]
