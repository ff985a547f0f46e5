"""All cases of the suite, by group, with what must hold in each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_matrix.suite.case_names import CaseName
from memory_matrix.suite.memory import Memory

_PREFIX = "test_"


@dataclass(frozen=True)
class CaseInfo(CaseName):
    """One case, with what it does."""

    text: str
    """What must hold."""
    run: Callable[[Memory], None]


@cache
def cases() -> tuple[CaseInfo, ...]:
    """Return all cases, in the order of their groups and modules."""
    folder = Path(__file__).parent / "cases"
    modules = [
        import_module(f"{__package__}.cases.{path.stem}") for path in folder.glob("test_*.py")
    ]
    return tuple(each for module in sorted(modules, key=_order) for each in _of(module))


def _order(module: Any) -> tuple[str, str]:
    return module.GROUP, module.__name__


def _of(module: Any) -> Iterator[CaseInfo]:
    for name, function in vars(module).items():
        if name.startswith(_PREFIX) and inspect.isfunction(function):
            text = inspect.getdoc(function) or ""
            own = module.__name__.rpartition(".")[2]
            yield CaseInfo(name.removeprefix(_PREFIX), module.GROUP, own, text, function)
