"""The suite where an environment can import it: a copy of this package alone, kept in the cache.

On the environment's path the folder that memory-matrix is installed in would bring along whatever else
is installed there.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import memory_matrix
from memory_matrix.environments import cache as caches

REQUIREMENTS = (
    "packaging",
    "psycopg[binary,pool]",
    "pytest>=8.3",
    "pytest-timeout>=2.3",
    "redis>=5",
)
"""What the suite needs in an environment, resolved together with what the environment has."""

OLDEST_PYTHON = (3, 10)

_SOURCE = Path(memory_matrix.__file__).parent
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


def toolkit(cache: Path) -> Path:
    """Return a folder for PYTHONPATH that holds this package and nothing else.

    Raises:
        MemoryMatrixError: the cache cannot be written.
    """
    section = caches.section(cache, "toolkits")
    folder = section / _digest()
    with caches.writing(section):
        caches.obtain(folder, is_good=Path.is_dir, make=_copy)
    return folder


def _copy(folder: Path) -> None:
    shutil.copytree(_SOURCE, folder / _SOURCE.name, ignore=_LEFT_OUT)


def _digest() -> str:
    """Return what tells this state of the package from others."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(_SOURCE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(_SOURCE)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
