"""What a process that describes stores leaves for those that follow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from memory_matrix.suite.toolkit import toolkit

pytestmark = pytest.mark.integration

STORE = """
class Store:
    policy = {}
    needs = ("redis",)
    def open(self, env): return {}
    def append(self, store, scope, messages): ...
    def read(self, store, scope): return []
"""


def test_the_toolkit_is_compiled_also_where_python_may_write_no_bytecode_for_the_project(
    tmp_path: Path,
) -> None:
    folder = toolkit(tmp_path / "cache")
    (tmp_path / "stores").mkdir()
    (tmp_path / "stores" / "store.py").write_text(STORE, encoding="utf-8")
    package = folder / "memory_matrix"
    cases = package / "suite" / "cases" / "test_text.py"
    done = subprocess.run(
        [sys.executable, "-m", "memory_matrix.suite.crew"],
        input=json.dumps({"stores": ["store:Store"], "root": str(tmp_path / "stores")}) + "\n",
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(folder), str(tmp_path / "stores"))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": "",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert "error" not in done.stdout, done.stdout
    assert (cases.parent / "__pycache__" / Path(cache_from_source(str(cases))).name).exists()
    assert not (tmp_path / "stores" / "__pycache__").exists()
