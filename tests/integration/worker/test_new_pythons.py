"""The worker on interpreters that no developer's machine has yet: in containers of their own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import memory_matrix
from memory_matrix.compat.model import Meaning
from memory_matrix.compat.reading import comparison

pytestmark = [pytest.mark.integration, pytest.mark.docker]

PACKAGE = Path(memory_matrix.__file__).parent


@pytest.fixture(params=["3.14", "3.15"])
def python(request: pytest.FixtureRequest) -> list[str]:
    """A command that runs a Python of that version with the package and the test's folder mounted."""
    image = f"python:{request.param}-slim"
    try:
        found = subprocess.run(
            ["docker", "image", "inspect", image], capture_output=True, check=False
        )
        here = found.returncode == 0
    except FileNotFoundError:
        here = False
    if not here and os.environ.get("MEMORY_MATRIX_REQUIRE_DOCKER") == "1":
        pytest.fail(f"a Docker engine with {image} is required here")
    if not here:
        pytest.skip(f"no Docker engine with {image}")
    return [
        "docker",
        "run",
        "--rm",
        "-i",
        "--network",
        "none",
        "-v",
        f"{PACKAGE}:{PACKAGE}:ro",
        image,
    ]


def run_worker(python: Sequence[str], mode: str, folder: Path, **more: Any) -> list[dict[str, Any]]:
    """Run the worker in a container and return its events."""
    for name in ("blobs", "descriptions"):
        (folder / name).mkdir(exist_ok=True)
    job = {
        "path": [],
        "payloads": ["builtin"],
        "serializers": {name: name for name in ("pickle", "json")},
        "select": [],
        "preload": [],
        "scrub": {},
        "timeout": 30,
        "memory": 2048,
        "blobs": str(folder / "blobs"),
        "descriptions": str(folder / "descriptions"),
        **more,
    }
    (folder / "job.json").write_text(json.dumps(job))
    *command, image = python
    process = subprocess.Popen(
        [*command, "-v", f"{folder}:{folder}", image, "python", str(PACKAGE / "worker/__main__.py"),
         mode, str(folder / "job.json")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    with process:
        events = [json.loads(line) for line in process.stdout]
    assert process.returncode == 0
    assert events[-1] == {"event": "done"}
    return events


def test_writes_and_reads_the_whole_corpus(python: list[str], tmp_path: Path) -> None:
    written = run_worker(python, "write", tmp_path)

    meanings = {
        event["payload"]: Meaning(
            event["outcome"], event["expected"], event["plain"], event["probe"]
        )
        for event in written
        if event["event"] == "payload" and event["outcome"] == "built"
    }
    dumped = [each for each in written if each.get("outcome") == "written"]
    steps = [
        {
            "step": number,
            "do": "read",
            **{key: each[key] for key in ("blob", "text", "payload", "serializer")},
            "mine": True,
            **comparison(meanings[each["payload"]], []),
        }
        for number, each in enumerate(dumped)
    ]
    read = [
        event
        for event in run_worker(python, "read", tmp_path, steps=steps)
        if event["event"] == "read"
    ]
    wrong = {
        steps[event["step"]]["payload"]
        for event in read
        if steps[event["step"]]["serializer"] == "pickle"
        and (event["outcome"] != "loaded" or any(event["differences"].values()) or event["again"])
    }

    assert len(meanings) > 100
    assert not [event for event in written if event.get("differs")]
    assert {event["outcome"] for event in written if event["event"] == "written"} == {
        "written",
        "unwritable",
    }
    assert len(read) == len(steps)
    assert wrong == {"exception_cause"}  # pickle leaves causes out
