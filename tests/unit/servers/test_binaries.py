"""Which file is the server, and what is said where there is none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind, ServerSource
from memory_matrix.servers.binaries import (
    find_binary,
    user_for,
    within_reach,
)
from memory_matrix.servers.processes import User
from memory_matrix.servers.wheels import ServerWheel

STRANGER = User(os.geteuid() + 1, os.getegid() + 1)


def touch(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(mode)
    return path


def at(kind: ServerKind, path: Path) -> Path:
    return find_binary(ServerSource(kind, "bin", str(path), "x"), cache=path).path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the wheel that every requirement names."""
    monkeypatch.setattr(
        "memory_matrix.environments.wheels.install_wheel", lambda *_, **__: tmp_path / "wheel"
    )
    return tmp_path / "wheel"


def in_wheel(kind: ServerKind, cache: Path) -> Path:
    return find_binary(ServerSource(kind, "wheel", "some==1", "x"), cache=cache).path


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_redis_is_a_file_a_folder_or_an_installation(name: str, tmp_path: Path) -> None:
    path = touch(tmp_path / "bin" / name)
    assert {at("redis", each) for each in (path, path.parent, tmp_path)} == {path}


def test_a_redis_file_may_have_any_name(tmp_path: Path) -> None:
    path = touch(tmp_path / "redis-7.2")
    assert at("redis", path) == path


def test_postgres_needs_initdb_beside_it(tmp_path: Path) -> None:
    path = touch(tmp_path / "bin" / "postgres")
    with pytest.raises(UnavailableError, match="`postgres` with `initdb` beside it"):
        at("postgres", path)
    initdb = touch(tmp_path / "bin" / "initdb")
    assert {at("postgres", each) for each in (path, initdb, path.parent, tmp_path)} == {path}


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_what_is_no_server_is_a_sentence(kind: ServerKind, tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "missing", "There is no"),
        (tmp_path, "is no"),
        (touch(tmp_path / "plain", 0o644), "is no"),
    ):
        with pytest.raises(UnavailableError, match=said) as raised:
            at(kind, path)
        assert str(path) in str(raised.value)


def test_a_wheel_with_several_servers_gives_the_same_each_time(wheel: Path) -> None:
    for version in ("pg18", "pg", "pg17"):
        touch(wheel / "project" / version / "bin" / "postgres")
        touch(wheel / "project" / version / "bin" / "initdb")
    touch(wheel / "postgres" / "__init__.py")
    assert in_wheel("postgres", wheel) == wheel / "project" / "pg" / "bin" / "postgres"


def test_binaries_in_a_wheel_are_made_executable(wheel: Path) -> None:
    for name in ("postgres", "initdb"):
        touch(wheel / "bin" / name, 0o644)
    path = in_wheel("postgres", wheel)
    assert all(os.access(each, os.X_OK) for each in (path, path.with_name("initdb")))


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_a_wheel_without_a_server_is_a_sentence(kind: ServerKind, wheel: Path) -> None:
    touch(wheel / "project" / "postgres")
    touch(wheel / "project" / "redis-server.py")
    with pytest.raises(UnavailableError, match=f"some==1 holds no {kind} server"):
        in_wheel(kind, wheel)


@pytest.fixture
def stack(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> ServerSource:
    """A wheel whose server loads a module, and needs a library of another wheel."""
    known = ServerWheel(
        modules={"search.so": ("MAX", "10")}, libraries={"libx.so.1": ("other==1", "libx*.so.1")}
    )
    monkeypatch.setattr("memory_matrix.servers.binaries.server_wheel", lambda _: known)
    monkeypatch.setattr("sys.platform", "linux")
    touch(wheel / "bin" / "redis-server")
    return ServerSource("redis", "wheel", "some==1", "x")


def test_a_server_has_the_modules_and_libraries_of_wheels(stack: ServerSource, wheel: Path) -> None:
    module = touch(wheel / "lib" / "search.so", 0o644)
    library = touch(wheel / "other.libs" / "libx-0a1b.so.1")
    binary = find_binary(stack, cache=wheel)
    assert binary.modules == {module: ("MAX", "10")}
    assert binary.libraries == {"libx.so.1": library}
    assert os.access(module, os.X_OK)


def test_libraries_are_looked_for_on_linux_alone(
    stack: ServerSource, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    touch(wheel / "lib" / "search.so")
    assert find_binary(stack, cache=wheel).libraries == {}


@pytest.mark.parametrize(
    ("there", "said"),
    [("lib/libx.so.1", "some==1 holds no search.so"), ("search.so", "other==1 holds no libx")],
)
def test_a_wheel_without_what_its_server_needs_is_a_sentence(
    there: str, said: str, stack: ServerSource, wheel: Path
) -> None:
    touch(wheel / there)
    with pytest.raises(UnavailableError, match=said):
        find_binary(stack, cache=wheel)


def test_only_postgres_under_root_runs_as_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert user_for("postgres") is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert user_for("redis") is None
    user = user_for("postgres")
    assert user is not None
    assert user.uid != 0


def test_without_any_other_account_root_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("pwd.getpwnam", missing)
    with pytest.raises(UnavailableError, match="run memory-matrix as an ordinary user"):
        user_for("postgres")


def test_a_copy_within_reach_is_complete_and_readable(wheel: Path, tmp_path: Path) -> None:
    for name in ("postgres", "initdb"):
        touch(wheel / "project" / "bin" / name, 0o700)
    touch(wheel / "project.libs" / "libpq.so", 0o600)
    touch(wheel / "project" / "share" / "data", 0o644)
    wheel.chmod(0o700)
    binary = find_binary(ServerSource("postgres", "wheel", "some==1", "x"), cache=wheel)
    target = tmp_path / "target"
    target.mkdir()
    path = within_reach(binary, STRANGER, target)
    assert path.is_relative_to(target)
    for each in (path, path.with_name("initdb"), path.parents[2] / "project.libs" / "libpq.so"):
        assert each.stat().st_mode & stat.S_IROTH
    assert path.stat().st_mode & stat.S_IXOTH
    assert stat.S_IMODE((wheel / "project.libs" / "libpq.so").stat().st_mode) == 0o600
