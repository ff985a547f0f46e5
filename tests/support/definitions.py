"""The action and the workflows of this repository, as data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"


@cache
def action() -> dict[str, Any]:
    """Return action.yml."""
    return _read(ROOT / "action.yml")


@cache
def workflows() -> dict[str, dict[str, Any]]:
    """Return the workflows by the names of their files."""
    return {path.name: _read(path) for path in sorted(WORKFLOWS.glob("*.yml"))}


def call(name: str = "memory-matrix.yml") -> dict[str, Any]:
    """Return what a workflow says of its calls: `inputs` and `outputs`."""
    found: dict[str, Any] = workflows()[name]["on"]["workflow_call"]
    return found


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every step with its place; a job that calls a workflow counts as one."""
    for number, step in enumerate(action()["runs"]["steps"]):
        yield f"action.yml, step {number}", step
    for name, workflow in workflows().items():
        for job, content in workflow["jobs"].items():
            if "uses" in content:
                yield f"{name}, {job}", content
            for number, step in enumerate(content.get("steps", [])):
                yield f"{name}, {job}, step {number}", step


def parsed(text: str) -> Any:
    """Return what YAML has in a text, ten times as fast where PyYAML comes with its C library."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _read(path: Path) -> dict[str, Any]:
    """Return what a file holds; `on` stays a word, which YAML 1.1 takes for a truth."""
    read: dict[Any, Any] = parsed(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}
