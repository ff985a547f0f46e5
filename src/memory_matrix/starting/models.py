"""Classes of a project that may be part of its memory, found without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memory_matrix.environments.sources import all_files

MOST = 6
"""How many are named."""
_LARGEST = 500_000
_LOOKED_AT = 2000
_BASES = {"BaseModel": "pydantic", "SQLModel": "sqlmodel", "Struct": "msgspec"}
_DECORATORS = {"dataclass": "dataclass", "define": "attrs", "frozen": "attrs", "s": "attrs"}
_NOT_THE_APP = frozenset({"build", "dist", "doc", "docs", "examples", "scripts", "test", "tests"})


@dataclass(frozen=True)
class Model:
    """A class that an app may keep."""

    module: str
    name: str
    kind: str
    """`pydantic`, `dataclass`, `attrs`, ..."""


def find_models(root: Path) -> tuple[Model, ...]:
    """Return the first such classes in the Python files of the folder `root`, its tests left out."""
    paths = (name for name in all_files(root) if _is_app(Path(name)))
    found = (model for name in islice(paths, _LOOKED_AT) for model in _in_file(root, Path(name)))
    return tuple(islice(found, MOST))


def source_folder(root: Path) -> str:
    """Return the folder of the project that its modules are imported from, `.` where it is `root`."""
    return "src" if any((root / "src").glob("*/__init__.py")) else "."


def _is_app(path: Path) -> bool:
    hidden = any(part.startswith((".", "test_")) for part in path.parts)
    return path.suffix == ".py" and not hidden and not _NOT_THE_APP & set(path.parts[:-1])


def _in_file(root: Path, path: Path) -> Iterator[Model]:
    module = _module(path)
    tree = _parsed(root / path)
    if tree is None or not all(part.isidentifier() for part in module.split(".")):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            kind = _kind(node)
            if kind:
                yield Model(module, node.name, kind)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    inside = parts[1:] if parts[0] == "src" else parts
    return ".".join(inside[:-1] if inside[-1:] == ("__init__",) else inside)


def _parsed(path: Path) -> ast.Module | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _kind(node: ast.ClassDef) -> str:
    named = [_BASES.get(_last(base), "") for base in node.bases]
    decorated = [_DECORATORS.get(_last(each), "") for each in node.decorator_list]
    return next(filter(None, (*named, *decorated)), "")


def _last(node: ast.expr) -> str:
    """Return the last name of what an expression calls or names: `dataclass` of `@x.dataclass(...)`."""
    if isinstance(node, ast.Call):
        return _last(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
