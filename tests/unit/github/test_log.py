"""Nothing that the tool prints is a command, except what it issues as one."""

from __future__ import annotations

import io
import sys
from itertools import product

import pytest

from memory_matrix.github import log
from memory_matrix.github.log import GuardedStream
from support import hostile
from support.runner import Command, obeyed
from support.tables import table

ATTACKS = (
    "::error::x",
    "  ::error::x",
    "\t\u3000\ufeff::error::x",
    "\n\n::error file=a::x",
    "text\r::set-output name=result::pass",
    "text\r\n::stop-commands::x",
    "done ##[error]x",
    "####[group]x",
    "##[##[error]x",
    "::::error::x",
    ":::error::x",
    "\x85::error::x",
    *hostile.TEXTS,
)


@pytest.fixture(autouse=True)
def under_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")


@table("text", ATTACKS)
def test_no_printed_line_is_a_command_however_it_is_written(text: str) -> None:
    whole, pieces = io.StringIO(newline=""), io.StringIO(newline="")
    GuardedStream(whole).write(f"{text}\n")
    stream = GuardedStream(pieces)
    for character in f"{text}\n":
        stream.write(character)
        stream.flush()

    assert whole.getvalue() == pieces.getvalue()
    assert obeyed(whole.getvalue()) == []


def test_two_printed_texts_are_no_command_together() -> None:
    for first, second in product(ATTACKS[:12], repeat=2):
        written = io.StringIO(newline="")
        stream = GuardedStream(written)
        print(first, second, sep="", file=stream)
        print(first, second, sep="\n", file=stream)
        assert obeyed(written.getvalue()) == [], (first, second)


@table("text", ["a::b", "a # [b]", "std::vector", "x: ::y", "# heading", ""])
def test_other_lines_stay_as_they_are(text: str) -> None:
    written = io.StringIO()
    print(text, file=GuardedStream(written))
    assert written.getvalue() == f"{text}\n"


def test_a_command_has_a_line_of_its_own_and_what_was_begun_another() -> None:
    written = io.StringIO()
    stream = GuardedStream(written)
    stream.write("begun ")
    log.issue("::group::Building", stream)
    stream.write("::endgroup::")
    stream.end_line()
    assert written.getvalue() == "begun \n::group::Building\n: :endgroup::\n"
    assert obeyed(written.getvalue()) == [Command("group", "Building")]


def test_both_streams_are_guarded_and_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with log.guarded_errors(), log.guarded_output():
        print("::error::out")
        print("::error::err", end="", file=sys.stderr)
        log.say("notice", "ours")

    output, errors = capsys.readouterr()
    assert (sys.stdout, sys.stderr) == before
    assert obeyed(output) == []
    assert obeyed(errors) == [Command("notice", "ours", {"title": "memory-matrix"})]
    assert errors.startswith(": :error::err\n")


def test_what_was_begun_is_shown_also_after_an_exception(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> None:
        with log.guarded_errors():
            sys.stderr.write("half a line")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert capsys.readouterr().err == "half a line\n"


def test_outside_github_streams_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    before = sys.stdout, sys.stderr
    with log.guarded_errors(), log.guarded_output():
        assert (sys.stdout, sys.stderr) == before
