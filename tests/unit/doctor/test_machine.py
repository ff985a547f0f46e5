"""What a machine has, seen without writing anything."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_matrix.doctor import machine
from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.environments.processes import Runner
from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers.engine import EngineAnswer
from support.tables import table

IMAGE = ServerSource("redis", "image", "redis:8.0", "redis:8.0")


def test_interpreters_are_listed_by_minor_version(monkeypatch: pytest.MonkeyPatch):
    found = [
        Interpreter(Path("/a"), "3.11.2", "cpython", "1"),
        Interpreter(Path("/b"), "3.11.7", "cpython", "2"),
        Interpreter(Path("/c"), "3.13.0", "cpython", "3", free_threaded=True),
        Interpreter(Path("/d"), "3.13.0", "pypy", "4"),
    ]
    monkeypatch.setattr(machine, "everything", lambda **_: found)
    assert [(each.what, each.found) for each in machine.check_pythons(Runner())] == [
        ("Python 3.11", "3.11.2 at /a, 3.11.7 at /b"),
        ("Python 3.13t", "3.13.0 at /c"),
        ("Python 3.13 (pypy)", "3.13.0 at /d"),
    ]


def test_a_missing_uv_is_a_problem_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    def missing(_: Runner) -> None:
        raise MemoryMatrixError("The uv binary is missing.")

    monkeypatch.setattr(machine, "open_uv", missing)
    (check,) = machine.check_uv(Runner())
    assert (check.state, check.needed) == ("problem", True)
    assert "pip install" in check.advice


@pytest.mark.parametrize(("images", "needed"), [((), False), ((IMAGE,), True)])
def test_an_engine_is_needed_where_the_matrix_names_images(
    monkeypatch: pytest.MonkeyPatch, images: tuple[ServerSource, ...], needed: bool
):
    def none(*_: object, **__: object) -> None:
        raise UnavailableError("No Docker engine answers (refused: x): start one.")

    monkeypatch.setattr(machine, "ask_engine", none)
    (check,) = machine.check_engine(images)
    assert (check.state, check.needed) == ("missing", needed)
    assert check.found == "No Docker engine answers (refused: x)"
    assert check.advice


@pytest.mark.parametrize(("there", "state"), [(True, "ok"), (False, "missing")])
def test_an_image_that_is_not_there_is_pulled_by_the_first_run(
    monkeypatch: pytest.MonkeyPatch, there: bool, state: str
):
    answer = EngineAnswer("28.2.2", "unix://x", {"redis:8.0": there})
    monkeypatch.setattr(machine, "ask_engine", lambda *_, **__: answer)
    engine, image = machine.check_engine((IMAGE,))
    assert (engine.state, engine.found) == ("ok", "28.2.2 at unix://x")
    assert (image.state, image.needed) == (state, False)


def test_a_cache_that_is_not_there_yet_is_fine_and_is_not_made(tmp_path: Path):
    (check,) = machine.check_cache(tmp_path / "a/b")
    assert check.state == "ok"
    assert "nothing yet" in check.found
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_measured_and_its_environments_are_counted(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / "environments" / name).mkdir(parents=True)
        (tmp_path / "environments" / name / "pyvenv.cfg").write_bytes(b"x" * 1500)
    (check,) = machine.check_cache(tmp_path)
    assert "2 environments, 3 kB," in check.found


def test_a_large_cache_is_measured_as_far_as_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr(machine, "_COUNTING", -1)
    (check,) = machine.check_cache(tmp_path)
    assert "more than 0 bytes" in check.found


def test_a_full_disk_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=machine.LITTLE - 1))
    (check,) = machine.check_cache(tmp_path)
    assert (check.state, "only 2.15 GB free" in check.found) == ("problem", True)
    assert "make room" in check.advice


def test_a_cache_that_cannot_be_written_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    (check,) = machine.check_cache(tmp_path)
    assert (check.state, check.needed) == ("problem", True)


@pytest.mark.parametrize(("form", "problems"), [("wheel", 1), ("bin", 1), ("image", 0), ("url", 0)])
def test_root_without_another_user_matters_where_postgres_is_run_here(
    monkeypatch: pytest.MonkeyPatch, form: str, problems: int
):
    def nobody(_: str) -> None:
        raise UnavailableError("Postgres refuses to run as root: run as an ordinary user.")

    monkeypatch.setattr(machine, "user_for", nobody)
    found = list(machine.check_user([ServerSource("postgres", form, "x", "x")]))
    assert [(each.state, each.needed) for each in found] == [("problem", True)] * problems


@table(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (2_300_000_000, "2.3 GB"), (1e16, "1e+04 TB")],
)
def test_sizes_are_short(number: float, text: str):
    assert machine._sized(number) == text
