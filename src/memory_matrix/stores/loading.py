"""Load the adapter that a name stands for, and say in one sentence what is wrong with it."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from memory_matrix.errors import UsageError
from memory_matrix.stores import calls
from memory_matrix.stores.policy import Policy, answer_meant, as_policy
from memory_matrix.worker.errors import import_place
from memory_matrix.worker.modules import import_source

KINDS = ("postgres", "redis")
PARTS: Mapping[str, tuple[str, ...]] = {
    "conversation": ("append", "read"),
    "records": ("put", "get"),
    "state": ("set_state", "get_state"),
}
"""What an adapter must have of a part, if it has any of it."""
_LIBRARIES: Mapping[str, Mapping[str, str]] = {
    "postgres": {"psycopg": "errors", "psycopg_pool": "errors"},
    "redis": {"redis": "exceptions"},
}
"""What talks to each kind of server, and a module by which each of these is known."""
_UNKNOWN_ANSWER = re.compile(r"\bPolicy\.__init__\(\) got an unexpected keyword argument '(\w+)'")
_ANY: frozenset[str] = frozenset({"*"})
"""The options of a call that takes whatever it is given."""


@dataclass(frozen=True)
class StoreUnderTest:
    """An adapter that has been checked, under the name that reports call it by."""

    name: str
    """What follows the colon; the whole name where several stores share that."""
    source: str
    """As the user wrote it: `module:object` or `file.py:object`."""
    adapter: Any
    policy: Policy
    needs: tuple[str, ...]
    root: Path | None = None
    """The folder in which `source` was looked for; None for an adapter that was not loaded by that."""

    @cached_property
    def is_async(self) -> bool:
        """Whether any of its calls has to be awaited."""
        return any(
            inspect.iscoroutinefunction(getattr(self.adapter, name))
            for name in dir(self.adapter)
            if not name.startswith("_")
        )

    @cached_property
    def takes_serializer(self) -> bool:
        """Whether it can be opened with any serializer."""
        return bool(getattr(self.adapter, "takes_serializer", False))

    @property
    def own_database(self) -> bool:
        """Whether a Postgres schema, or any database of a Redis, is not enough for it."""
        return bool(getattr(self.adapter, "own_database", False))

    def offers(self, call: str, *options: str) -> bool:
        """Return whether the adapter has `call`, and takes `options` in it."""
        if call not in self._taken:  # looked up once: cases ask before every call
            self._taken[call] = _options(getattr(self.adapter, call, None))
        taken = self._taken[call]
        return taken is not None and (taken is _ANY or taken.issuperset(options))

    @cached_property
    def _taken(self) -> dict[str, frozenset[str] | None]:
        return {}

    def part(self, name: str) -> bool:
        """Return whether the adapter has the `conversation`, `records` or `state` part."""
        return all(self.offers(call) for call in PARTS[name])


def load_store(source: str, root: Path) -> StoreUnderTest:
    """Return the adapter that `source`, `module:object` or `file.py:object`, names.

    Files and modules are looked for in `root`. The object is an adapter, a class of one, or anything
    whose `memory_adapter` is one.

    Raises:
        UsageError: there is no such object, or it is no adapter.
    """
    module_name, colon, name = source.rpartition(":")
    if not colon or not module_name or not name:
        raise UsageError(
            f"{source!r} names no store: write module:object or file.py:object, such as "
            "memory_matrix.stores:PostgresStore or app/memory.py:adapter."
        )
    found = _attribute(_module(module_name, root, source), name, source)
    store = check(_adapter(found, source), source)
    for shadow in _shadows(store.needs, root):
        raise UsageError(f"{source}: {_in_front(shadow)}.")
    return replace(store, root=root)


def check(adapter: Any, source: str) -> StoreUnderTest:
    """Return `adapter` as a store under test.

    Raises:
        UsageError: it lacks a call, or declares what does not exist.
    """
    for required in ("policy", "needs", "open"):
        if not hasattr(adapter, required):
            raise UsageError(
                f"{source}: the adapter has no `{required}`; it needs policy, needs, open, and the "
                "calls of a part: append and read, or put and get."
            )
    policy = as_policy(adapter.policy, source)
    store = StoreUnderTest(
        source.rpartition(":")[2], source, adapter, policy, _needs(adapter, source)
    )
    if wrong := calls.problem(adapter):
        raise UsageError(f"{source}: {wrong}")
    _check_parts(store)
    _check_refusals(store)
    return store


def unique_names(stores: list[StoreUnderTest]) -> list[StoreUnderTest]:
    """Return `stores` with names that tell them apart."""
    names = [store.name for store in stores]
    return [
        store if names.count(store.name) == 1 else replace(store, name=store.source)
        for store in stores
    ]


def _options(method: Any) -> frozenset[str] | None:
    """Return the names of what a call takes; None where there is no such call."""
    if not callable(method):
        return None
    parameters = inspect.signature(method).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return _ANY if takes_all else frozenset(parameters)


def _module(name: str, root: Path, source: str) -> Any:
    is_file = name.endswith(".py")
    path = root / name
    if is_file and not path.is_file():
        raise UsageError(f"{source}: there is no file {path}.")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        return import_source(os.path.realpath(path) if is_file else name)
    except (Exception, SystemExit, GeneratorExit) as error:
        shadows = [each for each in _shadows(KINDS, root) if each.stem in error_line(error)]
        because = "".join(f" {_in_front(each)}." for each in shadows)
        raise UsageError(
            f"{source}: {name} cannot be imported: {error_line(error)}{_line(error)}.{because}"
            f"{_no_answer(error)}"
        ) from error


def _line(error: BaseException) -> str:
    place = str(import_place(error)["place"])
    return f" ({place[:-2]})" if place else ""


def _no_answer(error: BaseException) -> str:
    """Return which answer of a policy may have been meant by one that there is not."""
    found = _UNKNOWN_ANSWER.search(error_line(error))
    return answer_meant(found[1]) if found else ""


def _shadows(kinds: Iterable[str], root: Path) -> Iterator[Path]:
    """Yield what in `root` Python takes for a library that talks to servers of `kinds`."""
    for kind in kinds:
        for library, module in _LIBRARIES[kind].items():
            found = PathFinder.find_spec(library, [str(root)])
            if found is None or found.origin is None:  # a folder of other things hides nothing
                continue
            inside = found.submodule_search_locations
            if inside is None or PathFinder.find_spec(f"{library}.{module}", inside) is None:
                yield root / library if inside else Path(found.origin)


def _in_front(shadow: Path) -> str:
    return (
        f"{shadow} is what `import {shadow.stem}` finds here, in front of the library of that name,"
        " which is needed; rename it"
    )


def _attribute(module: Any, name: str, source: str) -> Any:
    found = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"{source}: {module.__name__} has no {name!r}.") from None
        except ImportError as error:
            raise UsageError(f"{source}: it cannot be imported: {error_line(error)}.") from error
    return found


def _adapter(found: Any, source: str) -> Any:
    adapter = getattr(found, "memory_adapter", found)
    if not isinstance(adapter, type):
        return adapter
    try:
        return adapter()
    except UsageError as error:  # such as a library that is missing
        raise UsageError(f"{source}: {error}") from error
    except (Exception, SystemExit, GeneratorExit) as error:
        raise UsageError(f"{source}: the adapter cannot be made: {error_line(error)}.") from error


def _needs(adapter: Any, source: str) -> tuple[str, ...]:
    needs = adapter.needs
    listed = needs if isinstance(needs, list | tuple | set | frozenset) else (needs,)
    kinds = tuple(listed)
    if not kinds or any(kind not in KINDS for kind in kinds):
        raise UsageError(
            f"{source}: needs is {needs!r}; it should name the servers that the store needs, "
            '("postgres",), ("redis",) or both.'
        )
    return tuple(kind for kind in KINDS if kind in kinds)


def _check_parts(store: StoreUnderTest) -> None:
    if not any(store.offers(call) for call in ("append", "read", "put", "get")):
        raise UsageError(
            f"{store.source}: the adapter has neither append and read, nor put and get: there is "
            "nothing to test."
        )
    for needed in PARTS.values():
        has = [call for call in needed if store.offers(call)]
        lacks = [call for call in needed if call not in has]
        if has and lacks:
            raise UsageError(f"{store.source}: the adapter has `{has[0]}` but no `{lacks[0]}`.")


def _check_refusals(store: StoreUnderTest) -> None:
    refusals = getattr(store.adapter, "refusals", ())
    fits = isinstance(refusals, Iterable) and all(
        isinstance(each, type) and issubclass(each, Exception) for each in refusals
    )
    if not fits:
        raise UsageError(
            f"{store.source}: refusals is {refusals!r}; it should list classes of exceptions, such "
            "as (ValueError,)."
        )
    if Exception in refusals:
        raise UsageError(
            f"{store.source}: refusals has Exception, so that any fault would pass for a refusal; it "
            "should list the errors that callers of the store are meant to know, such as (ValueError,)."
        )


def error_line(error: BaseException) -> str:
    """Return the class and the text of whatever the user's code raised, in one line."""
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())[:300].rstrip(".")
    except BaseException as second:  # noqa: BLE001 - an error of the user's own class
        text = f"(its text cannot be had: {type(second).__name__})"
    return f"{name}: {text}" if text else name
