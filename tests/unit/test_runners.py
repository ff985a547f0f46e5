"""How a session is run, and what its report says that this machine lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_matrix.errors import NO_ENGINE, UsageError
from memory_matrix.runners import SuiteCommand, forget, missing, offer, suite_command

MATRIX = """
[axes]
python = ["3.12"]
[servers]
postgres = ["image:pgvector/pgvector:pg17", "image:pgvector/pgvector:pg18"]
redis = ["image:redis:8.0"]
"""
READY = {"status": "ready", "reason": None}
NO_PYTHON = {"status": "unavailable", "reason": "No 3.99.", "interpreter_missing": True}
NO_DOCKER = {"status": "unavailable", "reason": f"pg17: {NO_ENGINE} (refused)."}
NO_IMAGE = {"status": "unavailable", "reason": "The image cannot be pulled."}


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def command(folder: Path, *given: str, place: int = 0) -> SuiteCommand | None:
    path = folder / "memory-matrix.toml"
    path.write_text(MATRIX)
    offered = offer(path)
    return suite_command(offered, offered.sessions[place], Path("reports"), given)


def selected(folder: Path, *given: str, place: int = 0) -> str:
    found = command(folder, *given, place=place)
    assert found is not None
    assert found.options[-2] == "--session"
    return found.options[-1]


def test_a_session_has_a_folder_of_its_own_for_its_report(tmp_path: Path) -> None:
    found = [command(tmp_path, place=place) for place in (0, 1)]

    assert [str(each and each.report) for each in found] == [
        "reports/py312-pg17-redis8.0",
        "reports/py312-pg18",
    ]


def test_a_folder_that_is_given_is_the_report_s(tmp_path: Path) -> None:
    found = command(tmp_path, "--report-dir=mine")
    assert found is not None
    assert found.report == Path("mine")


def test_what_is_given_narrows_what_the_session_selects(tmp_path: Path) -> None:
    assert selected(tmp_path, "--select=case=text_*", "-v") == (
        "environment=py3.12 server=pg17 server=redis:8.0 'case=text_*'"
    )


def test_nothing_is_run_of_what_another_session_is_to_run(tmp_path: Path) -> None:
    assert command(tmp_path, "--select", "server=pg18") is None


def test_servers_that_are_given_are_selected_instead(tmp_path: Path) -> None:
    given = ("--postgres", "image:pgvector/pgvector:pg13")
    found = selected(tmp_path, *given, place=1)
    assert found.startswith("environment=py3.12 server=pg13 ")
    assert "server=pg18" not in found


def test_stores_that_are_given_are_run_on_all_servers_of_the_session(tmp_path: Path) -> None:
    assert selected(tmp_path, "--store", "app:memory") == (
        "environment=py3.12 server=pg17 server=redis:8.0"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["-c", "other.toml"], "-c cannot be given here"),
        (["--select", "python=2"], "matches no python"),
        (["--postgres", "bin:/nowhere"], "there is nothing at"),
        (["--unheard-of"], "unrecognized arguments: --unheard-of"),
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, given: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        command(tmp_path, *given)


@pytest.mark.parametrize(
    ("ci", "given", "strict"),
    [
        ("", [], False),
        ("true", [], True),
        ("true", ["--no-strict"], False),
        ("", ["--strict"], True),
    ],
)
def test_a_session_is_strict_where_the_suite_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: str, given: list[str], strict: bool
) -> None:
    monkeypatch.setenv("CI", ci)
    found = command(tmp_path, *given)
    assert found is not None
    assert found.strict is strict


def report(folder: Path, **parts: object) -> Path:
    (folder / "report.json").write_text(json.dumps(parts))
    return folder


def test_where_all_was_had_nothing_is_missing(tmp_path: Path) -> None:
    assert missing(report(tmp_path, environments=[READY], servers=[READY])) is None


@pytest.mark.parametrize(
    ("environments", "servers", "of_the_machine"),
    [
        ([NO_PYTHON], [READY], True),
        ([READY], [NO_DOCKER], True),
        ([NO_PYTHON], [NO_DOCKER], True),
        ([READY], [NO_IMAGE], False),
        ([NO_PYTHON], [NO_IMAGE], False),
    ],
)
def test_interpreters_and_docker_are_what_a_machine_lacks(
    tmp_path: Path, environments: list[object], servers: list[object], of_the_machine: bool
) -> None:
    found = missing(report(tmp_path, environments=environments, servers=servers))
    assert found is not None
    assert found.of_the_machine is of_the_machine
    assert all(str(each["reason"]) in found.reason for each in (NO_DOCKER,) if each in servers)


def test_a_store_that_cannot_be_loaded_is_no_fault_of_the_machine(tmp_path: Path) -> None:
    found = missing(report(tmp_path, stores=[{"status": "unavailable", "reason": "No module."}]))
    assert found is not None
    assert not found.of_the_machine


@pytest.mark.parametrize("text", [None, "{"])
def test_without_a_report_nothing_is_excused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "report.json").write_text(text)
    found = missing(tmp_path)
    assert found is not None
    assert not found.of_the_machine


def test_an_earlier_report_is_forgotten(tmp_path: Path) -> None:
    forget(report(tmp_path))
    forget(tmp_path)
    assert list(tmp_path.iterdir()) == []
