"""The history: one whole line for each run, whoever else writes, and nothing else is touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report.baseline import compare
from memory_matrix.report.history import Entry, append, check, entry, read
from memory_matrix.report.model import Report
from support.tables import table

ENTRY = Entry("2026-03-01T12:00:00Z", 340, 12)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a history may be, in a folder that is not there yet."""
    return tmp_path / "kept" / "history.jsonl"


def test_a_run_is_told_in_numbers(sample: Report) -> None:
    told = entry(replace(sample, digest="d1", time="2026-03-01T12:00:00Z", commit="c0ffee"))
    assert told == Entry(
        "2026-03-01T12:00:00Z", 14, 5, "c0ffee", "1.0.0", "memory-matrix.toml", "d1",
        known=1, drifted=1, skipped=1, cases=42, passed=25, failed=6, errors=2, waived=1,
        unavailable=3,
    )  # fmt: skip


def test_what_changed_is_told_where_there_is_a_baseline(sample: Report) -> None:
    earlier = replace(sample, cells=sample.cells[:7], suite=())
    told = entry(compare(sample, earlier, "main"))
    assert (told.new, told.fixed, told.new_failed, told.fixed_cases) == (3, 0, 6, 0)


def test_entries_are_added_in_order(path: Path) -> None:
    every = [replace(ENTRY, breaks=number) for number in range(3)]
    for each in every:
        append(path, each)
    assert read(path) == tuple(every)
    assert len(path.read_text().splitlines()) == 3
    assert list(path.parent.iterdir()) == [path]


def test_an_entry_begins_a_line_of_its_own(path: Path) -> None:
    append(path, ENTRY)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    append(path, ENTRY)
    assert read(path) == (ENTRY, ENTRY)


def test_empty_lines_and_fields_of_other_releases_are_left_as_they_are(path: Path) -> None:
    path.parent.mkdir()
    held = b'\n{"time": "t", "cells": 1, "breaks": 0, "colour": 7}\r\n\n'
    path.write_bytes(held)
    append(path, ENTRY)
    assert path.read_bytes().startswith(held)
    assert read(path) == (Entry("t", 1, 0), ENTRY)


NO_HISTORIES = {
    "text": b"hello\n",
    "a list": b"[]\n",
    "a report": json.dumps({"schema": 1}).encode(),
    "a number for a text": b'{"time": 1, "cells": 1, "breaks": 0}',
    "cut off": b'{"time": "t", "cells": 1, "br',
    "a conflict": b'<<<<<<< HEAD\n{"time": "t", "cells": 1, "breaks": 0}\n=======\n',
    "NUL": b"\0\0\0",
    "no UTF-8": b'"\xff\xfe"\n',
    "deep": b"[" * 200_000,
    "escapes": b"\x1b[31m",
}


@table("held", NO_HISTORIES)
def test_what_is_no_history_is_refused_and_left_as_it_is(path: Path, held: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(held)
    for refused in (lambda: check(path), lambda: append(path, ENTRY)):
        with pytest.raises(UsageError, match=r"line 1 is .* Name another file") as raised:
            refused()
        assert str(raised.value).isprintable()
    assert path.read_bytes() == held


def test_the_line_that_is_wrong_is_named(path: Path) -> None:
    append(path, ENTRY)
    with path.open("ab") as file:
        file.write(b"oops\n")
    with pytest.raises(UsageError, match="line 2 is 'oops', and it is no JSON"):
        check(path)


def test_a_history_may_be_made_anywhere(path: Path) -> None:
    check(path)
    assert not path.parent.exists()


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: File name too long"):
        check(tmp_path / ("x" * 300))


def test_a_folder_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        check(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_history_that_may_not_be_written_is_refused_before_the_run(path: Path) -> None:
    append(path, ENTRY)
    path.chmod(0o400)
    with pytest.raises(UsageError, match="cannot be written"):
        check(path)


def test_a_history_cannot_be_made_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is no folder"):
        check(tmp_path / "file" / "history.jsonl")


def test_a_full_disk_leaves_the_history_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(path, ENTRY)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:20]))
    with pytest.raises(MemoryMatrixError, match="No space left"):
        append(path, ENTRY)
    monkeypatch.undo()
    assert read(path) == (ENTRY,)
    append(path, ENTRY)
    assert read(path) == (ENTRY, ENTRY)


def test_a_link_to_a_history_stays_one(path: Path, tmp_path: Path) -> None:
    append(path, ENTRY)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    append(link, ENTRY)
    assert link.is_symlink()
    assert read(path) == (ENTRY, ENTRY)


_WRITER = """
import sys
from pathlib import Path
from memory_matrix.report.history import Entry, append
for number in range(15):
    append(Path(sys.argv[1]), Entry(sys.argv[2] * 3000, number, 0))
"""


@pytest.mark.concurrency
def test_lines_of_several_processes_stay_whole(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), name]) for name in "abcd"
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    found = read(path)
    assert len(found) == 60
    for name in "abcd":
        assert [each.cells for each in found if each.time == name * 3000] == list(range(15))


def test_the_page_shows_an_entry_and_explains_every_field() -> None:
    page = (Path(__file__).parents[3] / "docs" / "baseline.md").read_text("utf-8")
    (line,) = (each for each in page.splitlines() if each.startswith('{"time"'))
    names = [each.name for each in fields(Entry)]
    assert list(json.loads(line)) == names
    assert [name for name in names if f"`{name}`" not in page] == []
