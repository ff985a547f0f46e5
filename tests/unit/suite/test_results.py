"""The lines that a pytest process tells its results in: what is not told did not pass."""

from __future__ import annotations

import json
from pathlib import Path

from memory_matrix.suite.results import (
    Case,
    ResultLines,
    count_ended,
    missing,
    read_lines,
    result,
)

FIRST = Case("text_empty", "A", "store", ("pg17",), "json")
SECOND = Case("ttl_zero", "H", "store", ("pg17",))


def write(path: Path) -> None:
    lines = ResultLines(path)
    lines.collected([FIRST, SECOND])
    lines.ended(result(FIRST, "failed", "expected \ud800, got \x00", 0.123456))
    lines.close()


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "lines")

    collected, ended = read_lines(tmp_path / "lines")

    assert collected == [FIRST, SECOND]
    assert ended == [result(FIRST, "failed", "expected \ud800, got \x00", 0.1235)]


def test_a_line_that_was_cut_short_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    write(path)
    path.write_text(path.read_text()[:-10])

    collected, ended = read_lines(path)

    assert collected == [FIRST, SECOND]
    assert ended == []


def test_no_file_is_no_result(tmp_path: Path) -> None:
    assert read_lines(tmp_path / "nothing") == ([], [])


def test_what_was_collected_and_did_not_end_is_an_error() -> None:
    ended = [result(FIRST, "passed", None, 0.1)]

    (lost,) = missing([FIRST, SECOND], ended, "it did not run")

    assert (lost.case, lost.outcome, lost.reason) == ("ttl_zero", "error", "it did not run")


def test_cases_that_differ_in_the_serializer_alone_are_two() -> None:
    other = Case("text_empty", "A", "store", ("pg17",), "pickle")

    assert len(missing([FIRST, other], [result(FIRST, "passed", None, 0.1)], "why")) == 1


def lose(path: Path, number: int, status: int | None) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"lost": number, "status": status}) + "\n")


def test_a_case_whose_process_died_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    write(path)
    lose(path, 1, -9)

    _, (_, lost) = read_lines(path)

    assert (lost.case, lost.outcome) == ("ttl_zero", "error")
    assert lost.reason == "it did not end: its process ended by signal 9"


def test_a_case_whose_process_had_to_be_killed_did_not_come_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    write(path)
    lose(path, 1, None)

    _, (_, lost) = read_lines(path)

    assert (lost.case, lost.outcome) == ("ttl_zero", "failed")
    assert lost.reason is not None
    assert "did not come back in time" in lost.reason


def test_a_loss_of_what_nobody_said_was_collected_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    lose(path, 0, 1)

    assert read_lines(path) == ([], [])


def test_a_process_that_died_after_it_told_its_result_takes_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    write(path)
    lose(path, 0, 3)

    _, ended = read_lines(path)

    assert [each.outcome for each in ended] == ["failed"]


def test_what_several_processes_collect_is_there_once(tmp_path: Path) -> None:
    write(tmp_path / "lines")
    write(tmp_path / "lines")

    collected, ended = read_lines(tmp_path / "lines")

    assert collected == [FIRST, SECOND]
    assert len(ended) == 1


def test_cases_that_ended_are_counted_whichever_way(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert count_ended(path) == 0
    write(path)
    lose(path, 1, 1)

    assert count_ended(path) == 2
