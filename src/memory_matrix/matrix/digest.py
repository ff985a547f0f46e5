"""What a matrix is, in short: the same on every machine that reads the same matrix file.

There are two digests, since two things are asked of it: whether the numbers of two runs can be compared,
which what is run decides alone, and whether shards can be judged together, which takes the same excuses.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from memory_matrix.matrix.model import EnvironmentSpec, Matrix, ServerSource

_LENGTH = 16
"""Hexadecimal digits: enough to tell matrices apart, few enough to compare by eye."""


def digest(matrix: Matrix) -> str:
    """Return 16 hexadecimal digits that matrices share in which the same is run.

    A part of a matrix has the digest of the whole. Where the matrix file is, what the passwords of
    its servers are, and what of what is found fails a run (`fail-on`, `directions`, `[[known]]`,
    `[[suite.waiver]]`) make no difference.
    """
    return matrix.whole or _digest(_facts(matrix))


def excuses(matrix: Matrix) -> str:
    """Return 16 hexadecimal digits that matrices share which excuse the same.

    A part of a matrix has those of the whole.
    """
    entries = (*matrix.known, *matrix.suite.waivers)
    return matrix.excuses or _digest([vars(each) for each in entries])


def _digest(facts: object) -> str:
    text = json.dumps(facts, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _facts(matrix: Matrix) -> dict[str, Any]:
    compat, suite = matrix.compat, matrix.suite
    return {
        "environments": [_environment(each, matrix.root) for each in matrix.environments],
        "compat": [compat.serializers, compat.payloads, compat.timeout, compat.memory],
        "servers": [_server(each, matrix.root) for each in matrix.servers],
        "suite": [suite.stores, suite.serializers, suite.strategy, suite.timeout],
    }


def _environment(spec: EnvironmentSpec, root: Path) -> list[Any]:
    folders = [_place(str(folder), root) for folder in spec.path]
    ages = [spec.coordinates, spec.values]
    return [spec.name, spec.python, spec.packages, spec.app, folders, spec.env, *ages]


def _server(source: ServerSource, root: Path) -> list[str]:
    text = f"bin:{_place(source.value, root)}" if source.form == "bin" else source.text
    return [source.kind, source.name, text]


def _place(path: str, root: Path) -> str:
    """Return a path from the matrix file's folder, where it has anything to do with that."""
    if not os.path.isabs(path) or os.path.commonpath([path, root]) == root.anchor:  # noqa: PTH117
        return path
    return Path(os.path.relpath(path, root)).as_posix()
