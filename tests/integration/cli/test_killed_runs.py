"""A run that is killed cannot clean up: what it started sees to its own end, the next run to the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.processes import processes_of
from support.project import VALKEY, Project

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]


@pytest.fixture
def waiting(project: Project, gate: Gate) -> Project:
    """A project with code that waits at the gate at the place that `WAIT` names."""
    project.servers = VALKEY
    project.environment("old")
    project.environment("new")
    project.payloads(f"""
        import os

        def wait(where):
            if os.environ.get("WAIT") == where:
                {gate.code}

        class Note:
            def __setstate__(self, state):
                self.__dict__.update(state)
                wait("load")

        def payload_note():
            wait("build")
            note = Note()
            note.text = "x"
            return note

        wait("import")
        """)
    project.matrix(timeout=60)
    return project


@pytest.mark.parametrize(
    ("where", "servers"), [("import", VALKEY), ("build", ""), ("load", VALKEY)]
)
def test_workers_and_servers_of_a_killed_run_end_by_themselves(
    waiting: Project, gate: Gate, temporary: Path, where: str, servers: str
) -> None:
    waiting.servers = servers
    waiting.matrix(timeout=60)
    with waiting.started("compat", "-j", "2", WAIT=where) as process:
        gate.wait_for(2)
        process.kill()
        process.wait()

    eventually(lambda: processes_of(temporary) == {})

    left = list(temporary.iterdir())
    assert left, "a killed run cannot remove its folder"
    assert waiting.compat("-q").code == 0
    assert list(temporary.iterdir()) == []


def test_a_killed_run_does_not_touch_the_folder_of_one_that_lives(
    waiting: Project, gate: Gate, temporary: Path
) -> None:
    with waiting.started("compat", WAIT="build") as living:
        gate.wait_for(1)
        (folder,) = temporary.iterdir()
        assert waiting.compat("-q").code == 0
        assert folder.exists()
        gate.open()
        assert waiting.ended(living).code == 0

    assert list(temporary.iterdir()) == []


def test_two_runs_at_once_in_one_folder_both_finish_and_the_report_is_whole(
    waiting: Project, gate: Gate, temporary: Path
) -> None:
    with waiting.started("compat", WAIT="load") as first:
        gate.wait_for(1)
        second = waiting.compat("-q", "--report-dir", "other")
        third = waiting.compat("-q")
        gate.open()
        run = waiting.ended(first)

    assert (second.code, third.code, run.code) == (0, 0, 0)
    assert [cell["outcome"] for cell in run.report["cells"]] == ["ok"] * 4
    assert {each.name for each in (waiting.folder / "memory-matrix-report").iterdir()} == {
        "report.html",
        "report.json",
        "report.md",
    }
    assert list(temporary.iterdir()) == []
