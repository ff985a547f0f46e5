"""Real runs in steps of GitHub Actions: what the runner obeys, the summary, the outputs."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.gates import LONGEST, Gate

from .conftest import ENTRY, Steps, commands, variables

pytestmark = pytest.mark.integration

HOSTILE = r"""
TEXT = "\n::error::forged\r::set-output name=result::pass\n##[error]forged ::stop-commands::x"
"""


def break_it(steps: Steps) -> None:
    """Write a project in which one reader raises a hostile text."""
    project = steps.project
    project.environment("old", app=f"{HOSTILE}\nclass State:\n    pass\n")
    project.environment(
        "next",
        app=f"""{HOSTILE}
class State:
    def __setstate__(self, state):
        raise ValueError(TEXT)
    def __eq__(self, other):
        return True
""",
    )
    project.payloads(
        """
        import app

        def payload_state():
            made = app.State()
            made.text = app.TEXT
            return made

        def payload_fine():
            return app.TEXT
        """
    )
    project.matrix()


def test_a_run_is_folded_annotated_and_summed_up_and_nothing_else_is_obeyed(steps: Steps) -> None:
    break_it(steps)

    run = steps.project.run("compat")

    assert run.code == 1, run.stderr
    found = commands(run)
    assert [each.name for each in found[:2]] == ["group", "endgroup"]
    assert {each.name for each in found[2:]} == {"error"}
    assert "forged" in run.stdout
    (error, *_) = (each for each in found if each.name == "error")
    assert error.properties["file"] == "app/payloads.py"
    assert error.properties["title"] == "next reads pickle of old: unreadable"
    summary = steps.summary.read_text(encoding="utf-8")
    assert "### Who reads whom" in summary
    assert "in the folder `memory-matrix-report`" in summary
    assert steps.outputs.read_text() == ""


def test_outside_github_there_is_none_of_it(steps: Steps) -> None:
    break_it(steps)

    run = steps.project.run("compat", "--annotations", "--summary", GITHUB_ACTIONS="")

    assert run.code == 1
    assert "::group" not in run.stderr
    assert "::error title" not in run.stderr
    assert steps.summary.read_text() == ""


def test_the_tools_own_error_is_one_annotation(steps: Steps) -> None:
    steps.project.write("memory-matrix.toml", "[axes]\npython = 3\n")

    run = steps.project.run("compat")

    assert run.code == 2
    (error,) = commands(run)
    assert error.name == "error"
    assert "axes.python" in error.message
    assert run.stderr.count("axes.python") == 1


def test_a_password_is_in_the_log_only_where_it_is_masked(steps: Steps) -> None:
    steps.project.environment("a")
    steps.project.payloads("def payload_x():\n    return 1\n")
    steps.project.servers = '[servers]\nredis = ["redis://:hunter22@127.0.0.1:1/0"]'
    steps.project.matrix(("json",))

    run = steps.project.run("compat")

    assert run.code == 3
    found = commands(run)
    assert [each.message for each in found if each.name == "add-mask"] == ["hunter22"]
    assert (run.stdout + run.stderr).count("hunter22") == 1
    assert found[0].name == "add-mask"
    assert [each.name for each in found].count("error") == 1


def test_the_action_sets_its_outputs_and_ends_as_the_command_does(steps: Steps) -> None:
    break_it(steps)

    run = steps.action(command="compat", summary_title="$(touch x) `y` 🙂", strict="true")

    assert run.code == 1, run.stdout + run.stderr
    assert run.stderr == ""
    assert {name: steps.output(name) for name in ("result", "cells", "passed", "skipped")} == {
        "result": "fail", "cells": "8", "passed": "6", "skipped": "0",
    }  # fmt: skip
    report = steps.project.folder / "memory-matrix-report"
    assert steps.output("report-path") == str(report)
    assert steps.output("json-path") == str(report / "report.json")
    assert steps.output("breaks") == "1"
    text = steps.summary.read_text(encoding="utf-8")
    assert text.startswith("# \\$(touch x) \\`y\\` 🙂\n")
    assert not (steps.project.folder / "x").exists()


@pytest.mark.concurrency
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_action_that_is_told_to_end_still_sets_its_result(
    steps: Steps, tmp_path: Path, number: int, code: int
) -> None:
    gate = Gate(tmp_path / "gate")
    steps.project.environment("a")
    steps.project.payloads(f"def payload_x():\n    {gate.code}\n    return 1\n")
    steps.project.matrix(("json",))
    steps.project.write("memory-matrix-report/report.json", "{}")

    with subprocess.Popen(
        ENTRY,
        cwd=steps.project.folder,
        env=steps.project.variables(variables({"command": "compat"})),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            gate.wait_for(1)
            process.send_signal(number)
            assert process.wait(LONGEST) == code
        finally:
            process.kill()

    assert steps.outputs.read_text() == "result=error\n"


def test_a_plan_reaches_the_outputs_and_a_shards_results_are_found(steps: Steps) -> None:
    break_it(steps)

    plan = steps.action(command="plan", args="--jobs 2")

    assert plan.code == 0, plan.stdout
    assert steps.output("has-work") == "true"
    (first, *_) = json.loads(steps.output("write-matrix"))["include"]
    written = steps.action(command=first["command"], shard=first["shard"])
    assert written.code == 0, written.stdout
    assert commands(written)[0].name == "group"
    assert steps.output("report-path") == str(steps.project.folder / "memory-matrix-report")


def test_names_in_a_plan_are_no_commands(steps: Steps) -> None:
    steps.project.write(
        "memory-matrix.toml",
        """
        [[environment]]
        name = "::error::forged"
        python = "current"

        [[environment]]
        name = "x ##[error]forged"
        python = "current"
        """,
    )

    run = steps.project.run("plan")

    assert run.code == 0, run.stderr
    assert run.stdout.count("forged") == 2
    assert commands(run) == []
