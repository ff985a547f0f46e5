"""However a run ends, nothing of it is left, what happened is said, and only what ran has passed."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.processes import processes_of
from support.team import Team

pytestmark = pytest.mark.integration

WORKERS = pytest.mark.parametrize("workers", ["0", "2"])

BOTH = "postgres_connection, postgres_server, redis_client, redis_server"
NOTED = """
    note(postgres_connection.execute("SHOW data_directory").fetchone()[0])
"""


def waiting(gate: Gate) -> str:
    """Return tests of which one waits at `gate`, on both servers."""
    return f"""
from notes import note

def test_first({BOTH}):
{NOTED}

def test_waiting({BOTH}):
{NOTED}
    {gate.code}

def test_last({BOTH}):
{NOTED}
"""


def assert_nothing_left(team: Team) -> None:
    """Fail unless all processes and folders of the runs are gone, those of servers too."""
    eventually(lambda: not processes_of(team.temporary))
    assert team.left() == []
    for folder in team.noted():
        assert not Path(folder).parent.exists()


@WORKERS
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=str
)
@pytest.mark.parametrize("group", [True, False], ids=["group", "controller"])
def test_an_ended_run_leaves_nothing(
    team: Team, gate: Gate, workers: str, number: signal.Signals, group: bool
) -> None:
    team.write("test_both.py", waiting(gate))

    with team.started("-n", workers) as process:
        gate.wait_for(1)
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        ended = team.ended(process)

    assert ended.code != 0
    assert ended.outcomes.get("test_waiting") != "PASSED", ended.text
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in ended.text
    assert_nothing_left(team)


@WORKERS
def test_a_run_that_is_interrupted_while_servers_start_leaves_nothing(
    team: Team, workers: str
) -> None:
    team.write("test_both.py", f"def test_both({BOTH}): pass")

    with team.started("-n", workers) as process:
        eventually(
            lambda: any("supervisor" in each for each in processes_of(team.temporary).values())
        )
        os.killpg(process.pid, signal.SIGINT)
        ended = team.ended(process)

    assert ended.outcomes.get("test_both") != "PASSED"
    assert_nothing_left(team)


@WORKERS
def test_a_run_that_stops_at_the_first_failure_leaves_nothing(team: Team, workers: str) -> None:
    team.write(
        "test_both.py",
        f"from notes import note\ndef test_fails({BOTH}):\n{NOTED}\n    assert False\n"
        f"def test_next({BOTH}): pass\n",
    )

    run = team.run("-x", "-n", workers)

    assert run.code != 0
    assert run.outcomes["test_fails"] == "FAILED"
    assert_nothing_left(team)


def test_a_killed_worker_costs_its_test_alone(team: Team) -> None:
    team.write(
        "test_both.py",
        f"""
import os, signal
import pytest
from notes import note

def test_killed({BOTH}):
    os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.parametrize("number", range(6))
def test_other({BOTH}, number):
{NOTED}
    redis_client.set("key", number)
    assert redis_client.dbsize() == 1
""",
    )

    run = team.run("-n", "2")

    assert run.outcomes.pop("test_killed") == "FAILED"
    assert list(run.outcomes.values()).count("PASSED") == 6, run.text
    assert_nothing_left(team)


@WORKERS
@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_a_server_that_is_killed_is_named_and_fails_what_needs_it(
    team: Team, workers: str, kind: str
) -> None:
    team.write(
        "test_killed.py",
        """
import os, signal
import pytest

def test_1_kills(postgres_connection, redis_client):
    if KIND == "redis":
        os.kill(redis_client.info("server")["process_id"], signal.SIGKILL)
    else:
        folder = postgres_connection.execute("SHOW data_directory").fetchone()[0]
        with open(f"{folder}/postmaster.pid") as file:
            os.kill(int(file.readline()), signal.SIGKILL)

@pytest.mark.parametrize("number", range(3))
def test_2_redis(redis_client, redis_prefix, number):
    redis_client.set(redis_prefix + "key", 1)

@pytest.mark.parametrize("number", range(3))
def test_2_postgres(postgres_connection, number):
    postgres_connection.execute("SELECT 1")
""".replace("KIND ==", f"{kind!r} =="),
    )

    run = team.run("-n", workers, "--dist", "loadfile")

    outcomes = run.outcomes
    lost = [each for name, each in outcomes.items() if name.startswith(f"test_2_{kind}")]
    kept = [
        each
        for name, each in outcomes.items()
        if name.startswith("test_2") and not name.startswith(f"test_2_{kind}")
    ]
    assert set(lost) <= {"ERROR", "FAILED"}, run.text
    assert set(kept) == {"PASSED"}, run.text
    assert "does not answer" in run.text
    assert_nothing_left(team)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A folder that every user reaches, on a file system that is too small for a Postgres."""
    with tempfile.TemporaryDirectory(prefix="small-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=1777", "tmpfs", name]
        if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root can mount a small file system")
        yield Path(name)
        subprocess.run(["umount", "-l", name], check=True)


@WORKERS
def test_a_full_disk_is_named_and_fails_what_needs_the_server(
    team: Team, small_disk: Path, workers: str
) -> None:
    team.temporary = small_disk
    team.write("test_both.py", "def test_plain(): pass\ndef test_full(postgres_connection): pass\n")

    run = team.run("-n", workers)

    assert run.outcomes == {"test_plain": "PASSED", "test_full": "ERROR"}, run.text
    assert "No space left on device" in run.text
    assert "Traceback" not in run.text
    assert_nothing_left(team)


def test_two_runs_at_once_are_apart(team: Team, gate: Gate) -> None:
    team.write("test_both.py", waiting(gate))

    with team.started() as first, team.started() as second:
        gate.wait_for(2)
        gate.open()
        codes = first.wait(60), second.wait(60)

    assert codes == (0, 0)
    assert len(set(team.noted())) == 2
    assert_nothing_left(team)
