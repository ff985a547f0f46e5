"""Deliberately broken stores: each is a small mutation of a reference store, which some case must catch.

A mutant is a class derived from an adapter, registered by `@mutant("case_name", ...)` with the cases that
catch it. Modules of mutants are in tests/integration/suite/mutants, one per group of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from memory_matrix.stores.loading import check
from memory_matrix.suite.catalogue import cases
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.options import KINDS
from memory_matrix.suite.running import run_case
from memory_matrix.suite.stores import StoreParameter
from memory_matrix.suite.worker import Worker

_TESTS = Path(__file__).parents[1]

C = TypeVar("C", bound=type[Any])


@dataclass(frozen=True)
class Mutant:
    """A broken adapter and one case that must fail on it."""

    adapter: type[Any]
    case: str
    serializer: str | None = None
    raises: bool = False
    """Whether what the mutant itself raises is the fault, such as a raw driver error."""

    def __str__(self) -> str:
        return f"{self.case}-{self.adapter.__name__}"


@dataclass
class _Registry:
    mutants: list[Mutant] = field(default_factory=list)


_REGISTRY = _Registry()


def mutant(*names: str, serializer: str | None = None, raises: bool = False) -> Callable[[C], C]:
    """Register a broken adapter with the cases that catch it."""

    def register(adapter: C) -> C:
        _REGISTRY.mutants += [Mutant(adapter, name, serializer, raises) for name in names]
        return adapter

    return register


def all_mutants() -> list[Mutant]:
    """Return every mutant with each of its cases."""
    folder = Path(__file__).parents[1] / "integration" / "suite" / "mutants"
    for path in sorted(folder.glob("[!_]*.py")):
        import_module(f"integration.suite.mutants.{path.stem}")
    return list(_REGISTRY.mutants)


def try_case(
    worker: Worker, adapter: Any, case: str, serializer: str | None = None
) -> Exception | None:
    """Run one case on an adapter; return what it raised."""
    return run_case(_cases()[case], worker, parameter_of(worker, adapter, serializer))


def parameter_of(worker: Worker, adapter: Any, serializer: str | None = None) -> StoreParameter:
    """Return an adapter, on the first servers that the worker has for it."""
    made = isinstance(adapter, type)
    source = f"{adapter.__module__}:{adapter.__qualname__}" if made else "tests:mutant"
    store = replace(check(adapter() if made else adapter, source), root=_TESTS if made else None)
    chosen = {kind: worker.options.sources(kind)[0] for kind in KINDS if kind in store.needs}
    return StoreParameter(store, chosen, tuple(chosen), serializer)


def _cases() -> Mapping[str, Callable[[Memory], None]]:
    return {each.name: each.run for each in cases()}
