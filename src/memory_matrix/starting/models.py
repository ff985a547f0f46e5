"""Classes of a project that may be part of its memory, found without importing anything."""

from __future__ import annotations

import ast
import warnings
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
    paths = [Path(name) for name in all_files(root)]
    paths = [path for path in paths if _is_app(path)][:_LOOKED_AT]
    folder = source_folder(root)
    found = (model for path in paths for model in _in_file(root, path, folder))
    return tuple(islice(found, MOST))


def source_folder(root: Path) -> str:
    """Return the folder of the project that its modules are imported from, `.` where it is `root`."""
    source = root / "src"
    if (source / "__init__.py").exists() or not any(source.rglob("*.py")):
        return "."
    return "src"


def _is_app(path: Path) -> bool:
    hidden = any(part.startswith((".", "test_")) for part in path.parts)
    return path.suffix == ".py" and not hidden and not _NOT_THE_APP & set(path.parts[:-1])


def _in_file(root: Path, path: Path, folder: str) -> Iterator[Model]:
    module = _module(path.relative_to(folder) if path.is_relative_to(folder) else path)
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
    return ".".join(parts[:-1] if parts[-1:] == ("__init__",) else parts)


def _parsed(path: Path) -> ast.Module | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the project's own code
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
