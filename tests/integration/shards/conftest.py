"""A project whose work is done on several machines, each with a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.machines import Machines
from support.project import SMALL_STORE, VALKEY, Project

PAYLOADS = """
import app

def payload_note():
    return app.Note("x")

def payload_pair():
    return (1, 2)

def payload_text():
    return "text"
"""

NOTE = """
class Note:
    def __init__(self, text):
        self.text = text
"""

MATRIX = """
[suite]
stores = ["store.py:Store"]

[[suite.waiver]]
case = "text_crlf*"
reason = "mended long ago"
until = 2999-01-01

[[known]]
writer = "b"
payload = "note"
reason = "ticket 7"

[[known]]
payload = "text"
reason = "never was"
"""


@pytest.fixture
def project(tmp_path: Path, temporary: Path) -> Project:
    """A project of four releases of an app, of which the last cannot read what others wrote."""
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(folder, VALKEY, {"TMPDIR": str(temporary)})
    made.payloads(PAYLOADS)
    made.write("store.py", SMALL_STORE)
    made.environment("a", app=NOTE)
    made.environment("b", app=f"{NOTE}        self.more = 1\n")
    made.environment("c", app=NOTE)
    made.environment("d", app=f"{NOTE.replace('Note', 'Noted')}\nNote = Noted\n")
    made.matrix(("pickle", "json"), MATRIX)
    return made


@pytest.fixture
def machines(project: Project) -> Machines:
    """Machines that share the project."""
    return Machines(project)
