"""Gives tox the plugin of this very checkout, where memory-matrix is not installed beside it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

try:
    distribution("memory-matrix")
except PackageNotFoundError:
    sys.path.insert(0, str(Path(__file__).with_name("src")))
    from memory_matrix.tox import *
