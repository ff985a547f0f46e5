"""Servers from images, and a container or an engine that goes in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.gates import Gate, eventually
from support.team import Team

pytestmark = [pytest.mark.integration, pytest.mark.docker]

REDIS = "--redis=image:redis:8.0"
SOCKET = Path("/var/run/docker.sock")


def docker(*arguments: str) -> list[str]:
    """Return the lines that the `docker` command writes."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.split()


def containers(controller: int) -> Sequence[str]:
    """Return the containers that a run has."""
    return docker("ps", "--all", "--quiet", "--filter", f"label=memory-matrix.pid={controller}")


@pytest.fixture(autouse=True)
def engine() -> None:
    """Skip where there is no engine with the image, or fail where one is required."""
    try:
        docker("image", "inspect", "--format", "{{.Id}}", "redis:8.0")
    except (OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("MEMORY_MATRIX_REQUIRE_DOCKER") == "1":
            pytest.fail(f"a Docker engine with redis:8.0: {error}")
        pytest.skip(f"no Docker engine with redis:8.0: {error}")


@pytest.fixture
def team(team: Team) -> Team:
    """A project whose runs may use what Docker's own client forgets to close."""
    team.ini("    ignore::ResourceWarning", "    ignore::pytest.PytestUnraisableExceptionWarning")
    return team


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_on_an_image_leaves_no_container(team: Team, tmp_path: Path, workers: str) -> None:
    gate = Gate(tmp_path / "gate")
    team.write(
        "test_redis.py",
        f"""
        def test_waiting(redis_client, redis_server):
            redis_client.set("key", 1)
            {gate.code}

        def test_next(redis_client):
            assert redis_client.keys() == []
        """,
    )

    with team.started(REDIS, "-n", workers) as process:
        gate.wait_for(1)
        assert len(containers(process.pid)) == 1
        gate.open()
        run = team.ended(process)

    assert run.all_passed(2), run.text
    assert containers(process.pid) == []
    assert team.left() == []


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=str)
def test_an_ended_run_leaves_no_container(
    team: Team, tmp_path: Path, workers: str, number: signal.Signals
) -> None:
    gate = Gate(tmp_path / "gate")
    team.write("test_redis.py", f"def test_waiting(redis_client):\n    {gate.code}\n")

    with team.started(REDIS, "-n", workers) as process:
        gate.wait_for(1)
        process.send_signal(number)
        run = team.ended(process)

    assert run.outcomes.get("test_waiting") != "PASSED"
    eventually(lambda: not containers(process.pid))
    eventually(lambda: not team.left())


def test_a_container_that_goes_fails_what_needs_it(team: Team, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    team.write(
        "test_redis.py",
        f"""
        import redis

        def test_1_waiting(redis_server):
            {gate.code}

        def test_2_redis(redis_prefix, redis_client):
            redis_client.ping()

        def test_3_plain():
            pass
        """,
    )

    with team.started(REDIS) as process:
        gate.wait_for(1)
        docker("rm", "--force", *containers(process.pid))
        gate.open()
        run = team.ended(process)

    assert run.outcomes["test_2_redis"] in {"ERROR", "FAILED"}
    assert run.outcomes["test_3_plain"] == "PASSED"
    assert "The Redis does not answer" in run.text
    assert containers(process.pid) == []


def test_an_engine_that_goes_fails_the_run_in_a_sentence(team: Team, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    way = tmp_path / "docker.sock"
    way.symlink_to(SOCKET)
    team.write("test_redis.py", f"def test_waiting(redis_client):\n    {gate.code}\n")

    with team.started(REDIS, DOCKER_HOST=f"unix://{way}") as process:
        gate.wait_for(1)
        way.unlink()
        gate.open()
        run = team.ended(process)
    docker("rm", "--force", *containers(process.pid))

    assert run.outcomes == {"test_waiting": "PASSED"}
    assert run.code == 1, run.text
    assert "could not be stopped: redis:8.0" in run.text
    assert "Traceback" not in run.text
