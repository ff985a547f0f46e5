"""Shards that run at the same time, and shards that are ended: a folder is whole, or not there."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.machines import Machines
from support.processes import processes_of
from support.project import Project

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]


@pytest.fixture
def waiting(project: Project, gate: Gate) -> Project:
    """The project, with code that waits at the gate where `WAIT` names its place."""
    project.payloads(f"""
        import os

        class Note:
            def __setstate__(self, state):
                wait("read")

        def wait(where):
            if os.environ.get("WAIT") == where:
                {gate.code}

        def payload_note():
            wait("write")
            note = Note()
            note.text = "x"
            return note
        """)
    project.matrix(timeout=60)
    return project


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("step", ["write", "read"])
def test_what_is_ended_in_the_middle_leaves_nothing_half_written(
    waiting: Project, machines: Machines, gate: Gate, temporary: Path, step: str, number: int
) -> None:
    machines.shards("compat", "write", of=1)
    arguments = ("compat", step, "--report-dir", "killed")
    source = ("--from", *machines.used) if step == "read" else ()
    with waiting.started(*arguments, *source, WAIT=step) as process:
        gate.wait_for(1)
        process.send_signal(number)
        process.wait()

    eventually(lambda: processes_of(temporary) == {})
    folder = waiting.folder / "killed"
    assert not folder.exists() or list(folder.iterdir()) == []
    gate.open()
    assert waiting.run(*arguments, *source).code == 0
    name = "written" if step == "write" else "read"
    assert [each.name for each in folder.iterdir()] == [f"{name}-1-of-1"]


def test_two_runs_of_one_shard_at_once_leave_one_of_them_whole(
    waiting: Project, machines: Machines, gate: Gate
) -> None:
    arguments = ("compat", "write", "--report-dir", "both")
    with waiting.started(*arguments, WAIT="write") as one:
        with waiting.started(*arguments, WAIT="write") as other:
            gate.wait_for(2)
            gate.open()
            assert waiting.ended(other).code == 0
        assert waiting.ended(one).code == 0

    read = waiting.run("compat", "read", "--from", "both", "--report-dir", "both")
    merged = waiting.run("merge", "both", "-q")

    assert read.code == 0, read.stderr
    assert merged.code == 0, merged.stderr
    assert sorted(each.name for each in (waiting.folder / "both").iterdir()) == [
        "read-1-of-1",
        "written-1-of-1",
    ]
