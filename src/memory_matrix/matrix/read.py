"""Find the matrix file, read it, and say all that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory_matrix.errors import UsageError
from memory_matrix.matrix.build import build, problems
from memory_matrix.matrix.model import CURRENT_PYTHON, EnvironmentSpec, Matrix
from memory_matrix.matrix.places import what_is_at
from memory_matrix.matrix.problems import At, Problem, kind, render
from memory_matrix.toml import tomllib

FILE = "memory-matrix.toml"
PYPROJECT = "pyproject.toml"
TABLE = ("tool", "memory-matrix")
"""Where pyproject.toml keeps the matrix."""

QUICK = Path(__file__).with_name("quick.toml")
"""The matrix that runs where there is no file."""


@dataclass(frozen=True)
class _Document:
    """A file's table, with what sentences on it need."""

    table: Mapping[str, Any]
    title: str
    prefix: At = ()


def find(start: Path) -> Path | None:
    """Return the matrix file in `start` or the nearest folder above it; None if there is none.

    memory-matrix.toml goes before a pyproject.toml with `[tool.memory-matrix]` in the same folder. A
    folder with `.git` is the last one looked in.

    Raises:
        UsageError: a pyproject.toml on the way cannot be read.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if os.path.lexists(folder / FILE):
            return folder / FILE
        if _has_table(folder / PYPROJECT):
            return folder / PYPROJECT
        if os.path.lexists(folder / ".git"):
            return None
    return None


def read(path: Path) -> Matrix:
    """Return the matrix that the file at `path` means.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong: one line for each error.
    """
    document = _document(path)
    source = path.parent.resolve() / path.name
    return _matrix(document, source.parent, source)


def builtin_quick(root: Path) -> Matrix:
    """Return the matrix that comes with memory-matrix, for a run in the folder `root`."""
    document = _Document(_parse(QUICK.read_bytes(), QUICK.name), "the built-in quick matrix")
    return _matrix(document, root.resolve(), None)


def builtin_suite(root: Path) -> Matrix:
    """Return the built-in matrix of the memory test suite alone: this interpreter, nothing installed."""
    quick = builtin_quick(root)
    current = EnvironmentSpec(CURRENT_PYTHON, CURRENT_PYTHON, coordinates=(("environment", 0),))
    return replace(quick, environments=(current,))


def _matrix(document: _Document, root: Path, source: Path | None) -> Matrix:
    found = problems(document.table, root)
    if found:
        raise UsageError(_sentences(document, found))
    return build(document.table, root, source)


def _sentences(document: _Document, found: Sequence[Problem]) -> str:
    count = "1 error" if len(found) == 1 else f"{len(found)} errors"
    return "\n".join(
        [f"{document.title} has {count}:", *(_line(document, problem) for problem in found)]
    )


def _line(document: _Document, problem: Problem) -> str:
    key = render((*document.prefix, *problem.at))
    return ": ".join(part for part in (document.title, key, problem.sentence) if part)


def _has_table(pyproject: Path) -> bool:
    """Return whether a pyproject.toml has the matrix, or is too broken to tell."""
    if what_is_at(pyproject) != "file":
        return False
    content = _content(pyproject, _title(pyproject))
    if TABLE[-1].encode() not in content:
        return False
    try:
        tool = _parse(content, str(pyproject)).get(TABLE[0])
    except UsageError:
        return True
    return isinstance(tool, dict) and TABLE[-1] in tool


def _document(path: Path) -> _Document:
    title = _title(path)
    content = _content(path, title)
    if not content.strip():
        raise UsageError(
            f"{title} is empty; `memory-matrix compat --help` shows a small one to start from."
        )
    table = _parse(content, title)
    if path.name != PYPROJECT:
        return _Document(table, title)
    tool = table.get(TABLE[0])
    if not isinstance(tool, dict) or TABLE[-1] not in tool:
        raise UsageError(f"{title} has no table [{render(TABLE)}]; add it, or write {FILE}.")
    if not isinstance(tool[TABLE[-1]], dict):
        raise UsageError(
            f"{title}: {render(TABLE)} is {kind(tool[TABLE[-1]])}; it must be a table."
        )
    return _Document(tool[TABLE[-1]], title, TABLE)


def _content(path: Path, title: str) -> bytes:
    found = what_is_at(path)
    if found == "folder":
        raise UsageError(f"{title} is a folder; name the matrix file itself.")
    if found == "something else":
        raise UsageError(f"{title} is no ordinary file; name the matrix file itself.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{title} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageError(f"{title} cannot be read: {error}.") from None


def _parse(content: bytes, title: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{title} is not UTF-8 (byte {error.start}); save it in that encoding."
        ) from None
    except ValueError as error:
        raise UsageError(f"{title} is not TOML: {error}.") from None
    except RecursionError:
        raise UsageError(f"{title} is not TOML: its lists are nested too deep.") from None


def _title(path: Path) -> str:
    """Return the path as short as it is clear where the user stands."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)
