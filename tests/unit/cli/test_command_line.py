"""What the command line takes, what it refuses, and what its help says."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from memory_matrix import __version__, cli
from memory_matrix.commands import modules, plan
from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError
from support.tables import table

COMMANDS = ("compat", "merge", "plan", "report", "suite")

MATRIX = """
[[environment]]
name = "old"
python = "current"

[compat]
serializers = ["json"]
payloads = ["payloads.py"]

[servers]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a matrix file, in which the command line runs."""
    (tmp_path / "memory-matrix.toml").write_text(MATRIX)
    (tmp_path / "payloads.py").write_text("def payload_text():\n    return 'a'\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def helped(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as exited:
        cli.main([*arguments, "--help"])
    assert exited.value.code == 0
    return capsys.readouterr().out


def test_help_names_every_command_exit_code_and_some_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = helped(capsys=capsys)

    assert all(f"\n    {command} " in text for command in COMMANDS)
    codes = text.partition("exit codes:\n")[2].partition("\n\n")[0]
    assert [line.split("  ")[1] for line in codes.splitlines()] == [
        "0", "1", "2", "3", "4", "130, 143",
    ]  # fmt: skip
    assert text.count("\n  memory-matrix ") >= 3


@table("command", COMMANDS)
def test_help_of_a_command_shows_an_example_and_its_exit_codes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = helped(command, capsys=capsys)

    examples = text.partition("\nexamples:\n")[2]
    assert f"  memory-matrix {command}" in examples
    assert "\nexit codes:\n" in text
    assert max(map(len, text.splitlines())) <= 100


def test_examples_in_help_are_command_lines_that_are_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import shlex

    texts = [helped(capsys=capsys), *(helped(each, capsys=capsys) for each in COMMANDS)]
    examples = {
        line.strip().partition("   ")[0]
        for text in texts
        for line in text.partition("\nexamples:\n")[2].splitlines()
        if line.startswith("  memory-matrix ")
    }

    assert len(examples) >= 6
    for example in examples:
        assert cli.parser().parse_args(shlex.split(example)[1:])


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        cli.main(["--version"])

    assert exited.value.code == 0
    assert capsys.readouterr().out == f"memory-matrix {__version__}\n"


@table(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["compatt"], "compatt"),
        (["--versio", "plan"], "--versio"),
        (["compat", "--jobs", "0"], "'0' is not a whole number of 1 or more"),
        (["compat", "-j", "two"], "'two' is not a whole number of 1 or more"),
        (["compat", "-j", "-1"], "'-1' is not a whole number of 1 or more"),
        (["compat", "-j", "²"], "'²' is not a whole number of 1 or more"),
        (["compat", "--fail-on", "broken"], "--fail-on: invalid choice: 'broken'"),
        (["compat", "--fail", "never"], "--fail"),
        (["compat", "--select"], "--select: expected one argument"),
        (["compat", "one"], "'one'"),
        (["compat", "write", "one"], "one"),
        (["plan", "--report-dir", "x"], "--report-dir"),
        (["suite", "--seelct", "x"], "unrecognized arguments: --seelct x; did you mean --select?"),
        (["report", "--format", "docx"], "invalid choice: 'docx'"),
        (["report", "-q", "--form", "json"], "--form"),
    ],
)
def test_a_wrong_command_line_is_refused_with_where_to_look(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(arguments)

    out, error = capsys.readouterr()
    assert (code, out) == (2, "")
    first, second = error.splitlines()
    assert first.startswith("memory-matrix: error: ")
    assert said in first
    assert second.startswith("See `memory-matrix")
    assert second.endswith(" --help`.")


@table(
    ("expression", "said"),
    [
        ("pickle", "pickle"),
        ("colour=red", "colour"),
        ("writer=nobody", "nobody"),
        ("serializer=pickle", "pickle"),
        ("writer=", "writer="),
    ],
)
def test_a_selection_that_means_nothing_is_refused_in_one_sentence(
    expression: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(["plan", "--select", expression])

    error = capsys.readouterr().err
    assert code == 2
    assert error.startswith("memory-matrix: error: ")
    assert said in error
    assert len(error.splitlines()) == 1


@table(
    ("content", "said"),
    [
        (None, "There is no report at 'report.json'"),
        ("", "no whole JSON"),
        ('{"schema": 1, "cells": [', "no whole JSON"),
        ("[]", "no report"),
        ('{"schema": 99}', "99"),
        ("\udcff", "no report"),
    ],
)
def test_a_saved_report_that_cannot_be_shown_is_refused(
    content: str | None, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (folder / "report.json").write_bytes(content.encode("utf-8", "surrogateescape"))

    code = cli.main(["report", "--from", "report.json"])

    error = capsys.readouterr().err
    assert code == 2
    assert said in error
    assert len(error.splitlines()) == 1


def test_the_folder_without_a_matrix_file_gets_the_quick_matrix_and_is_told_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "memory-matrix.toml").unlink()

    assert cli.main(["plan"]) == 0

    out, error = capsys.readouterr()
    assert "old" in out
    assert error.startswith("No matrix file here: this is the built-in quick matrix.")


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (UsageError("That is wrong."), 2, "error: That is wrong.\n"),
        (UnavailableError("It is not there."), 3, "error: It is not there.\n"),
        (MemoryMatrixError("It broke."), 4, "error: It broke.\n"),
        (
            OSError(28, "No space left on device", "/x"),
            4,
            "error: The system does not let it: /x: No space left on device.\n",
        ),
        (
            OSError(28, "No space left on device"),
            4,
            "error: The system does not let it: No space left on device: make room for temporary files",
        ),
        (KeyboardInterrupt(), 130, "interrupted; everything it started is stopped.\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_stops_a_command_becomes_an_exit_code_and_a_sentence(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(_: object) -> int:
        raise raised

    monkeypatch.setattr(plan, "call", stop)

    assert cli.main(["plan"]) == code
    assert capsys.readouterr().err.startswith(f"memory-matrix: {said}")


@pytest.mark.parametrize(
    "command",
    ["run", "compat", "suite", "plan", "merge", pytest.param("doctor", marks=pytest.mark.large)],
)
@pytest.mark.parametrize("text", [None, "x = 1", "[[environment"], ids=["none", "wrong", "no TOML"])
def test_a_matrix_file_that_cannot_be_read_is_bad_input_to_every_command(
    command: str, text: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (folder / "other.toml").write_text(text)

    assert cli.main([command, "-c", "other.toml"]) == 2
    said = capsys.readouterr()
    assert "other.toml" in said.out + said.err


REPORTING = (
    ["run"],
    ["compat"],
    ["compat", "write", "--shard", "1/2"],
    ["compat", "read", "--shard", "1/2"],
    ["suite"],
    ["suite", "--shard", "1/2"],
    ["merge"],
)


@pytest.mark.parametrize("given", [False, True], ids=["default", "given"])
@pytest.mark.parametrize("arguments", REPORTING, ids=" ".join)
def test_a_report_folder_that_cannot_be_written_is_refused_before_the_command_is_called(
    arguments: list[str],
    given: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def call(_: object) -> int:
        raise AssertionError("it was started")

    for module in modules():
        monkeypatch.setattr(module, "call", call)
    name = "taken/below" if given else "memory-matrix-report"
    (folder / name.partition("/")[0]).write_text("mine")

    assert cli.main([*arguments, *(["--report-dir", name] if given else [])]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"memory-matrix: error: No report can be written to {name!r}: ")
    assert said.count("\n") == 1


def test_every_command_that_writes_reports_is_among_those_that_refuse() -> None:
    commands = cli.parser()._subparsers._group_actions[0].choices
    taking = {name for name, each in commands.items() if "--report-dir" in each.format_help()}

    assert taking == {each[0] for each in REPORTING}


@pytest.mark.parametrize("under_github", [False, True])
def test_what_an_error_quotes_is_only_text_to_the_terminal(
    under_github: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if under_github:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    hostile = "\x1b]0;title\x07\x1b[2J\u202e\r\ud800" + "y" * 1000

    def stop(_: object) -> int:
        raise UsageError(f"first {hostile}\n\tsecond")

    monkeypatch.setattr(plan, "call", stop)
    assert cli.main(["plan"]) == 2

    error = capsys.readouterr().err
    assert all(line.isprintable() for line in error.splitlines())
    assert r"\x1b]0;title\x07\x1b[2J\u202e\r\ud800" + "y" * 1000 in error
    assert "second" in error


def test_a_second_signal_does_not_disturb_the_cleaning_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned = []

    def run(_: object) -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            cleaned.append(True)
        return 0

    monkeypatch.setattr(plan, "call", run)

    assert cli.main(["plan"]) == 130
    assert cleaned == [True]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_to_end_is_told_by_the_exit_code_and_handlers_are_put_back(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    monkeypatch.setattr(plan, "call", lambda _: signal.raise_signal(number))

    assert cli.main(["plan"]) == 128 + number
    assert (
        capsys.readouterr().err == "memory-matrix: terminated; everything it started is stopped.\n"
    )
    assert signal.getsignal(number) is before


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        signal.raise_signal(signal.SIGHUP)
        return 0

    monkeypatch.setattr(plan, "call", run)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert cli.main(["plan"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
