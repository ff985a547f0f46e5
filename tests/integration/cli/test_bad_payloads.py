"""Payloads that hang, crash, flood or exhaust: each costs its own cells only, at whatever stage."""

from __future__ import annotations

from pathlib import Path

import pytest

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
