"""Processes that share the cases of one pytest among them, forked or started anew."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from memory_matrix.suite.wishes import Question, Wish
from support.gates import Gate, eventually
from support.processes import processes_of

pytestmark = pytest.mark.integration

FORKING = "import sys; from memory_matrix.suite.crew import main; sys.exit(main())"
STARTING_ANEW = f"import sys; sys.platform = 'darwin'; {FORKING[12:]}"
BOTH = pytest.mark.parametrize("crew", [FORKING, STARTING_ANEW], ids=["forking", "starting-anew"])

TESTS = """
import os, pathlib, pytest

def told(number):
    with open({ran!r}, "a") as file:
        file.write(f"{{number}}\\n")

@pytest.mark.parametrize("number", range(12))
def test_one(number):
    told(number)
    {code}
"""


class Shared:
    """A file of tests, and what a crew made of it."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.results = folder / "results.jsonl"
        self._folder = folder
        self._environ = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ}
        self._ran = folder / "ran"

    @property
    def ran(self) -> list[int]:
        """The numbers of the tests that were begun."""
        return sorted(map(int, self._ran.read_text("utf-8").split()))

    @property
    def lost(self) -> list[tuple[int, int | None]]:
        """The places of the tests whose process died, and how it did."""
        lines = map(json.loads, self.results.read_text("utf-8").splitlines())
        return sorted((each["lost"], each["status"]) for each in lines)

    def wish(self, code: str = "pass", *, workers: int = 2, **limits: float) -> str:
        """Write the tests, and return a wish to run them."""
        text = TESTS.format(ran=str(self._ran), code=code)
        path = self._folder / "test_shared.py"
        path.write_text(text, encoding="utf-8")
        arguments = ["-q", "-p", "no:cacheprovider", "--rootdir", str(self._folder), str(path)]
        wish = Wish(arguments, workers, str(self.results), str(self._folder))
        return json.dumps(asdict(wish) | limits)

    def started(self, crew: str) -> subprocess.Popen[str]:
        """Start a crew."""
        return subprocess.Popen(
            [sys.executable, "-c", crew],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder,
            env={**os.environ, **self._environ},
        )

    def run(self, crew: str, *lines: str) -> tuple[int, str]:
        """Let a crew do what `lines` say; return its status and output."""
        with self.started(crew) as process:
            output, _ = process.communicate("".join(f"{line}\n" for line in lines))
        return process.returncode, output


@pytest.fixture
def shared(tmp_path: Path, temporary: Path) -> Shared:
    """Tests that are to be shared, and nothing of them left behind."""
    return Shared(tmp_path, {"TMPDIR": str(temporary)})


@BOTH
@pytest.mark.parametrize("workers", [1, 3])
def test_each_test_is_run_once(shared: Shared, crew: str, workers: int) -> None:
    code, output = shared.run(crew, shared.wish(workers=workers))

    assert code == 0, output
    assert shared.ran == [*range(12)]
    assert not shared.results.exists()


@BOTH
@pytest.mark.parametrize(
    ("dying", "status"),
    [("os.kill(os.getpid(), 9)", -9), ("os._exit(0)", 0), ("os._exit(7)", 7)],
)
def test_a_process_that_dies_costs_the_test_that_it_was_at(
    shared: Shared, crew: str, dying: str, status: int
) -> None:
    code, output = shared.run(crew, shared.wish(f"if number in (0, 1, 5, 11): {dying}"))

    assert code == 0, output
    assert shared.ran == [*range(12)]
    assert shared.lost == [(number, status) for number in (0, 1, 5, 11)]


def test_a_process_that_dies_while_children_of_its_own_live_on_is_noticed(
    shared: Shared, gate: Gate
) -> None:
    leaving = f"if number == 3 and os.fork(): os._exit(0)\n    if number == 3:\n        {gate.code}"
    with shared.started(FORKING) as process:
        assert process.stdin is not None
        process.stdin.write(shared.wish(leaving) + "\n")
        process.stdin.flush()
        eventually(lambda: shared.results.exists() and shared.lost == [(3, 0)])
        gate.open()
        process.communicate()


@BOTH
def test_tests_that_fail_are_no_fault_of_the_crew(shared: Shared, crew: str) -> None:
    code, output = shared.run(crew, shared.wish("assert number"))

    assert code == 1, output
    assert shared.ran == [*range(12)]


@BOTH
def test_processes_that_die_before_any_test_are_not_replaced(shared: Shared, crew: str) -> None:
    wish = shared.wish()
    broken = shared.results.with_name("test_shared.py")
    broken.write_text("import os; os.kill(os.getpid(), 9)", encoding="utf-8")

    code, _ = shared.run(crew, wish)

    assert code == 128 + signal.SIGKILL


@BOTH
def test_what_pytest_refuses_is_its_status(shared: Shared, crew: str) -> None:
    wish = json.loads(shared.wish())
    wish["arguments"].append("--no-such-option")

    code, output = shared.run(crew, json.dumps(wish))

    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--no-such-option" in output


LEAVING = {
    "thread": "import threading, time; threading.Thread(target=time.sleep, args=[900]).start()",
    "child": "import subprocess; subprocess.Popen(['sleep', '900'])",
    "child-of-its-own-session": (
        "import subprocess; subprocess.Popen(['sleep', '900'], start_new_session=True)"
    ),
    "orphan": "import subprocess; subprocess.Popen(['setsid', '--fork', 'sleep', '900'])",
    "fork": "import time; os.fork() or time.sleep(900)",
    "multiprocessing": (
        "import multiprocessing, time; multiprocessing.Process(target=time.sleep, args=[900]).start()"
    ),
}


@pytest.mark.parametrize("leaving", LEAVING.values(), ids=LEAVING)
def test_what_tests_leave_behind_is_ended_and_waited_for_by_nobody(
    shared: Shared, leaving: str, temporary: Path
) -> None:
    code, output = shared.run(FORKING, shared.wish(leaving))

    assert code == 0, output
    assert shared.ran == [*range(12)]
    assert processes_of(temporary) == {}


@BOTH
def test_a_thread_that_a_test_leaves_behind_keeps_nobody_waiting(shared: Shared, crew: str) -> None:
    code, output = shared.run(crew, shared.wish(LEAVING["thread"]))

    assert code == 0, output


def test_who_comes_back_from_a_fork_runs_nothing_more(shared: Shared) -> None:
    code, output = shared.run(FORKING, shared.wish("os.fork()"))

    assert code == 0, output
    assert shared.ran == [*range(12)]


UNSTOPPABLE = "import signal, time; signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(900)"


@BOTH
def test_a_test_that_nothing_else_ends_is_ended_with_its_process(shared: Shared, crew: str) -> None:
    hanging = f"if number in (3, 11): {UNSTOPPABLE}"

    code, output = shared.run(crew, shared.wish(hanging, longest=1.0))

    assert code == 0, output
    assert shared.ran == [*range(12)]
    assert shared.lost == [(3, None), (11, None)]


@BOTH
def test_a_process_that_does_not_get_to_a_test_is_ended(shared: Shared, crew: str) -> None:
    wish = shared.wish(loading=2.0)
    broken = shared.results.with_name("test_shared.py")
    broken.write_text("import time; time.sleep(900)", encoding="utf-8")

    code, output = shared.run(crew, wish)

    assert (code, "nor ended in 2 s" in output) == (128 + signal.SIGKILL, True)


@pytest.mark.concurrency
def test_a_crew_ends_with_who_wants_its_results(
    shared: Shared, gate: Gate, temporary: Path
) -> None:
    asking = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], input=sys.argv[2], text=True)"
    command = [sys.executable, "-c", asking, FORKING, shared.wish(gate.code)]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}) as asker:
        gate.wait_for(2)
        asker.kill()

    eventually(lambda: processes_of(temporary) == {})


def _kill_at_work(crew: subprocess.Popen[str], shared: Shared, gate: Gate) -> None:
    """Have two processes of a crew come to a gate, and kill the crew."""
    assert crew.stdin is not None
    crew.stdin.write(shared.wish(gate.code) + "\n")
    crew.stdin.flush()
    gate.wait_for(2)
    crew.kill()


@pytest.mark.concurrency
def test_processes_that_hang_end_with_their_crew(
    shared: Shared, gate: Gate, temporary: Path
) -> None:
    with shared.started(FORKING) as process:
        _kill_at_work(process, shared, gate)

    eventually(lambda: processes_of(temporary) == {})


@pytest.mark.concurrency
@BOTH
def test_processes_end_with_their_crew(
    shared: Shared, crew: str, gate: Gate, temporary: Path
) -> None:
    with shared.started(crew) as process:
        _kill_at_work(process, shared, gate)
        gate.open()
        process.communicate()  # until nobody has its output open any more

    assert len(shared.ran) == 2
    eventually(lambda: processes_of(temporary) == {})


def test_a_crew_that_nobody_wants_anything_of_ends(shared: Shared) -> None:
    assert shared.run(FORKING) == (0, "")


STORE = """
{code}
class Store:
    policy = {{}}
    needs = ("redis",)
    def open(self, env): return {{}}
    def append(self, store, scope, messages): ...
    def read(self, store, scope): return []
"""


def question(
    folder: Path, code: str, stores: Sequence[str] = ("store.py:Store",), **limits: float
) -> str:
    """Write a module with a store, and return the question what it says of itself."""
    (folder / "store.py").write_text(STORE.format(code=code), encoding="utf-8")
    return json.dumps(asdict(Question(stores, str(folder))) | limits)


@BOTH
@pytest.mark.parametrize("said", ["", "print('noise')", "import os; os.write(1, b'n' * 200_000)"])
def test_what_modules_print_is_not_in_the_answer(
    shared: Shared, tmp_path: Path, crew: str, said: str
) -> None:
    code, output = shared.run(crew, question(tmp_path, said))

    (answer,) = json.loads(output)
    assert code == 0
    assert (answer["source"], answer["needs"]) == ("store.py:Store", ["redis"])


@BOTH
def test_a_module_that_takes_its_process_down_is_told_with_its_last_words(
    shared: Shared, tmp_path: Path, crew: str
) -> None:
    dying = "import os; os.write(2, b'that is it'); os._exit(3)"

    code, output = shared.run(crew, question(tmp_path, dying))

    assert code == 0
    assert json.loads(output) == {"said": "that is it", "code": 3}


@BOTH
def test_who_was_asked_runs_tests_afterwards(shared: Shared, tmp_path: Path, crew: str) -> None:
    code, output = shared.run(crew, question(tmp_path, ""), shared.wish())

    assert code == 0, output
    assert shared.ran == [*range(12)]


def test_what_stores_load_is_not_there_when_tests_are_run(shared: Shared, tmp_path: Path) -> None:
    loading = question(tmp_path, "import sys; sys.modules['mine'] = sys")

    code, output = shared.run(
        FORKING, loading, shared.wish("import sys; assert 'mine' not in sys.modules")
    )

    assert code == 0, output


@pytest.mark.parametrize("leaving", LEAVING.values(), ids=LEAVING)
def test_what_stores_start_when_they_are_loaded_is_ended_with_the_answer(
    shared: Shared, tmp_path: Path, leaving: str, temporary: Path
) -> None:
    with shared.started(FORKING) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(question(tmp_path, f"import os; {leaving}") + "\n")
        process.stdin.flush()
        (answer,) = json.loads(process.stdout.readline())
        left = processes_of(temporary)

    assert answer["needs"] == ["redis"]
    assert [*left] == [process.pid]


@BOTH
def test_a_module_that_hangs_is_told(shared: Shared, tmp_path: Path, crew: str) -> None:
    hanging = "import time; print('waiting', flush=True); time.sleep(900)"

    code, output = shared.run(crew, question(tmp_path, hanging, patience=2.0))

    assert code == 0
    assert json.loads(output) == {
        "said": "waiting\n\nTimeoutError: they were not there after 2 s",
        "code": None,
    }
