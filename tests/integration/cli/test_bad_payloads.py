"""Payloads that hang, crash, flood or exhaust: each costs its own cells only, at whatever stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.gates import Gate
from support.processes import processes_of
from support.project import VALKEY, Project

pytestmark = pytest.mark.integration

FAULTS = {
    "never": "__import__('time').sleep(1000)",
    "busy": "any(iter(int, 1))",
    "segfault": "__import__('ctypes').string_at(0)",
    "exit": "__import__('os')._exit(0)",
    "abort": "__import__('os').abort()",
    "memory": "bytearray(1 << 40)",
}
CRASHES = {
    "never": "Timeout MM602",
    "busy": "Timeout MM602",
    "segfault": "SIGSEGV MM601",
    "exit": "Exit MM604",
    "abort": "SIGABRT MM601",
    "memory": "MemoryError MM603",
}

PAYLOADS = """
    import os

    def fault(name):
        eval(FAULTS[name])

    class Bomb:
        def __init__(self, name):
            self.name = name

        def __getstate__(self):
            if self.name.startswith("dump_"):
                fault(self.name[5:])
            return self.__dict__

        def __setstate__(self, state):
            self.__dict__.update(state)
            if self.name.startswith("load_") and os.environ["FAULTY"] == "1":
                fault(self.name[5:])

    def build(name):
        if name.startswith("build_"):
            fault(name[6:])
        return Bomb(name)

    for stage in ("build", "dump", "load"):
        for name in FAULTS:
            globals()["payload_%s_%s" % (stage, name)] = lambda name=stage + "_" + name: build(name)

    def payload_zzz():
        return "still here"
    """


def test_faults_of_every_kind_and_stage_cost_their_own_cells_only(
    project: Project, temporary: Path
) -> None:
    project.servers = VALKEY
    project.environment("old", env={"FAULTY": "0"})
    project.environment("new", env={"FAULTY": "1"})
    project.payloads(f"    FAULTS = {FAULTS!r}\n{PAYLOADS}")
    project.matrix(timeout=1, memory=256)

    run = project.compat("-q")

    assert run.code == 1
    assert run.says("old", "new", "zzz") == "ok backward"
    for name, crash in CRASHES.items():
        assert run.says("old", "new", f"load_{name}") == f"crashed break backward {crash}"
        assert run.says("old", "old", f"load_{name}") == "ok"
        assert run.says("new", "new", f"load_{name}") == f"crashed {crash}"
        assert run.says("old", "old", f"dump_{name}") == f"crashed {crash}"
        assert run.says("old", "old", f"build_{name}") == "skipped Skipped"
        assert not run.cells(writer="old", reader="new", payload=f"dump_{name}")
    assert {each["environment"] for each in run.report["payloads"]} == {"old", "new"}
    assert {each["payload"] for each in run.report["payloads"]} == {
        f"build_{name}" for name in FAULTS
    }
    assert processes_of(temporary) == {}


def test_ten_megabytes_of_output_at_every_stage_change_nothing(project: Project) -> None:
    flood = """
        import os, sys

        def flood():
            print("x" * 5_000_000)
            os.write(1, b"{" + b"y" * 5_000_000)
            sys.stderr.write("z" * 1_000_000)

        flood()

        class Loud:
            def __getstate__(self):
                flood()
                return {"a": 1}

            def __setstate__(self, state):
                flood()
                self.__dict__.update(state)
        """
    project.servers = VALKEY
    project.environment("old", app=flood)
    project.environment("new", app=flood)
    project.payloads("""
        import app

        def payload_loud():
            app.flood()
            loud = app.Loud()
            loud.a = 1
            return loud
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 0
    assert {cell["outcome"] for cell in run.report["cells"]} == {"ok"}
    assert "xxx" not in run.stdout + run.stderr
    assert len(run.stderr) < 1000


def test_what_a_payload_leaves_running_is_ended_with_the_run(
    project: Project, temporary: Path
) -> None:
    project.servers = VALKEY
    project.environment("only")
    project.payloads("""
        import subprocess, sys

        def payload_daemon():
            subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True
            )
            return "started"
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 0
    assert run.says("only", "only", "daemon") == "ok"
    assert processes_of(temporary) == {}


def test_what_a_payloads_file_starts_or_closes_on_import_holds_nothing_up(
    project: Project, temporary: Path
) -> None:
    project.servers = VALKEY
    project.environment("only")
    files = {
        "daemons": "if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n    os._exit(0)",
        "threads": "threading.Thread(target=time.sleep, args=(1000,)).start()",
        "readers": "assert sys.stdin.read() == ''",
        "printers": 'print(\'{"event": "done"}\')',
        "deaf": "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "closers": "os.close(0)",
    }
    for name, text in files.items():
        project.write(
            f"{name}.py",
            f"import os, signal, sys, threading, time\n{text}\ndef payload_{name}():\n    return 1\n",
        )
    project.matrix(payloads=[f"{name}.py" for name in files])

    run = project.compat("-q")

    assert run.code == 0
    assert {name: run.says("only", "only", name) for name in files} == dict.fromkeys(files, "ok")
    assert processes_of(temporary) == {}


def test_a_worker_that_dies_on_import_is_told_even_while_what_it_left_lives_on(
    project: Project, gate: Gate
) -> None:
    project.servers = VALKEY
    project.environment("only")
    project.payloads(f"""
        import os, signal

        if os.fork() == 0:
            os.setsid()
            {gate.code}
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 3
    assert run.environment("only")["reason"] == (
        "its worker was killed by signal 9 while importing payloads and serializers"
    )
