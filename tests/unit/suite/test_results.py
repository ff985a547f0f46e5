"""The lines that a pytest process tells its results in: what is not told did not pass."""

from __future__ import annotations

from pathlib import Path

from memory_matrix.suite.results import Case, ResultLines, missing, read_lines, result

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
