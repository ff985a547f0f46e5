"""The badge: green only where everything was run and nothing is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from memory_matrix.report import badge
from memory_matrix.report.baseline import compare
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    MissingPart,
    Report,
    ServerRecord,
    StoreRecord,
    Strategy,
    SuiteResult,
)
from support.tables import table

FINE = Cell("old", "next", "json", "chat", (), "ok", direction="backward")
BROKEN = replace(FINE, payload="tools", outcome="unreadable", is_break=True)
OTHER = replace(BROKEN, payload="steps")
PASSED = SuiteResult("old", ("pg",), "store", "case", "passed")
FAILED = replace(PASSED, case="other", outcome="failed")
GOOD = Report(cells=(FINE,), suite=(PASSED,))


def made(report: Report, **options: str) -> dict[str, Any]:
    return json.loads(badge.render(report, **options))


def said(report: Report) -> tuple[str, str]:
    found = made(report)
    return found["message"], found["color"]


def test_a_badge_is_what_shields_takes() -> None:
    assert made(Report(cells=(FINE,))) == {
        "schemaVersion": 1,
        "label": "memory compatibility",
        "message": "no breaks",
        "color": "brightgreen",
    }


def test_the_label_is_the_users() -> None:
    assert made(GOOD, label="agents' memory")["label"] == "agents' memory"


@table(
    ("report", "expected"),
    [
        (GOOD, "no breaks, 1 case passed"),
        (replace(GOOD, cells=()), "1 case passed"),
        (replace(GOOD, suite=(PASSED, replace(PASSED, outcome="not-offered"))), None),
        (replace(GOOD, cells=(FINE, replace(FINE, reader="old", outcome="changed"))), None),
    ],
)
def test_what_is_fine_is_green(report: Report, expected: str | None) -> None:
    message, colour = said(report)
    assert colour == badge.GOOD
    assert expected is None or message == expected


@table(
    ("report", "expected"),
    [
        (replace(GOOD, cells=(FINE, BROKEN)), "1 break"),
        (replace(GOOD, cells=(FINE, BROKEN, OTHER), suite=()), "2 breaks"),
        (replace(GOOD, suite=(PASSED, FAILED)), "1 failed case"),
        (replace(GOOD, cells=(FINE, BROKEN), suite=(FAILED,)), "1 break, 1 failed case"),
        (replace(GOOD, cells=(FINE, BROKEN), fail_on="never"), "1 break"),
        (replace(GOOD, cells=(FINE, BROKEN), directions=()), "1 break"),
        (
            replace(GOOD, cells=(replace(FINE, outcome="drifted"),), fail_on="drifted"),
            "1 failing cell",
        ),
    ],
)
def test_what_is_wrong_is_red(report: Report, expected: str) -> None:
    assert said(report) == (expected, badge.BAD)


def test_what_the_baseline_had_all_of_is_orange() -> None:
    report = Report(cells=(FINE, BROKEN), suite=(FAILED,))
    assert said(compare(report, report, "main")) == (
        "1 break (none new), 1 failed case (none new)",
        badge.OLD,
    )
    assert said(compare(replace(report, cells=(FINE, BROKEN, OTHER)), report, "main")) == (
        "2 breaks (1 new), 1 failed case (none new)",
        badge.BAD,
    )


UNAVAILABLE = {"status": "unavailable", "reason": "none"}


@table(
    ("change", "told"),
    [
        ({"missing": (MissingPart("compat", "next", "2/3"),)}, "1 missing"),
        ({"environments": (EnvironmentRecord("far", "3.15", **UNAVAILABLE),)}, "1 unavailable"),
        ({"servers": (ServerRecord("pg", "postgres", None, "x", **UNAVAILABLE),)}, "1 unavail"),
        ({"stores": (StoreRecord("store", "old", **UNAVAILABLE),)}, "1 unavailable"),
        ({"cells": (FINE, replace(FINE, payload="b", outcome="skipped"))}, "1 skipped"),
        ({"suite": (PASSED, replace(FAILED, outcome="skipped"))}, "1 skipped"),
        ({"suite": (PASSED, replace(FAILED, outcome="error"))}, "1 not run"),
        ({"suite": (replace(PASSED, outcome="not-offered"),)}, "no case passed"),
        ({"suite": (), "strategy": Strategy("full", 0, 0, 0)}, "no case passed"),
        ({"cells": (replace(FINE, reader="old"),)}, "one environment alone"),
        ({"cells": (FINE, replace(BROKEN, known="moved"))}, "no other breaks, 1 case"),
        ({"cells": (FINE, replace(BROKEN, known="moved"))}, "1 known break"),
        ({"suite": (PASSED, replace(FAILED, outcome="waived"))}, "1 waived case"),
        ({"shard": "1/2"}, "shard 1/2 alone"),
    ],
)
def test_nothing_that_is_missing_or_excused_is_green(change: dict[str, Any], told: str) -> None:
    message, colour = said(replace(GOOD, **change))
    assert colour == badge.UNSURE
    assert told in message


@table(
    "report",
    [
        Report(),
        Report(cells=(replace(FINE, outcome="skipped"),)),
        Report(suite=(replace(PASSED, outcome="skipped"),)),
        Report(environments=(EnvironmentRecord("far", "3.15", **UNAVAILABLE),)),
        Report(missing=(MissingPart("suite", "next", "1/1"),)),
    ],
)
def test_where_nothing_was_run_it_says_so(report: Report) -> None:
    message, colour = said(report)
    assert message.startswith("nothing was run")
    assert colour == badge.NOTHING


def test_a_badge_of_hostile_text_is_one_line_of_json(hostile: Report) -> None:
    text = badge.render(hostile, hostile.cells[0].payload)
    assert text.count("\n") == 1
    assert text.isascii()
    assert len(text) < 1000
    json.loads(text)
