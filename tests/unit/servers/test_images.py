"""What is said where images cannot be run at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers.images import open_image
from memory_matrix.servers.launch import Launch


def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "docker.errors", None)
    source = ServerSource("redis", "image", "redis:8.0", "r")
    with (
        pytest.raises(UnavailableError, match=r"install memory-matrix\[docker\]"),
        open_image(Launch(source, tmp_path, tmp_path, timeout=1)),
    ):
        pytest.fail("it started")
