"""A run that is told to end, or is killed, leaves no process, no folder and no lock behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.processes import processes_of
from support.project import VALKEY, Project

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

SIGNALS = pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (signal.SIGINT, 130, "memory-matrix: interrupted; everything it started is stopped.\n"),
        (signal.SIGTERM, 143, "memory-matrix: terminated; everything it started is stopped.\n"),
    ],
    ids=["SIGINT", "SIGTERM"],
)

BACKEND = """
def build_wheel(folder, config_settings=None, metadata_directory=None):
    {code}
    raise SystemExit("it went on without being told to")
"""


@pytest.fixture
def interrupt(
    project: Project, temporary: Path
) -> Callable[[subprocess.Popen[str], int, int, str], None]:
    """Send a signal to the foreground of a run, as a terminal does, and look at what is left."""

    def interrupt(process: subprocess.Popen[str], number: int, code: int, text: str) -> None:
        os.killpg(process.pid, number)
        run = project.ended(process)
        assert run.code == code, run.stderr
        assert run.stderr.endswith(text), run.stderr
        assert run.stderr.count("memory-matrix: ") == 1
        assert "Traceback" not in run.stderr
        assert processes_of(temporary) == {}
        assert list(temporary.iterdir()) == []
        assert not (project.folder / "memory-matrix-report").exists()

    return interrupt


def waiting_project(project: Project, gate: Gate, where: str) -> None:
    """Make a project that waits at the gate: when payloads are imported, written, or read."""
    project.environment("old")
    project.servers = VALKEY if where == "import" else ""
    project.payloads(f"""
        def wait(mode):
            if mode == {where!r}:
                {gate.code}

        class Note:
            def __setstate__(self, state):
                wait("read")

        def payload_note():
            wait("write")
            note = Note()
            note.text = "x"
            return note

        wait("import")
        """)
    project.matrix(timeout=60)


@SIGNALS
def test_while_an_environment_is_built(
    project: Project,
    gate: Gate,
    tmp_path: Path,
    interrupt: Callable[..., None],
    number: int,
    code: int,
    text: str,
) -> None:
    project.write("slow/backend.py", BACKEND.format(code=gate.code))
    project.write(
        "slow/pyproject.toml",
        """
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["."]

        [project]
        name = "slow-app"
        version = "1.0"
        """,
    )
    project.environment("old", packages=[f"slow-app @ {(project.folder / 'slow').as_uri()}"])
    project.payloads("def payload_text():\n    return 'a'\n")
    project.matrix()
    cache = tmp_path / "cache"

    with project.started("compat", MEMORY_MATRIX_CACHE=str(cache)) as process:
        gate.wait_for(1)
        interrupt(process, number, code, text)

    assert processes_of(cache) == {}
    assert list(cache.rglob("*.partial")) == []


@SIGNALS
@pytest.mark.parametrize("where", ["import", "write", "read"])
def test_while_payloads_are_imported_written_or_read(
    project: Project,
    gate: Gate,
    interrupt: Callable[..., None],
    where: str,
    number: int,
    code: int,
    text: str,
) -> None:
    waiting_project(project, gate, where)

    with project.started("compat") as process:
        gate.wait_for(1)
        interrupt(process, number, code, text)


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    """Keep processes from running, within the block."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@SIGNALS
@pytest.mark.parametrize("server", ["postgres", "valkey"])
def test_while_blobs_are_stored(
    project: Project,
    gate: Gate,
    temporary: Path,
    interrupt: Callable[..., None],
    server: str,
    number: int,
    code: int,
    text: str,
) -> None:
    waiting_project(project, gate, "write")

    with project.started("compat") as process:
        gate.wait_for(1)
        servers = [
            pid
            for pid, command in processes_of(temporary).items()
            if Path(command.split(" ")[0]).name.startswith(server)
        ]
        with stopped(servers):
            gate.open()
            eventually(lambda: "Writing: " in (project.folder / "stderr.txt").read_text())
            process.send_signal(number)
        interrupt(process, 0, code, text)
