"""Annotations: what is equal merged, worst first, at most ten of a level, where the code is."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_matrix.compat.judging import stale
from memory_matrix.github import annotations
from memory_matrix.github.annotations import MOST, Places
from memory_matrix.github.commands import Annotation
from memory_matrix.matrix.model import Known
from memory_matrix.report.model import (
    Cell,
    Difference,
    EnvironmentRecord,
    Error,
    MissingPart,
    Report,
    ServerRecord,
    StoreRecord,
    SuiteResult,
)
from support import hostile
from support.runner import obeyed
from support.tables import table

ROOT = Path("/repo")
PLACES = Places(ROOT, ROOT / "app")
MOVED = Error("load", "ModuleNotFoundError", "No module named 'app.old'")
HINT = "Keep an alias module."


def broken(payload: str = "state", **fields: Any) -> Cell:
    """Return a break of pickle from old to next."""
    made = Cell(
        "old", "next", "pickle", payload, (), "unreadable", True, None, "backward",
        MOVED, (), "MM102", HINT,
    )  # fmt: skip
    return replace(made, **fields)


def failed(case: str = "order", **fields: Any) -> SuiteResult:
    made = SuiteResult("next", ("pg17",), "app.py:store", case, "failed", "got 2 of 3", group="C")
    return replace(made, **fields)


def found(report: Report, places: Places = PLACES, reserved: int = 0) -> list[Annotation]:
    return list(annotations.of_report(report, places, rest="the summary", reserved=reserved))


def only(report: Report, places: Places = PLACES) -> Annotation:
    (one,) = found(report, places)
    return one


def test_a_break_that_fails_the_run_is_an_error_that_says_how_to_run_it() -> None:
    annotation = only(Report(cells=(broken(),), matrix="memory-matrix.toml"))

    assert (annotation.level, annotation.title) == ("error", "next reads pickle of old: unreadable")
    command = (
        "memory-matrix compat --select 'writer=old reader=next serializer=pickle payload=state'"
    )
    assert annotation.message.splitlines() == [
        "Payload state, 1 cell: load: ModuleNotFoundError: No module named 'app.old'",
        HINT,
        f"Run one alone: {command}",
    ]


def test_equal_breaks_are_one_annotation() -> None:
    cells = [
        broken(payload, writer=writer, reader=reader, serializer=serializer)
        for payload in ("state", "steps", "tool")
        for writer, reader in (("old", "next"), ("next", "old"), ("old", "far"))
        for serializer in ("pickle", "cloudpickle")
    ]

    annotation = only(Report(cells=tuple(cells)))

    assert (
        annotation.title == "next reads pickle, cloudpickle of old (and 2 more pairs): unreadable"
    )
    assert annotation.message.startswith("Payloads state, steps, tool, 18 cells: load:")


def test_what_differs_has_an_annotation_each_worst_first() -> None:
    changed = broken(
        "c", outcome="changed", error=None, diff=(Difference("$.a", "int 1", "str '1'"),)
    )
    drifted = broken("d", outcome="drifted", is_break=False, error=None)
    cells = (changed, broken("u"), drifted, broken("k", outcome="crashed"))
    report = Report(cells=cells, suite=(failed(), failed("x", outcome="error")), fail_on="changed")

    titles = [each.title for each in found(report)]

    assert titles == [
        "next reads pickle of old: crashed",
        "next reads pickle of old: unreadable",
        "app.py:store: order failed",
        "next reads pickle of old: changed",
        "next reads pickle of old: drifted",
        "app.py:store: x could not be run",
    ]
    assert {each.level for each in found(report)} == {"error"}
    assert found(report)[3].message.startswith(
        "Payload c, 1 cell: $.a: expected int 1, got str '1'"
    )


@table("number", [1, 9, 10, 11, 12, 300])
@table("reserved", [0, 1])
def test_no_level_has_more_than_github_shows_and_the_last_one_counts_the_rest(
    number: int, reserved: int
) -> None:
    cells = [
        broken(f"p{each}", error=Error("load", f"E{each}", "x"), cause=None)
        for each in range(number)
    ]
    cells.insert(0, broken("worst", outcome="crashed"))

    shown = found(Report(cells=tuple(cells)), reserved=reserved)

    room = MOST - reserved
    assert len(shown) == min(number + 1, room)
    assert shown[0].title is not None
    assert shown[0].title.endswith(": crashed")
    if number + 1 > room:
        assert shown[-1].message == f"{number + 2 - room:,} more: see the summary."
        assert shown[-1].file is None


def test_levels_are_cut_apart() -> None:
    notices = tuple(f"known[{each}] matches no break any more: take it out." for each in range(30))
    report = Report(cells=(broken(),), stale_known=notices)

    levels = [each.level for each in found(report)]

    assert levels == ["error", *["notice"] * 10]


@table(
    ("report", "level"),
    [
        (Report(cells=(broken(),)), "error"),
        (Report(cells=(broken(),), fail_on="never"), "warning"),
        (Report(cells=(broken(),), directions=("forward",)), "warning"),
        (Report(cells=(broken(new=False),), fail_on="new-breaks"), "warning"),
        (Report(cells=(broken(new=True),), fail_on="new-breaks"), "error"),
        (Report(suite=(failed(),)), "error"),
        (Report(suite=(failed(),), fail_on="never"), "warning"),
        (Report(suite=(failed(new=False),), fail_on="new-breaks"), "warning"),
        (Report(suite=(failed(outcome="error"),), fail_on="never"), "error"),
        (Report(missing=(MissingPart("compat", "next", "2/4"),)), "error"),
        (Report(stale_known=("known[0] matches no break any more: take it out.",)), "notice"),
        (Report(stale_waivers=("suite.waiver[1] matches no failing case: take it out.",)), "notice"),
        (Report(environments=(EnvironmentRecord("a", "3.15", {}, "unavailable", "none"),)), "notice"),
    ],
)  # fmt: skip
def test_the_level_says_whether_the_run_fails_for_it(report: Report, level: str) -> None:
    assert only(report).level == level


@table(
    "report",
    [
        Report(),
        Report(cells=(broken(known="ticket 7"),)),
        Report(cells=(Cell("a", "a", "json", "x", (), "ok"), Cell("a", "a", "json", "x", (), "changed"))),
        Report(suite=tuple(failed(outcome=each) for each in ("passed", "waived", "skipped", "not-offered"))),
    ],
)  # fmt: skip
def test_what_is_expected_is_not_annotated(report: Report) -> None:
    assert found(report) == []


def test_an_entry_that_ran_out_is_a_warning() -> None:
    entry = Known("ticket 7", until=dt.date(2020, 1, 1), key="known[0]")
    report = Report(stale_known=stale([entry], (), dt.date(2026, 1, 1)))

    annotation = only(report)

    assert annotation.level == "warning"
    assert "ticket 7" in annotation.message


def test_new_ones_come_first_and_say_so() -> None:
    report = Report(cells=(broken("a", outcome="crashed", new=False), broken("b", new=True)))

    assert [each.title for each in found(report)] == [
        "new: next reads pickle of old: unreadable",
        "next reads pickle of old: crashed",
    ]


def test_a_case_is_one_annotation_with_what_was_said() -> None:
    results = tuple(
        failed(environment=environment, reason=f"got {number}", servers=(server,))
        for number, environment in enumerate(("a", "b", "c", "d", "e"))
        for server in ("pg13", "pg18")
    )

    annotation = only(Report(suite=(*results, failed(environment="f", outcome="passed"))))

    lines = annotation.message.splitlines()
    assert annotation.title == "app.py:store: order failed"
    assert lines[0] == "10 of 11 cells."
    assert lines[1].endswith(": got 0")
    assert lines[4] == "2 other messages: see the report."
    assert lines[5].startswith("Run one alone: memory-matrix suite --select ")


def test_shards_that_are_missing_come_first_one_annotation_each() -> None:
    missing = tuple(MissingPart("suite", f"next on pg{number}", "2/4") for number in range(9))
    report = Report(missing=(*missing, MissingPart("compat", "old", "1/3")), cells=(broken(),))

    titles = [each.title for each in found(report)]

    assert titles[:2] == ["suite, shard 2/4: missing", "compat, shard 1/3: missing"]
    assert "next on pg0" in found(report)[0].message


def test_what_could_not_be_had_is_merged_by_reason() -> None:
    report = Report(
        environments=tuple(
            EnvironmentRecord(name, "3.15", {}, "unavailable", "There is no Python 3.15 here.")
            for name in ("a", "b")
        ),
        servers=(ServerRecord("pg15", "postgres", None, "x", "unavailable", "no Docker"),),
        stores=(StoreRecord("s", "a", {}, "unavailable", "no Docker"),),
    )

    assert [(each.title, each.message) for each in found(report)] == [
        ("could not be had: a, b", "There is no Python 3.15 here."),
        ("could not be had: pg15, s", "no Docker"),
    ]


@table(
    ("locations", "place"),
    [
        ({"state": "payloads.py:12"}, ("app/payloads.py", 12)),
        ({"state": "payloads.py"}, ("app/payloads.py", None)),
        ({"state": "../shared/a:b.py:7"}, ("shared/a:b.py", 7)),
        ({"state": "/repo/x.py:3"}, ("x.py", 3)),
        ({"state": "/elsewhere/x.py:3"}, ("app/memory-matrix.toml", None)),
        ({"state": "../../etc/x.py:3"}, ("app/memory-matrix.toml", None)),
        ({"other": "payloads.py:12"}, ("app/memory-matrix.toml", None)),
        ({}, ("app/memory-matrix.toml", None)),
    ],
)
def test_a_break_is_annotated_where_its_payload_is_else_at_the_matrix_file(
    locations: dict[str, str], place: tuple[str | None, int | None]
) -> None:
    report = Report(cells=(broken(),), matrix="memory-matrix.toml", locations=locations)

    annotation = only(report)

    assert (annotation.file, annotation.line) == place


def test_a_failed_case_is_annotated_where_its_store_is() -> None:
    annotation = only(Report(suite=(failed(),), locations={"app.py:store": "app.py:30"}))

    assert (annotation.file, annotation.line) == ("app/app.py", 30)


def test_a_file_outside_the_repository_is_not_named() -> None:
    places = Places(Path("/repo"), Path("/elsewhere"))

    annotation = only(Report(cells=(broken(),), matrix="memory-matrix.toml"), places)

    assert (annotation.file, annotation.line) == (None, None)


EVERY = Report(
    environments=(EnvironmentRecord("far", "3.15", {}, "unavailable", "none"),),
    cells=(broken(), broken("b", error=None, outcome="changed", diff=(Difference("$", "a", "b"),))),
    suite=(failed(), failed("x", outcome="error")),
    stale_known=("known[0] held until 2020",),
    stale_waivers=("waiver[0]",),
    missing=(MissingPart("compat", "next", "2/4"),),
    matrix="memory-matrix.toml",
    locations={"state": "payloads.py:1"},
)


@table("text", [*hostile.TEXTS, hostile.LONG[:100_000]])
def test_hostile_text_stays_in_its_annotation_and_short(text: str) -> None:
    shown = found(hostile.spoilt(EVERY, text))

    log = "".join(f"{each}\n" for each in shown)
    assert [each.name for each in obeyed(log)] == [each.level for each in shown]
    assert len(shown) >= 5
    assert all(character.isprintable() or character == "\n" for character in log)
    assert max(map(len, log.splitlines())) < 4_000
