"""Children end when they should, and all of them when the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memory_matrix.environments.processes import Runner, StoppedError, parallel

pytestmark = pytest.mark.integration


def run(runner: Runner, code: str, **options: float) -> str:
    return runner.run((sys.executable, "-c", code), environ=os.environ, **options).stdout


def test_a_child_reports_what_it_printed_and_how_it_ended() -> None:
    code = "import sys; print(sys.stdin.read()); print('bad', file=sys.stderr); sys.exit(3)"

    done = Runner().run((sys.executable, "-c", code), environ=os.environ, stdin="hello")

    assert (done.code, done.stdout, done.stderr) == (3, "hello\n", "bad\n")


def test_a_child_that_takes_too_long_is_ended_with_its_descendants(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; sys.stdout.close();"
        f"subprocess.run([sys.executable, '-c', {_hold(tmp_path)!r}])"
    )

    with pytest.raises(subprocess.TimeoutExpired):
        run(Runner(), code, timeout=1.0)

    _assert_free(tmp_path)


def test_what_a_child_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    code = f"{_leave(tmp_path)}\nopen({str(tmp_path / 'started')!r}).read(); print('done')"

    assert run(Runner(), code) == "done\n"

    _assert_free(tmp_path)


def test_what_has_left_the_session_of_a_child_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    code = (
        f"{_leave(tmp_path, apart=True)}\n"
        f"open({str(tmp_path / 'started')!r}).read(); print(child.pid)"
    )

    left = int(run(Runner(), code))

    os.kill(left, signal.SIGKILL)
    _assert_free(tmp_path)


@pytest.mark.parametrize("apart", [False, True], ids=["same-session", "own-session"])
def test_stopping_ends_a_child_with_its_descendants(tmp_path: Path, *, apart: bool) -> None:
    os.mkfifo(tmp_path / "started")
    code = f"{_leave(tmp_path, apart=apart)}; child.wait()"
    runner, ended = Runner(), []

    def work() -> None:
        try:
            run(runner, code)
        except StoppedError:
            ended.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    (tmp_path / "started").read_bytes()  # until the grandchild is there
    runner.stop()
    thread.join()

    assert ended == ["stopped"]
    _assert_free(tmp_path)


def test_a_stopped_runner_starts_nothing() -> None:
    runner = Runner()
    runner.stop()

    with pytest.raises(StoppedError):
        run(runner, "print(1)")


def test_results_come_in_the_order_of_the_items() -> None:
    first_waits = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            first_waits.wait()
        else:
            first_waits.set()
        return item * 10

    assert parallel(Runner(), 2, work, [0, 1]) == [0, 10]


def test_an_error_in_one_stops_the_others() -> None:
    runner = Runner()

    def work(item: int) -> str:
        if item == 0:
            raise LookupError("first")
        return run(runner, "import time; time.sleep(600)")

    with pytest.raises(LookupError, match="first"):
        parallel(runner, 2, work, [0, 1, 2, 3])

    assert runner.stopped


def _leave(folder: Path, *, apart: bool = False) -> str:
    """Return the code of a child that starts another one, which would go on."""
    return (
        "import subprocess, sys; child = subprocess.Popen("
        f"[sys.executable, '-c', {_hold(folder)!r}], start_new_session={apart})"
    )


def _hold(folder: Path) -> str:
    """Return the code of a child that holds a lock on a file until it ends."""
    return (
        "import fcntl, os, time\n"
        f"file = open({str(folder / 'lock')!r}, 'w')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        f"if os.path.exists({str(folder / 'started')!r}):\n"
        f"    open({str(folder / 'started')!r}, 'w').close()\n"
        "time.sleep(600)\n"
    )


def _assert_free(folder: Path) -> None:
    """The lock is to be had, at once or when the killed process is gone: it would block for ever."""
    import fcntl

    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
