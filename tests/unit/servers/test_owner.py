"""Whose container it is, and whether that process still lives."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memory_matrix.servers import owner


def test_a_live_process_owns_its_containers() -> None:
    assert not owner.is_abandoned(owner.labels("id"))


def test_a_dead_process_owns_nothing() -> None:
    code = (
        "import json; from memory_matrix.servers import owner; print(json.dumps(owner.labels('x')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert owner.is_abandoned(json.loads(printed))


def test_a_later_process_of_the_same_number_is_another() -> None:
    assert owner.is_abandoned({**owner.labels("id"), "memory-matrix.started": "long ago"})


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps here")
def test_without_a_proc_folder_ps_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    labels = owner.labels("id")
    assert labels["memory-matrix.started"]
    assert not owner.is_abandoned(labels)
    assert owner.is_abandoned({**labels, "memory-matrix.started": "long ago"})


@pytest.mark.parametrize(
    "change", [{"memory-matrix.host": "another"}, {"memory-matrix.pid": "none"}, {}]
)
def test_what_may_be_alive_elsewhere_is_left_alone(change: dict[str, str]) -> None:
    labels = {**owner.labels("id"), "memory-matrix.started": "long ago", **change}
    assert owner.is_abandoned(labels) == (not change)


def test_labels_name_what_is_asked_for() -> None:
    assert owner.labels("abc")[owner.LABEL] == "abc"
