"""Where a server's folder is made, and who removes it."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from memory_matrix.servers.folders import is_reachable, reachable_folder
from memory_matrix.servers.processes import User

STRANGER = User(os.geteuid() + 1, os.getegid() + 1)


def test_reach_goes_through_every_folder_above(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o711)
    assert is_reachable(inner / "x", STRANGER)
    (tmp_path / "a").chmod(0o700)
    assert not is_reachable(inner / "x", STRANGER)
    assert is_reachable(inner / "x", None)
    assert is_reachable(inner / "x", User(os.geteuid(), 0))


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file system in memory with room for servers."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("memory_matrix.servers.folders._MEMORY", tmp_path / "memory")
    monkeypatch.setattr("memory_matrix.servers.folders._ROOMY", 0)
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


def test_a_server_runs_in_memory_where_there_is_room(memory: Path, tmp_path: Path) -> None:
    with reachable_folder(tmp_path, None) as folder:
        assert folder.parent == memory
    assert not folder.exists()


@pytest.mark.parametrize("reason", ["full", "absent", "not executable", "another is chosen"])
def test_a_server_runs_in_the_runs_folder_otherwise(
    reason: str, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "full":
        monkeypatch.setattr("memory_matrix.servers.folders._ROOMY", 1 << 80)
    elif reason == "absent":
        memory.rmdir()
    elif reason == "not executable":
        found = os.statvfs(tmp_path)
        changed = os.statvfs_result([*found[:8], found.f_flag | os.ST_NOEXEC, found[9]])
        monkeypatch.setattr("os.statvfs", lambda _: changed)
    else:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
    with reachable_folder(tmp_path, None) as folder:
        assert folder.parent == tmp_path


def test_a_folder_of_its_own_is_private_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with reachable_folder(tmp_path, None) as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "left").touch()
    assert not folder.exists()


def left(parent: Path, name: str) -> Path:
    """Make a folder as a run leaves it that was killed an hour ago."""
    folder = parent / f"memory-matrix-server-{name}"
    (folder / "data").mkdir(parents=True)
    os.utime(folder, (0, 0))
    return folder


def test_what_killed_runs_left_is_removed_by_the_next(memory: Path, tmp_path: Path) -> None:
    dead = [left(memory, name) for name in ("a", "b")]
    with reachable_folder(tmp_path, None):
        assert not any(each.exists() for each in dead)


def test_what_is_not_left_behind_stays(memory: Path, tmp_path: Path) -> None:
    elsewhere = left(tmp_path / "elsewhere", "x")
    (memory / "memory-matrix-server-link").symlink_to(elsewhere)
    held, unborn = left(memory, "held"), left(memory, "unborn")
    others = memory / "memory-matrix-other"
    others.mkdir()
    os.utime(others, (0, 0))
    os.utime(unborn)
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with reachable_folder(tmp_path, None) as mine:
        os.utime(mine, (0, 0))
        with reachable_folder(tmp_path, None):
            kept = [mine, elsewhere, held, unborn, others]
            assert all(each.exists() for each in kept)
    os.close(lock)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders of two users")
def test_root_removes_what_its_servers_user_left_and_nobody_elses(
    memory: Path, tmp_path: Path
) -> None:
    theirs, others = left(memory, "theirs"), left(memory, "others")
    os.chown(theirs, STRANGER.uid, STRANGER.gid)
    os.chown(others, STRANGER.uid + 1, STRANGER.gid)
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o711)
    with reachable_folder(tmp_path, STRANGER) as mine:
        assert mine.stat().st_uid == STRANGER.uid
        assert not theirs.exists()
        assert others.exists()


def test_a_file_system_without_locks_serves_too(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    dead = left(memory, "dead")
    with reachable_folder(tmp_path, None) as folder:
        assert folder.parent == memory
        assert dead.exists(), "nobody knows whether it is held"
