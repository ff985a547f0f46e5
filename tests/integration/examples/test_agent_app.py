"""examples/agent-app: two releases whose memory breaks in exactly three ways, and what mends them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.act import ROOT
from support.project import Project, in_words

pytestmark = pytest.mark.integration

EXAMPLE = ROOT / "examples/agent-app"
SESSION = """
import sys
import payloads
from agent import Memory
from redis import Redis

with Redis.from_url(sys.argv[1]) as client:
    memory = Memory(client, "session 1")
    assert memory.load("summary") is None
    for name in ("conversation", "tracking", "summary"):
        value = getattr(payloads, f"payload_{name}")()
        memory.save(name, value)
        assert memory.load(name) == value
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "agent-app"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "*-report"))
    made = Project(folder, "")
    made.need("3.11", "3.13")
    return made


def change(project: Project, name: str, old: str, new: str) -> None:
    path = project.folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{name} does not hold {old!r} once"
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_its_memory_breaks_in_exactly_three_ways(project: Project):
    done = project.run("compat")
    assert done.code == 1, done.stderr
    cells = done.report["cells"]
    assert len(cells) == 12
    assert {
        (cell["payload"], cell["writer"], cell["reader"]): in_words(cell)
        for cell in cells
        if cell["outcome"] != "ok"
    } == {
        ("conversation", "v1", "v2"): "changed break backward MM200",
        ("summary", "v1", "v2"): "changed break backward MM203",
        ("tracking", "v2", "v1"): "unreadable break forward ModuleNotFoundError MM102",
    }


def test_what_its_readme_says_mends_it(project: Project):
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    (fields, content), (zones, at) = re.findall(r"  # v2/agent/.*\n  (from .*)\n  (.*)\n", readme)
    change(project, "v2/agent/conversation.py", 'content: str = ""', content)
    change(
        project,
        "v2/agent/conversation.py",
        "from pydantic import BaseModel, computed_field",
        fields,
    )
    change(project, "v2/agent/summary.py", "return datetime.utcfromtimestamp(found)", at)
    change(project, "v2/agent/summary.py", "from datetime import datetime", zones)
    shutil.copy(project.folder / "v1/agent/tools.py", project.folder / "v2/agent/tools.py")
    project.write("v2/agent/state.py", "from agent.tools import TrackingState\n")
    done = project.run("compat")
    assert done.code == 0, done.stderr
    assert {cell["outcome"] for cell in done.report["cells"]} == {"ok"}


@pytest.mark.parametrize("release", ["v1", "v2"])
def test_each_release_remembers_what_it_keeps_itself(release: str, redis_url: str):
    pytest.importorskip("pydantic", minversion="2")
    subprocess.run(
        (sys.executable, "-c", SESSION, redis_url),
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(EXAMPLE / release), str(EXAMPLE)))},
        check=True,
    )
