"""What was to be tested and could not is never passed over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory_matrix.commands.ending import exit_code
from memory_matrix.errors import UsageError
from memory_matrix.github.annotations import Places, of_report
from memory_matrix.report import html, markdown, sentences, terminal, untested
from memory_matrix.report.formats import FORMATS
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Error,
    PayloadRecord,
    Report,
    Untested,
)
from support.tables import table

READY = (EnvironmentRecord("a", "3.11.7"), EnvironmentRecord("b", "3.12.1"))


def _ran(writer: str, reader: str, payload: str = "fine") -> Cell:
    return Cell(writer, reader, "json", payload, (), "ok")


def _skipped(writer: str, reader: str, payload: str, why: str = "NameError: x") -> Cell:
    return Cell(writer, reader, "json", payload, error=Error("build", "Skipped", why))


FINE = (_ran("a", "a"), _ran("a", "b"), _ran("b", "a"), _ran("b", "b"))


def _failed(payload: str, *environments: str, status: str = "failed") -> tuple[PayloadRecord, ...]:
    return tuple(PayloadRecord(each, payload, status, "NameError: x") for each in environments)


NOWHERE = Report(
    environments=READY,
    cells=(*FINE, _skipped("a", "a", "mine"), _skipped("b", "b", "mine")),
    payloads=_failed("mine", "a", "b"),
    locations={"mine": "payloads.py:12"},
)
UNREAD = Report(
    environments=READY,
    cells=(
        _ran("a", "a"),
        _skipped("a", "b", "fine", "no codec"),
        _skipped("b", "b", "fine", "no codec"),
    ),
)


def test_a_payload_that_no_environment_builds_is_not_tested() -> None:
    assert NOWHERE.untested == (Untested("payload", "mine", "NameError: x"),)


def test_an_environment_that_reads_nothing_is_not_tested() -> None:
    assert UNREAD.untested == (Untested("environment", "b", "no codec"),)


@table(
    "report",
    [
        Report(environments=READY, cells=FINE),
        Report(
            environments=READY,
            cells=(
                *FINE,
                _skipped("a", "a", "mine"),
                _ran("b", "b", "mine"),
                _ran("b", "a", "mine"),
            ),
            payloads=_failed("mine", "a"),
        ),
        Report(
            environments=READY,
            cells=(*FINE, _skipped("a", "a", "numpy"), _skipped("b", "b", "numpy")),
            payloads=_failed("numpy", "a", "b", status="skipped"),
        ),
        Report(
            environments=READY,
            cells=(_ran("a", "a", "numpy"), _skipped("b", "b", "numpy")),
            payloads=_failed("numpy", "b", status="skipped"),
        ),
        Report(
            environments=READY,
            cells=(_skipped("a", "a", "mine"), _skipped("b", "b", "mine")),
            payloads=_failed("mine", "a", "b"),
        ),
    ],
)
def test_what_ran_somewhere_or_was_not_asked_for_is_no_lack(report: Report) -> None:
    assert report.untested == ()


@pytest.mark.parametrize(
    ("report", "word", "name"),
    [(NOWHERE, "1 payload", "mine"), (UNREAD, "1 environment", "b")],
    ids=["payload", "environment"],
)
def test_it_ends_the_run_and_is_said_first_everywhere(report: Report, word: str, name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}'"):
        exit_code(report, strict=False)

    assert sentences.verdict(report).startswith(f"Not tested: {word}. ")
    assert not sentences.is_good(report)
    for text in (terminal.render(report), markdown.render(report)):
        assert sentences.not_tested_part(report.untested[0])[:40] in text
    assert "Incomplete" in html.render(report)


def test_it_is_annotated_where_the_payload_is(tmp_path: Path) -> None:
    (first, *_) = of_report(NOWHERE, Places(tmp_path, tmp_path), rest="the report")

    assert (first.level, first.file, first.line) == ("error", "payloads.py", 12)
    assert "no environment could write it: NameError: x" in first.message


def test_all_that_is_made_of_a_report_walks_its_cells_for_it_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    walked = []

    def find(report: Report) -> tuple[Untested, ...]:
        walked.append(report)
        return original(report)

    original = untested.find
    monkeypatch.setattr(untested, "find", find)
    report = replace(NOWHERE)

    for form in FORMATS.values():
        "".join(form.pieces(report))
    list(of_report(report, Places(tmp_path, tmp_path), rest="the report"))
    with pytest.raises(UsageError):
        exit_code(report, strict=False)

    assert len(walked) == 1


def test_a_report_with_other_cells_is_walked_anew() -> None:
    assert NOWHERE.untested
    assert replace(NOWHERE, cells=FINE).untested == ()


def test_a_break_is_still_a_finding() -> None:
    found = Cell("a", "b", "json", "fine", (), "unreadable", is_break=True, direction="backward")

    assert (
        exit_code(
            Report(environments=READY, cells=(*NOWHERE.cells, found), payloads=NOWHERE.payloads),
            strict=False,
        )
        == 1
    )
