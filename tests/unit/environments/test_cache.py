"""Entries of the cache are whole or not there, and cleaning removes what is ours alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from memory_matrix.environments.cache import clean, default_cache, obtain, scratch, section, sweep
from memory_matrix.environments.processes import StoppedError
from memory_matrix.errors import MemoryMatrixError, UsageError


def fill(text: str = "whole") -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "content").write_text(text)

    return make


def is_whole(folder: Path) -> bool:
    return (folder / "content").is_file() and (folder / "content").read_text() == "whole"


def left_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.suffix != ".lock")


def test_the_variable_names_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMORY_MATRIX_CACHE", "~/caches/mine")

    assert default_cache() == tmp_path / "caches" / "mine"
    assert not default_cache().exists()


def test_without_the_variable_the_cache_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MATRIX_CACHE", "")

    assert default_cache().is_absolute()
    assert default_cache().name == "memory-matrix"


def test_a_section_is_made_with_its_tag(tmp_path: Path) -> None:
    folder = section(tmp_path / "deep" / "cache", "things")

    assert left_in(folder) == ["CACHEDIR.TAG"]
    assert section(tmp_path / "deep" / "cache", "things") == folder


def test_a_section_takes_over_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "things").mkdir()

    assert left_in(section(tmp_path, "things")) == ["CACHEDIR.TAG"]


@pytest.mark.parametrize("tag", [None, "Signature: somebody else's\n"])
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, tag: str | None) -> None:
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "thesis.txt").write_text("mine")
    if tag:
        (tmp_path / "things" / "CACHEDIR.TAG").write_text(tag)

    with pytest.raises(UsageError, match="MEMORY_MATRIX_CACHE"):
        section(tmp_path, "things")


def test_a_file_in_the_place_of_the_cache_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")

    with pytest.raises(MemoryMatrixError, match="cannot be written"):
        section(tmp_path / "cache", "things")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_section_that_has_become_unwritable_is_said_plainly(tmp_path: Path) -> None:
    folder = section(tmp_path, "things")
    folder.chmod(0o500)

    with pytest.raises(MemoryMatrixError, match="cannot be written"), scratch(folder):
        pass


def test_a_section_that_is_gone_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with (
        pytest.raises(MemoryMatrixError, match="cannot be written"),
        scratch(tmp_path / "file" / "things"),
    ):
        pytest.fail("there is nowhere to make it")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(MemoryMatrixError, match="Permission denied"):
        section(tmp_path / "cache", "things")


@pytest.mark.concurrency
def test_many_that_make_a_section_at_once_all_have_it(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)

    def work(_: int) -> Path:
        barrier.wait()
        return section(tmp_path, "things")

    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(work, range(8)))

    assert folders == {tmp_path / "things"}
    assert left_in(tmp_path) == ["things"]


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    assert obtain(tmp_path / "entry", is_good=is_whole, make=fill()) is False
    assert obtain(tmp_path / "entry", is_good=is_whole, make=_must_not_be_made) is True


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_entry_whose_making_fails_leaves_nothing(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def make(folder: Path) -> None:
        fill("half")(folder)
        raise error

    with pytest.raises(error):
        obtain(tmp_path / "entry", is_good=is_whole, make=make)

    assert left_in(tmp_path) == []


def test_a_bad_entry_is_replaced(tmp_path: Path) -> None:
    fill("spoilt")(tmp_path / "entry")

    assert obtain(tmp_path / "entry", is_good=is_whole, make=fill()) is False
    assert is_whole(tmp_path / "entry")
    assert left_in(tmp_path) == ["entry"]


def test_a_file_in_the_place_of_an_entry_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "entry").write_text("not a folder")

    obtain(tmp_path / "entry", is_good=is_whole, make=fill())

    assert is_whole(tmp_path / "entry")


@pytest.mark.concurrency
def test_two_that_want_the_same_entry_at_once_make_it_once(tmp_path: Path) -> None:
    inside, go_on, answers = threading.Event(), threading.Event(), []

    def make(folder: Path) -> None:
        inside.set()
        go_on.wait()
        fill()(folder)

    def first() -> None:
        answers.append(obtain(tmp_path / "entry", is_good=is_whole, make=make))

    def second() -> None:
        answers.append(obtain(tmp_path / "entry", is_good=is_whole, make=_must_not_be_made))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    inside.wait()
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [False, True]


def test_waiting_for_another_run_can_be_cancelled(tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / "entry.lock"),
        pytest.raises(StoppedError),
    ):
        obtain(
            tmp_path / "entry", is_good=is_whole, make=_must_not_be_made, cancelled=_second_time()
        )


def test_sweeping_removes_what_nobody_makes_any_more(tmp_path: Path) -> None:
    for name in ("dead.1234.partial", "alive.1234.partial", "whole"):
        (tmp_path / name).mkdir()

    with FileLock(tmp_path / "alive.lock"):
        sweep(tmp_path)

    assert left_in(tmp_path) == ["alive.1234.partial", "whole"]


def test_a_scratch_folder_is_there_for_its_run_only(tmp_path: Path) -> None:
    with scratch(tmp_path) as folder:
        (folder / "file").write_text("x")
        sweep(tmp_path)
        assert (folder / "file").exists()

    assert list(tmp_path.iterdir()) == []


def test_cleaning_removes_its_sections_and_the_empty_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folders = tuple(section(cache, name) for name in ("environments", "wheels"))
    obtain(folders[0] / "entry", is_good=is_whole, make=fill())

    assert clean(cache) == folders
    assert not cache.exists()


def test_cleaning_leaves_what_it_did_not_make(tmp_path: Path) -> None:
    section(tmp_path, "wheels")
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "thesis.txt").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")

    clean(tmp_path)

    assert left_in(tmp_path) == ["environments", "notes.txt"]
    assert (tmp_path / "environments" / "thesis.txt").read_text() == "mine"


def test_cleaning_does_not_follow_a_link_out_of_the_cache(tmp_path: Path) -> None:
    elsewhere = section(tmp_path / "elsewhere", "wheels")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "wheels").symlink_to(elsewhere)

    assert clean(tmp_path / "cache") == ()
    assert elsewhere.is_dir()


def test_cleaning_what_is_not_there_removes_nothing(tmp_path: Path) -> None:
    assert clean(tmp_path / "missing") == ()


def test_cleaning_is_refused_while_a_run_builds(tmp_path: Path) -> None:
    folder = section(tmp_path, "environments")

    with (
        FileLock(folder / "entry.lock"),
        pytest.raises(MemoryMatrixError, match="being built by another run"),
    ):
        clean(tmp_path)

    assert folder.is_dir()


def _must_not_be_made(folder: Path) -> None:
    raise AssertionError("made a second time")


def _second_time() -> Callable[[], bool]:
    answers = iter((False, True))
    return lambda: next(answers)
