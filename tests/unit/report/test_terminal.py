"""The terminal report fits its width, names the worst first, and shows hostile text as text."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len

from memory_matrix.report import terminal, terminal_suite
from memory_matrix.report.grouping import breaks
from memory_matrix.report.model import Cell, EnvironmentRecord, Error, Report
from memory_matrix.report.page import Look
from support.tables import table

STYLE = re.compile(r"\x1b\[[0-9;]*m")
Golden = Callable[[str, str], None]
Grown = Callable[..., Report]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_report_looks_as_it_did(width: int, sample: Report, golden: Golden) -> None:
    golden(f"sample-{width}.txt", terminal.render(sample, Look(width)))


def test_a_verbose_report_looks_as_it_did(sample: Report, golden: Golden) -> None:
    golden("sample-verbose.txt", terminal.render(sample, Look(120, verbose=True)))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_report_of_the_suite_looks_as_it_did(
    width: int, suite_sample: Report, golden: Golden
) -> None:
    golden(f"suite-{width}.txt", terminal.render(suite_sample, Look(width)))


def test_a_verbose_report_of_the_suite_looks_as_it_did(
    suite_sample: Report, golden: Golden
) -> None:
    golden("suite-verbose.txt", terminal.render(suite_sample, Look(100, verbose=True)))


def test_a_report_without_the_suite_says_nothing_about_it(sample: Report) -> None:
    compat = replace(sample, suite=(), stores=(), strategy=None, stale_waivers=())
    assert "case" not in terminal.render(compat, Look(80)).replace("case=", "")


def test_a_report_of_the_suite_says_nothing_about_cells(suite_sample: Report) -> None:
    stale = replace(suite_sample, stale_known=("known[0] matches nothing",))
    text = terminal.render(stale, Look(80))
    for word in ("writer", "break ", "breaks", "known[0]", "compared"):
        assert word not in text


def test_an_ascii_report_looks_as_it_did(sample: Report, golden: Golden) -> None:
    text = terminal.render(sample, Look(80, ascii_only=True))
    assert text.isascii()
    golden("sample-ascii.txt", text)


def test_a_coloured_report_says_the_same(sample: Report) -> None:
    coloured = terminal.render(sample, Look(100, colour=True))
    assert "\x1b[1;31m" in coloured
    assert STYLE.sub("", coloured) == terminal.render(sample, Look(100))


@pytest.mark.parametrize("count", [1, 10, pytest.param(40, marks=pytest.mark.large)])
def test_a_matrix_of_any_size_looks_as_it_did(count: int, grown: Grown, golden: Golden) -> None:
    golden(f"environments-{count}.txt", terminal.render(grown(count), Look(80)))


def test_a_report_without_environments_says_so(golden: Golden) -> None:
    golden("empty.txt", terminal.render(Report(), Look(80)))


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("count", [1, 3, 10, 40])
@pytest.mark.large
def test_nothing_but_commands_is_wider_than_the_terminal(
    width: int, count: int, grown: Grown
) -> None:
    lines = terminal.render(grown(count), Look(width)).splitlines()
    assert [line for line in lines if cell_len(line) > width and not line.startswith("  $ ")] == []


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.large
def test_no_part_of_the_suite_is_wider_than_the_terminal(
    width: int, verbose: bool, grown_suite: Grown
) -> None:
    for report in (grown_suite(3), grown_suite(12, name="environment-of-a-long-name-日本語-")):
        lines = terminal.render(report, Look(width, verbose=verbose)).splitlines()
        wide = [line for line in lines if cell_len(line) > width and not line.startswith("  $ ")]
        assert wide == []


@pytest.mark.large
def test_many_failing_cases_stay_within_the_lines_that_there_are(grown_suite: Grown) -> None:
    report = grown_suite(12, cases=200)
    lines = terminal.render(report, Look(80)).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Failed cases ("))
    assert len(lines) - start <= terminal_suite.MOST_LINES + 3
    assert re.fullmatch(r"… and \d+ more cases: see report.md, or use -v", lines[-1])
    verbose = terminal.render(report, Look(80, verbose=True))
    failing = {each.case for each in report.suite if each.outcome == "failed"}
    assert all(f"✗ {case} " in verbose for case in failing)
    assert " more" not in verbose


def test_each_message_of_a_failing_case_is_shown_once(suite_sample: Report) -> None:
    text = terminal.render(suite_sample, Look(400, verbose=True))
    for reason in {each.reason for each in suite_sample.suite if each.outcome == "failed"}:
        assert text.count(str(reason)) == 1


def test_no_line_ends_in_spaces(grown: Grown, sample: Report, suite_sample: Report) -> None:
    for report in (sample, suite_sample, grown(10)):
        lines = terminal.render(report, Look(80)).splitlines()
        assert [line for line in lines if line != line.rstrip()] == []


def _break(cause: int, payload: int, writer: int) -> Cell:
    names = (f"environment-{writer}", f"environment-{writer * 7 % 11 + 20}", "json", f"p{payload}")
    error = Error("load", f"Error{cause}", "no " * 30)
    return Cell(
        *names, (), "unreadable", True, None, "backward", error, (), f"MM{cause}", "h " * 90
    )


@pytest.mark.large
def test_many_breaks_stay_within_the_lines_that_there_are() -> None:
    every = [(c, p, w) for c in range(30) for p in range(9) for w in range(9) if (c * p + w) % 4]
    report = Report(cells=tuple(_break(*each) for each in every))
    lines = terminal.render(report, Look(80)).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Breaks ("))
    assert len(lines) - start <= terminal.MOST_LINES + 3
    assert re.fullmatch(r"… and \d+ more causes: see report.md, or use -v", lines[-1])
    verbose = terminal.render(report, Look(80, verbose=True))
    assert all(f"MM{cause}:" in verbose for cause in range(30))
    assert all(f"p{payload}" in verbose for payload in range(9))
    assert "more" not in verbose


@pytest.mark.large
def test_a_report_of_40_000_cells_is_short(grown: Grown) -> None:
    report = grown(20, payloads=25, serializers=4)
    assert len(terminal.render(report, Look(120)).splitlines()) < 150


def test_the_worst_comes_first(sample: Report) -> None:
    text = terminal.render(sample, Look(120))
    words = [
        "Breaks (4)",
        "✗ crashed: 1 cell",
        "✗ unreadable, MM102:",
        "✗ changed:",
        "Known breaks (1)",
    ]
    words += ["Drifted (1)", "Lossy", "Refused", "Skipped", "could not be had (1)", "not written"]
    words += ["Memory test suite", "Failed cases (6)", "could not be run (2)", "Waived cases (1)"]
    places = [text.index(word) for word in words]
    assert places == sorted(places)


def test_every_break_of_a_small_report_is_told(sample: Report) -> None:
    text = terminal.render(sample, Look(120))
    for cell in breaks(sample):
        assert f"{cell.payload}: {cell.writer} → {cell.reader} ({cell.direction})" in text


def test_long_names_leave_room_for_letters() -> None:
    names = [f"{'very-' * 20}long-{number}" for number in range(12)]
    report = Report(
        environments=tuple(EnvironmentRecord(name, "3.12.1") for name in names),
        cells=tuple(Cell(a, b, "json", "x", (), "ok") for a in names for b in names),
    )
    grid = [line for line in terminal.render(report, Look(80)).splitlines() if ".  .  ." in line]
    assert len(grid) == 12
    assert {cell_len(line) <= 80 for line in grid} == {True}


def test_wide_characters_keep_their_columns() -> None:
    names = ["日本語", "next"]
    report = Report(cells=tuple(Cell(a, b, "json", "x", (), "ok") for a in names for b in names))
    rows = [line for line in terminal.render(report, Look(80)).splitlines() if "✓ ok" in line][:2]
    columns = {cell_len(row[: row.rindex("✓")]) for row in rows}
    assert len(columns) == 1


@table(("ascii_only", "verbose"), [(False, True), (True, False)])
def test_hostile_text_is_shown_and_never_interpreted(
    hostile: Report, ascii_only: bool, verbose: bool
) -> None:
    text = terminal.render(hostile, Look(100, ascii_only=ascii_only, verbose=verbose))
    lines = text.removesuffix("\n").split("\n")
    assert all(line.isprintable() for line in lines)
    assert text.isascii() or not ascii_only
    assert len(text) < 100_000


def test_hostile_text_gets_no_colours(hostile: Report) -> None:
    text = terminal.render(hostile, Look(100, colour=True))
    rest = STYLE.sub("", text)
    assert all(line.isprintable() for line in rest.removesuffix("\n").split("\n"))
    assert rest == terminal.render(hostile, Look(100))


def test_markup_of_rich_is_text(sample: Report) -> None:
    cells = tuple(replace(cell, payload="[red]x[/red]") for cell in sample.cells)
    assert "[red]x[/red]" in terminal.render(replace(sample, cells=cells), Look(100))


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class _OldTerminal(_Terminal):
    encoding = "cp1252"


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_terminal_gets_colours(plain_environment: pytest.MonkeyPatch, sample: Report) -> None:
    stream = _Terminal()
    terminal.show(sample, stream=stream)
    assert STYLE.search(stream.getvalue())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_may_refuse_colours(
    name: str, value: str, plain_environment: pytest.MonkeyPatch
) -> None:
    plain_environment.setenv(name, value)
    assert not terminal.look_of(_Terminal()).colour


def test_a_file_gets_no_colours(plain_environment: pytest.MonkeyPatch) -> None:
    assert not terminal.look_of(io.StringIO()).colour


def test_the_width_is_that_of_the_terminal(plain_environment: pytest.MonkeyPatch) -> None:
    plain_environment.setenv("COLUMNS", "133")
    assert terminal.look_of(_Terminal()).width == 133
    plain_environment.setenv("COLUMNS", "5")
    assert terminal.look_of(_Terminal()).width == 40


@pytest.mark.usefixtures("plain_environment")
def test_an_encoding_without_the_symbols_gets_ascii() -> None:
    assert terminal.look_of(_OldTerminal()).ascii_only
    assert not terminal.look_of(_Terminal()).ascii_only


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_report_is_printed_whatever_the_encoding(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding, write_through=True))
    cell = Cell("Gr\xfc\xdfe \u65e5", "b", "\ud800", "\u202e", (), "ok")
    terminal.show(Report(cells=(cell,)))
    assert "No breaks in 1 cell." in written.getvalue().decode(encoding)


@pytest.mark.large
def test_rich_is_not_imported_before_something_is_rendered() -> None:
    code = "import sys, memory_matrix.report.terminal as t; print('rich' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
