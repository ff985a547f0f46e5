"""The built-in corpus is described alike in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_matrix

pytestmark = pytest.mark.integration

DESCRIBE_CORPUS = """
import sys
from memory_matrix.payloads import builtin
from memory_matrix.payloads.lacking import Lacking
from memory_matrix.worker.describe import describe, digest, encode
for name, build in sorted(vars(builtin).items()):
    if name.startswith("payload_"):
        try:
            print(name, digest(encode(describe(build()))))
        except Lacking:
            pass
"""


def test_the_corpus_has_the_same_digests_in_another_process() -> None:
    def digests(seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", DESCRIBE_CORPUS],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(memory_matrix.__file__).parents[1]),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    first = digests("1")
    assert len(first.splitlines()) >= 45
    assert digests("2") == first
