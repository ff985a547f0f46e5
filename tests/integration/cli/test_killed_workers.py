"""Workers that are killed from outside cost nothing but time; what keeps dying is unavailable."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.processes import parent, processes_of
from support.project import VALKEY, Project

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

MODES = pytest.mark.parametrize("mode", ["write", "read"])


@pytest.fixture
def waiting(project: Project, gate: Gate) -> Project:
    """A project with a payload that waits at the gate in one environment: built there, or loaded."""
    project.servers = VALKEY
    app = """
        import os

        class Note:
            def __setstate__(self, state):
                self.__dict__.update(state)
                wait("read")

        def wait(mode):
            if {where} == mode:
                {code}
        """
    project.environment("old", app=app.format(where='os.environ["WAIT"]', code=gate.code))
    project.environment("new", app=app.format(where="None", code="pass"))
    project.payloads("""
        import app

        def payload_a():
            return "before"

        def payload_m():
            app.wait("write")
            note = app.Note()
            note.text = "slow"
            return note

        def payload_z():
            return "after"
        """)
    project.matrix(timeout=60)
    return project


def kill_worker_at(gate: Gate, number: int) -> None:
    """Wait until `number` children have come to the gate, and kill the worker of the last one."""
    before = gate.arrived() if number > 1 else set()
    gate.wait_for(number)
    (child,) = gate.arrived() - before
    os.kill(parent(child), signal.SIGKILL)


@MODES
def test_a_worker_that_is_killed_is_started_again_and_the_result_is_whole(
    waiting: Project, gate: Gate, temporary: Path, mode: str
) -> None:
    with waiting.started("compat", WAIT=mode) as process:
        kill_worker_at(gate, 1)
        gate.wait_for(2)
        gate.open()
        run = waiting.ended(process)

    assert run.code == 0
    assert [cell["outcome"] for cell in run.report["cells"]] == ["ok"] * 12
    assert {each["status"] for each in run.report["environments"]} == {"ready"}
    eventually(lambda: processes_of(temporary) == {})


@MODES
def test_an_environment_whose_worker_dies_again_and_again_is_unavailable_and_no_finding(
    waiting: Project, gate: Gate, temporary: Path, mode: str
) -> None:
    with waiting.started("compat", "--strict", WAIT=mode) as process:
        kill_worker_at(gate, 1)
        kill_worker_at(gate, 2)
        run = waiting.ended(process)

    assert run.code == 3
    doing = {"write": "writing, after payload 'a'", "read": "reading, after 1 of 3 blobs"}[mode]
    assert run.environment("old")["status"] == "unavailable"
    assert run.environment("old")["reason"] == f"its worker was killed by signal 9 while {doing}"
    assert run.environment("new")["status"] == "ready"
    assert run.report["summary"]["breaks"] == 0
    eventually(lambda: processes_of(temporary) == {})
