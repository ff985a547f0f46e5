"""Builds that are killed, interrupted or made twice at once leave the cache whole."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

RUN = """
import json, signal, sys
from pathlib import Path
from memory_matrix.environments.build import build_all
from memory_matrix.matrix.model import EnvironmentSpec

class Terminated(BaseException):
    pass

def terminate(number, frame):
    raise Terminated

signal.signal(signal.SIGTERM, terminate)
cache, root, requirement = sys.argv[1:]
specs = [EnvironmentSpec("slow", "current", (requirement,)), EnvironmentSpec("other", "current")]
results = build_all(specs, cache=Path(cache), root=Path(root))
print(json.dumps([[getattr(each, "cached", each), dict(each.packages)] for each in results]))
"""


@dataclass(frozen=True)
class SlowProject:
    """A project whose build says when it has begun, and goes on when it is told to."""

    root: Path
    signals: Path
    """A folder outside the project, since what is in a project is part of it."""

    @property
    def requirement(self) -> str:
        return f"demo-app @ {self.root.as_uri()}"

    def wait_until_it_is_built(self) -> None:
        (self.signals / "begun").read_bytes()

    def let_it_go_on(self) -> None:
        (self.signals / "go-on").write_bytes(b"x")

    def never_waits_again(self) -> None:
        (self.root / "before_build.py").write_text("")

    def wait_until_nobody_builds_it(self) -> None:
        with (self.signals / "held").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


@pytest.fixture
def slow(make_project: Callable[..., Path], tmp_path: Path) -> SlowProject:
    signals = tmp_path / "signals"
    signals.mkdir()
    root = make_project(
        before_build=(
            "import fcntl\n"
            f"held = open({str(signals / 'held')!r}, 'w')\n"
            "fcntl.flock(held, fcntl.LOCK_EX)\n"
            f"open({str(signals / 'begun')!r}, 'w').close()\n"
            f"open({str(signals / 'go-on')!r}).read()\n"
        )
    )
    for name in ("begun", "go-on"):
        os.mkfifo(signals / name)
    return SlowProject(root, signals)


@pytest.fixture
def start(tmp_path: Path, slow: SlowProject) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start a run of its own process that builds the slow project and an empty environment."""
    with ExitStack() as stack:

        def start() -> subprocess.Popen[str]:
            command = (sys.executable, "-c", RUN, str(tmp_path / "cache"), str(tmp_path))
            process = subprocess.Popen(
                (*command, slow.requirement),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        yield start


def built(process: subprocess.Popen[str]) -> list[tuple[bool, dict[str, str]]]:
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return [(cached, packages) for cached, packages in json.loads(stdout)]


def partials(cache: Path) -> list[Path]:
    return list(cache.rglob("*.partial"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_told_to_end_takes_its_children_and_folders_with_it(
    slow: SlowProject,
    start: Callable[[], subprocess.Popen[str]],
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    run = start()
    slow.wait_until_it_is_built()
    assert partials(tmp_path / "cache") != []

    run.send_signal(number)
    stderr = run.communicate()[1]

    assert stderr.splitlines()[-1].rpartition(".")[2] in {"KeyboardInterrupt", "Terminated"}
    assert partials(tmp_path / "cache") == []
    slow.wait_until_nobody_builds_it()


def test_what_a_killed_run_left_is_cleared_by_the_next(
    slow: SlowProject, start: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    run = start()
    slow.wait_until_it_is_built()
    run.kill()
    run.communicate()
    slow.let_it_go_on()
    slow.wait_until_nobody_builds_it()
    slow.never_waits_again()
    assert partials(tmp_path / "cache") != []

    (_, packages), (_, nothing) = built(start())

    assert (packages, nothing) == ({"demo-app": "1.0"}, {})
    assert partials(tmp_path / "cache") == []


def test_two_runs_that_want_the_same_environment_build_it_once(
    slow: SlowProject, start: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    first = start()
    slow.wait_until_it_is_built()
    second = start()
    slow.let_it_go_on()

    results = [built(first)[0], built(second)[0]]

    assert results == [(False, {"demo-app": "1.0"}), (True, {"demo-app": "1.0"})]
    assert partials(tmp_path / "cache") == []
