"""What the commands for many machines refuse, and what `plan --github` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_matrix import cli
from memory_matrix.matrix.read import builtin_quick
from memory_matrix.report import files
from memory_matrix.report.model import Cell, Report, SuiteResult
from memory_matrix.running import empty_report
from support.tables import table

ONE_MACHINE = "run `compat write --shard I/N`, then `compat read --shard I/N`"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with a matrix file and without GitHub."""
    (tmp_path / "memory-matrix.toml").write_text('[[environment]]\nname = "a"\n')
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_OUTPUT", "GITHUB_ACTIONS", "CI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what is said about a command line that is wrong."""
    assert cli.main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    return error


@table(
    ("arguments", "said"),
    [
        (["compat", "--shard", "1/2"], ONE_MACHINE),
        (["run", "--shard", "1/2"], ONE_MACHINE),
        (["compat", "wrote", "--shard", "1/2"], "steps write and read, and no 'wrote'"),
        (["compat", "write", "--shard", "3/2"], 'shard "3/2"'),
        (["compat", "write", "--from", "x"], "only that step takes it"),
        (["compat", "--from", "x"], "only that step takes it"),
        (["compat", "write", "--history", "x"], "--history is for the whole report"),
        (["compat", "read"], "nothing at 'memory-matrix-report'"),
        (["compat", "read", "--from", "."], "`compat write` left: name its folders with --from"),
        (["compat", "read", "--from", "gone"], "nothing at 'gone'"),
        (["suite", "--durations", "."], "--durations: There is no report"),
        (["suite", "--shard", "257/300"], "256/256"),
        (["merge"], "nothing at 'memory-matrix-report'"),
        (["merge", "."], "nothing to merge in '.'"),
        (["merge", "memory-matrix.toml"], "none of what shards leave"),
        (["merge", "--expect", "run"], "invalid choice: 'run'"),
        (["plan", "--jobs", "3"], "add that"),
        (["plan", "--github", "--jobs", "0"], "from 1 to 256"),
        (["plan", "--github", "--jobs", "257"], "from 1 to 256"),
        (["plan", "--github", "--jobs", "\u0663"], "from 1 to 256"),
        (["plan", "--github"], "GITHUB_OUTPUT"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, *arguments)


def test_a_plan_is_written_for_github_and_printed_for_people(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(here / "output"))
    (here / "output").write_text("before=1\n")

    assert cli.main(["plan", "--github"]) == 0
    printed = capsys.readouterr().out
    assert cli.main(["plan", "--github", "--json"]) == 0

    lines = (here / "output").read_text().splitlines()
    assert lines[0] == "before=1"
    outputs = {
        name: json.loads(value) for name, _, value in (each.partition("=") for each in lines[1:])
    }
    assert outputs == json.loads(capsys.readouterr().out)
    assert outputs["has-work"] is True
    assert printed.splitlines()[0] == outputs["write-matrix"]["include"][0]["name"]


@pytest.mark.parametrize("place", ["gone/output", "."])
def test_a_plan_that_cannot_be_written_names_the_variable(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", place)

    assert cli.main(["plan", "--github"]) == 4
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert f"cannot be written to '{place}', which GITHUB_OUTPUT names: " in error


def whole(folder: Path, **parts: object) -> Path:
    """Write a report of a whole run, and return its file."""
    report = empty_report(builtin_quick(folder), (), ())
    report = Report(**{**vars(report), **parts})
    return files.write(report, folder)[0]


CELL = Cell("a", "a", "json", "x", (), "ok")
RESULT = SuiteResult("a", (), "s", "c", "passed")


def test_whole_reports_of_both_parts_are_merged(here: Path) -> None:
    whole(here / "in" / "compat", cells=(CELL,))
    whole(here / "in" / "suite", suite=(RESULT,))

    assert cli.main(["merge", "in", "-q"]) == 0

    report = files.load(here / "memory-matrix-report")
    assert (report.cells, report.suite) == ((CELL,), (RESULT,))
    assert report.merged == ("compat", "suite")


def test_a_whole_run_stays_what_it_is_and_a_copy_of_it_is_no_mistake(here: Path) -> None:
    whole(here / "in" / "one", cells=(CELL,), suite=(RESULT,))
    whole(here / "in" / "copy", cells=(CELL,), suite=(RESULT,))

    assert cli.main(["merge", "in", "-q", "--expect", "compat", "--expect", "suite"]) == 0
    assert files.load(here / "memory-matrix-report").merged == ("run",)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"cells": (CELL, CELL)}, "two reports of compat"),
        ({"suite": (RESULT,), "digest": "0" * 16}, "of two matrices"),
        ({"suite": (RESULT,), "version": "9.9"}, "use one release on all machines"),
        ({"suite": (RESULT,), "shard": "1/2"}, "keep each shard's folder as it is"),
    ],
)
def test_whole_reports_that_do_not_go_together_are_refused(
    here: Path, parts: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole(here / "in" / "a", cells=(CELL,))
    other = whole(here / "in" / "b", **parts)

    error = refused(capsys, "merge", "in")

    assert said in error
    assert str(other) in error


def test_the_report_of_shards_that_were_all_missing_is_not_merged_either(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["merge", "--expect", "compat"]) == 3
    whole(here / "memory-matrix-report" / "one", cells=(CELL,))

    assert cli.main(["merge", "-q", "--expect", "compat"]) == 0
    assert files.load(here / "memory-matrix-report").cells == (CELL,)


def test_a_merged_report_is_not_merged_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole(here / "in", cells=(CELL,), merged=("compat",))

    assert "a report that `merge` made is not merged again" in refused(capsys, "merge", "in")
