"""Whatever a cell does costs that cell alone, and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memory_matrix

pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).with_name("run_cells.py")
FINE = {"do": "fine", "value": 1}


def run(
    folder: Path, *steps: dict[str, Any], batch: int = 1, timeout: float = 30, memory: int = 512
) -> list[dict[str, Any]]:
    """Run `steps` in a process of their own; return their results in order."""
    job = {"steps": steps, "batch": batch, "timeout": timeout, "memory": memory}
    done = subprocess.run(
        [sys.executable, SCRIPT, json.dumps(job)],
        env={**os.environ, "PYTHONPATH": str(Path(memory_matrix.__file__).parents[1])},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["left"] == []
    assert [name for name, _ in output["results"]] == [step["do"] for step in steps]
    return [result for _, result in output["results"]]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


HARMFUL = [
    ({"do": "segfault"}, "SIGSEGV", "signal 11"),
    ({"do": "leave"}, "Exit", "status 0 and no result"),
    ({"do": "leave", "status": 7}, "Exit", "status 7 and no result"),
    ({"do": "system_exit"}, "Exit", "status 70"),
    ({"do": "interrupt"}, "Exit", "status 70"),
    ({"do": "kill_group"}, "SIGKILL", "signal 9"),
    ({"do": "close_everything"}, "Exit", "status 70"),
    ({"do": "write_everywhere", "garbage": "garbage"}, "Garbled", "pipe that is not its own"),
    ({"do": "write_everywhere", "garbage": "\n"}, "Garbled", "pipe that is not its own"),
    ({"do": "write_everywhere", "garbage": '{"value": 2}\n'}, "Garbled", "pipe"),
    ({"do": "recurse_without_end"}, None, ""),
    ({"do": "no_result"}, "Exit", "status 70"),
    ({"do": "long_result", "length": 20_000_000}, "Garbled", "pipe"),
    ({"do": "print_and_die"}, "Exit", "status 9 and no result; it last printed: last words"),
]


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(("step", "kind", "said"), HARMFUL)
def test_what_a_cell_does_costs_that_cell_alone(
    tmp_path: Path, step: dict[str, Any], kind: str | None, said: str, batch: int
) -> None:
    before, *bad, after, last = run(tmp_path, FINE, step, step, FINE, FINE, batch=batch)
    assert before["value"] == after["value"] == last["value"] == 1
    for result in bad:
        if kind is None:
            continue  # some interpreters take it
        assert result["outcome"] == "crashed"
        assert result["error"]["type"] == kind
        assert said in result["error"]["message"]


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(
    "step",
    [
        {"do": "hang"},
        {"do": "hang_in_c"},
        {"do": "stop"},
        {"do": "ignore_signals"},
        {"do": "close_everything_and_hang"},
        {"do": "leave_group", "hang": True},
    ],
)
def test_a_cell_that_hangs_is_ended_and_the_next_ones_go_on(
    tmp_path: Path, step: dict[str, Any], batch: int
) -> None:
    before, hung, after = run(tmp_path, FINE, step, FINE, batch=batch, timeout=0.5)
    assert before["value"] == after["value"] == 1
    assert hung["outcome"] == "crashed"
    assert hung["error"] == {"type": "Timeout", "message": "no answer within 0.5 s"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_a_cell_gets_so_much_memory_and_no_more(tmp_path: Path) -> None:
    at_once, gradually, after = run(
        tmp_path, {"do": "allocate"}, {"do": "allocate_gradually"}, FINE, batch=3, memory=200
    )
    assert at_once["refused"]
    assert 100 <= gradually["held"] <= 200
    assert after["value"] == 1


def test_what_a_cell_prints_is_taken_away_however_much_it_is(tmp_path: Path) -> None:
    printed, after = run(tmp_path, {"do": "print_much"}, FINE, batch=2)
    assert printed["printed"]
    assert after["value"] == 1


def test_a_cell_reads_nothing_from_standard_input(tmp_path: Path) -> None:
    assert run(tmp_path, {"do": "read_everything"})[0]["read"] == 0


@pytest.mark.parametrize("own_session", [False, True])
@pytest.mark.parametrize("chatty", [False, True])
def test_a_process_that_outlives_its_cell_is_ended(
    tmp_path: Path, own_session: bool, chatty: bool
) -> None:
    if own_session and sys.platform != "linux":
        pytest.skip("only Linux tells who left a group")
    step = {"do": "grandchild", "own_session": own_session, "chatty": chatty}
    left, after = run(tmp_path, step, FINE, timeout=60)
    assert not is_alive(left["pid"])
    assert after["value"] == 1


@pytest.mark.parametrize("chatty", [False, True])
def test_a_cell_that_died_is_not_waited_for_because_its_child_holds_the_pipes(
    tmp_path: Path, chatty: bool
) -> None:
    step = {"do": "grandchild", "die": True, "note": str(tmp_path / "pid"), "chatty": chatty}
    died, after = run(tmp_path, step, FINE, timeout=100)
    assert died["error"]["type"] == "Exit"
    assert after["value"] == 1
    assert not is_alive(int((tmp_path / "pid").read_text(encoding="ascii")))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who left a group")
def test_generations_of_processes_are_ended(tmp_path: Path) -> None:
    left, after = run(tmp_path, {"do": "generations"}, FINE)
    assert len(left["pids"]) == 5
    assert not any(map(is_alive, left["pids"]))
    assert after["value"] == 1


def test_a_cell_that_goes_on_in_two_processes_has_one_result(tmp_path: Path) -> None:
    twice = {"do": "fork_and_return", "value": 2}
    results = run(tmp_path, FINE, twice, twice, FINE, batch=4)
    assert [result["value"] for result in results] == [1, 2, 2, 1]


def test_a_cell_may_leave_its_process_group(tmp_path: Path) -> None:
    left, after = run(tmp_path, {"do": "leave_group"}, FINE, batch=2)
    assert left["left"]
    assert after["value"] == 1


def test_a_caught_recursion_error_is_no_crash(tmp_path: Path) -> None:
    assert run(tmp_path, {"do": "recurse"})[0]["caught"]


def test_what_one_cell_changes_no_other_process_sees(tmp_path: Path) -> None:
    _, seen = run(tmp_path, {"do": "chdir"}, {"do": "surroundings"})
    assert seen == {"cwd": str(tmp_path.resolve()), "spoiled": None}


def test_in_a_batch_one_spoiled_by_another_is_done_again_alone(tmp_path: Path) -> None:
    results = run(tmp_path, {"do": "poison"}, {"do": "spoil"}, FINE, batch=3)
    assert [result["value"] for result in results] == [None, "fine alone", 1]


def test_many_steps_in_many_batches_keep_their_order(tmp_path: Path) -> None:
    steps = [{"do": "fine", "value": number} for number in range(100)]
    steps[50] = {"do": "leave", "value": 50}
    results = run(tmp_path, *steps, batch=7)
    values = [result.get("value") for result in results]
    assert values == [number if number != 50 else None for number in range(100)]


def test_a_large_result_comes_whole(tmp_path: Path) -> None:
    (result,) = run(tmp_path, {"do": "long_result", "length": 3_000_000})
    assert len(result["text"]) == 3_000_000


def test_a_cell_ends_when_nobody_listens_any_more(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from memory_matrix.worker.cells import Limits, OrphanedError, Runner\n"
        "def work(step):\n"
        "    os.write(int(sys.argv[1]), b'%d' % os.getpid())\n"
        "    os.close(int(sys.argv[1]))\n"
        "    time.sleep(600)\n"
        "runner = Runner(work, Limits(600, 512), 0, ())\n"
        "try:\n"
        "    list(runner.run([{}]))\n"
        "except OrphanedError:\n"
        "    print('orphaned')\n"
    )
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(writing)],
        env={**os.environ, "PYTHONPATH": str(Path(memory_matrix.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[writing],
    ) as process:
        pid = int(os.read(reading, 100))
        os.close(reading)
        os.close(writing)
        output, _ = process.communicate(timeout=60)  # closes standard input
    assert output == b"orphaned\n"
    assert not is_alive(pid)


def test_signals_have_names() -> None:
    from memory_matrix.worker.cells import _signal_name

    assert _signal_name(signal.SIGSEGV) == "SIGSEGV"
    assert _signal_name(200) == "signal 200"
