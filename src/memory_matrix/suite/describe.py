"""Say of stores, inside an environment, what they need and declare."""

from __future__ import annotations

import compileall
import inspect
import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.stores.loading import error_line, load_store


def describe(source: str, root: Path) -> dict[str, Any]:
    """Return what the store `source` needs and declares, or why it cannot be had."""
    try:
        store = load_store(source, root)
        _ = store.is_async, store.takes_serializer
    except MemoryMatrixError as error:
        return {"source": source, "error": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever a property of the adapter raises, or its module
        what = error_line(error)
        return {"source": source, "error": f"{source}: the adapter cannot be read: {what}."}
    return {
        "source": source,
        "needs": list(store.needs),
        "takes_serializer": store.takes_serializer,
        "policy": store.policy.lines(),
        "same": _identity(store.adapter, source, root),
        **_defined(store.adapter, source.rpartition(":")[0], root),
    }


def _defined(adapter: Any, module: str, root: Path) -> dict[str, Any]:
    """Return the file and the line of the user's adapter; nothing for one that is built in.

    An adapter made from a class that is built in is found where it is made: in the named module.
    """
    kind = adapter if isinstance(adapter, type) else type(adapter)
    if not _is_ours(kind.__module__):
        with suppress(OSError, TypeError):  # made by code that no file has
            return {"file": inspect.getsourcefile(kind), "line": inspect.getsourcelines(kind)[1]}
    if _is_ours(module):
        return {}
    return {"file": _file(module, root), "line": 1}


def _identity(adapter: Any, source: str, root: Path) -> list[str]:
    """Return what adapters share that are one, however they are named.

    Those of one class are, unless they were made with something in them: then, those of one name.
    """
    module, _, name = source.rpartition(":")
    if getattr(adapter, "__dict__", None) == {}:
        module, name = type(adapter).__module__, type(adapter).__qualname__
    return [os.path.realpath(_file(module, root) or module), name]


def _file(module: str, root: Path) -> str:
    """Return the file of a module that is loaded, or of one that is named by it."""
    if module.endswith(".py"):
        return str(root / module)
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "memory_matrix"


def compile_package() -> None:
    """Compile this package for this Python, once: the processes that follow only load it.

    Also where Python is told to write no bytecode, which speaks of the project's own folders.
    """
    if not Path(cache_from_source(__file__)).exists():
        compileall.compile_dir(Path(__file__).parents[1], quiet=2)
