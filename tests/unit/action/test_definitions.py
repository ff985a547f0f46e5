"""What no linter sees: that action.yml, the workflows, their scripts and the pages on them fit together."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

from memory_matrix.github.inputs import INPUTS, PREFIX, Inputs
from memory_matrix.github.outputs import OUTPUTS
from memory_matrix.toml import tomllib
from support.definitions import ROOT, WORKFLOWS, action, call, parsed, steps, workflows

INPUT = re.compile(r"inputs\.([\w-]+)")
PIN = re.compile(r"uses:\s*(?P<name>[^\s@]+)@(?P<sha>\S+)(?:\s+#\s*(?P<version>\S+))?")
OURS = re.compile(
    r"memory-matrix/memory-matrix(?P<workflow>/\.github/workflows/[\w.-]+)?@(?P<ref>\S+)"
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_input_of_the_action_is_used_and_nothing_else():
    assert used(action()["runs"]) == set(action()["inputs"])


def test_every_input_of_the_workflow_is_used_and_nothing_else():
    assert used(workflows()["memory-matrix.yml"]["jobs"]) == set(call()["inputs"])


def test_each_input_reaches_the_tool_under_its_name():
    (env,) = [step["env"] for step in action()["runs"]["steps"] if step.get("id") == "run"]
    given = {name: used(value) for name, value in env.items() if name.startswith(PREFIX)}
    for_setup = {"python-version"}
    assert set(given) == {variable(name) for name in set(action()["inputs"]) - for_setup}
    assert all(name in map(variable, inputs) for name, inputs in given.items())


def test_the_tool_checks_the_inputs_that_there_are():
    assert {each.name for each in INPUTS} == set(action()["inputs"])
    with_default = {name for name, each in action()["inputs"].items() if each["default"]}
    for_the_action = {"command", "working-directory", "token"}
    assert {each.name for each in INPUTS if each.has_default} == with_default - for_the_action


def test_the_tool_sets_the_outputs_that_there_are():
    of_the_upload = {"artifact-id", "artifact-url"}
    assert set(OUTPUTS) == set(action()["outputs"]) - of_the_upload


def test_a_value_that_the_action_gives_is_allowed():
    given = {variable(name): each["default"] for name, each in action()["inputs"].items()}
    given[variable("token")] = "ghs_0123"  # what the expression becomes
    assert list(Inputs.taken_from(given).problems()) == []


def test_every_output_of_the_action_is_that_of_a_step_that_is_there():
    ids = {step["id"] for step in action()["runs"]["steps"] if "id" in step}
    for name, output in action()["outputs"].items():
        found = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", output["value"])
        assert found, name
        assert found[1] in ids
        assert found[2] == name


def test_every_output_of_the_workflow_is_that_of_its_report():
    of_job = workflows()["memory-matrix.yml"]["jobs"]["report"]["outputs"]
    assert set(of_job) == set(call()["outputs"])
    for name, output in call()["outputs"].items():
        assert output["value"] == f"${{{{ jobs.report.outputs.{name} }}}}"


def test_scripts_hold_no_expressions_so_that_no_input_is_run():
    assert [place for place, step in steps() if "${{" in step.get("run", "")] == []


def test_everything_is_given_by_names_that_there_are():
    known = {"$/": action(), "$/.github/workflows/memory-matrix.yml": call()}
    given = [(place, step) for place, step in steps() if step.get("uses") in known]
    assert len(given) > 10
    for place, step in given:
        assert set(step.get("with", {})) <= set(known[step["uses"]]["inputs"]), place


def test_outputs_that_workflows_ask_for_are_there():
    for workflow in workflows().values():
        for job in workflow["jobs"].values():
            ours = {step.get("id") for step in job.get("steps", []) if step.get("uses") == "$/"}
            asked = re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", json.dumps(job))
            assert {name for step, name in asked if step in ours} <= set(action()["outputs"])


def test_other_peoples_actions_are_pinned_alike_everywhere():
    pins: dict[str, set[tuple[str, str | None]]] = {}
    of_init = ROOT / "src/memory_matrix/starting/templates/workflow.yml.txt"
    for path in (ROOT / "action.yml", *WORKFLOWS.glob("*.yml"), *PAGES, of_init):
        for found in PIN.finditer(path.read_text(encoding="utf-8")):
            floats = path in PAGES and len(found["sha"]) < 40
            if not floats and not found["name"].startswith("memory-matrix/"):
                pins.setdefault(found["name"], set()).add((found["sha"], found["version"]))
    assert len(pins) > 4
    for name, found_pins in pins.items():
        assert len(found_pins) == 1, f"{name} is pinned in several ways: {found_pins}"
        ((sha, version),) = found_pins
        assert re.fullmatch(r"[0-9a-f]{40}", sha), name
        assert re.fullmatch(r"v\d+\.\d+\.\d+", version or ""), f"{name} says no version"


def test_examples_in_pages_name_one_release_and_inputs_that_there_are():
    refs = set()
    for path in PAGES:
        for uses, step in examples(path):
            found = OURS.fullmatch(uses)
            if found:
                known = call() if found["workflow"] else action()
                assert set(step.get("with", {})) <= set(known["inputs"]), path
                refs.add(found["ref"])
    assert refs == {"v1"}


def test_the_pages_tables_are_those_of_the_definitions():
    tool = runpy.run_path(str(ROOT / "tools/action_tables.py"))
    page = tool["PAGE"].read_text(encoding="utf-8")
    assert tool["rewritten"](page) == page
    assert page.count("<!-- end -->") == 4


def test_ci_tries_every_python_that_the_package_names():
    said = [
        found[1]
        for each in project()["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each))
    ]
    assert workflows()["ci.yml"]["jobs"]["unit"]["strategy"]["matrix"]["python"] == said


def test_the_action_refuses_the_pythons_that_the_package_refuses():
    oldest = project()["requires-python"].removeprefix(">=")
    script = (ROOT / "tools/action-install").read_text(encoding="utf-8")
    assert f"sys.version_info < ({oldest.replace('.', ', ')})" in script
    assert f"needs {oldest} or later" in script


def test_ci_is_passed_only_where_all_of_it_is():
    jobs = workflows()["ci.yml"]["jobs"]
    assert set(jobs["all"]["needs"]) == set(jobs) - {"all"}


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return found["project"]


def used(part: Any) -> set[str]:
    """Return the inputs that are used somewhere in a part of a definition."""
    return set(INPUT.findall(json.dumps(part)))


def variable(name: str) -> str:
    return PREFIX + name.upper().replace("-", "_")


def examples(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return what the YAML in a page uses, and how."""
    blocks = re.findall(r"```ya?ml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return [found for block in blocks for found in users(parsed(block))]


def users(part: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(part, dict):
        own = [(part["uses"], part)] if isinstance(part.get("uses"), str) else []
        return own + [found for each in part.values() for found in users(each)]
    return [found for each in part for found in users(each)] if isinstance(part, list) else []
