"""The folder of a shard is whole or not there, and is found wherever it was moved to."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.partials import drafted, find


def fill(folder: Path, text: str) -> None:
    with drafted(folder) as draft:
        (draft / "a").write_text(text)
        (draft / "b").write_text(text)


def listed(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_folder_is_there_when_the_block_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "reports" / "written-1-of-2"
    with drafted(folder) as draft:
        (draft / "a").write_text("x")
        assert not folder.exists()

    assert (folder / "a").read_text() == "x"
    assert listed(folder.parent) == [folder.name]


def test_it_takes_the_place_of_an_older_one_whole(tmp_path: Path) -> None:
    folder = tmp_path / "read-1-of-2"
    folder.mkdir()
    (folder / "old").write_text("old")

    fill(folder, "new")

    assert listed(folder) == ["a", "b"]
    assert listed(tmp_path) == [folder.name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_ends_in_the_middle_leaves_what_was_there(
    tmp_path: Path, error: type[BaseException]
) -> None:
    folder = tmp_path / "read-1-of-2"
    fill(folder, "old")

    def half() -> None:
        with drafted(folder) as draft:
            (draft / "a").write_text("half")
            raise error

    with pytest.raises(error):
        half()

    assert (folder / "b").read_text() == "old"
    assert listed(tmp_path) == [folder.name]


@pytest.mark.concurrency
def test_many_at_once_leave_one_of_them_whole(tmp_path: Path) -> None:
    folder = tmp_path / "suite-1-of-1"
    threads = [
        threading.Thread(target=lambda text=str(number): [fill(folder, text) for _ in range(20)])
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (folder / "a").read_text() == (folder / "b").read_text()
    assert listed(tmp_path) == [folder.name]


def test_a_file_in_its_place_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "suite-1-of-1").write_text("x")

    fill(tmp_path / "suite-1-of-1", "new")

    assert (tmp_path / "suite-1-of-1" / "a").read_text() == "new"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(MemoryMatrixError, match="--report-dir"):
        fill(tmp_path / "file" / "suite-1-of-1", "x")


def test_files_are_found_at_any_depth_and_drafts_are_not(tmp_path: Path) -> None:
    there = [
        "written-1-of-2/written.json",
        "x/y/read-1-of-1/read.json",
        "z/report.json",
        "suite.json",
    ]
    drafts = [".written-2-of-2.abc.tmp/written.json", "x/.read-1-of-1.abc.old/read.json"]
    for name in (*there, *drafts, "other.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "x" / "loop").symlink_to(tmp_path)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "written.json")

    found = find([tmp_path, tmp_path / "x", tmp_path / "suite.json"])

    assert sorted(path for paths in found.values() for path in paths) == sorted(
        tmp_path.resolve() / name for name in there
    )


@pytest.mark.parametrize(("name", "said"), [("gone", "nothing at"), ("other.json", "none of what")])
def test_a_path_that_shards_do_not_leave_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "other.json").touch()

    with pytest.raises(UsageError, match=said):
        find([tmp_path / name])
