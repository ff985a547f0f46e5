"""Import the library that an adapter is for, when it is first needed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memory_matrix.errors import UsageError
from memory_matrix.stores.protocol import NotOffered


def required(project: str, module: str, name: str) -> Any:
    """Return `name` of `module`, which the PyPI project `project` brings.

    Raises:
        UsageError: it cannot be imported here.
    """
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"{module}.{name} cannot be imported ({_line(error)}): add a {project} that has it to "
            "the environment's packages."
        ) from error


def refusals(project: str, module: str, *names: str) -> tuple[type[Exception], ...]:
    """Return the errors by which a library refuses: Python's usual ones, and those `names` of `module`.

    Those are what a client says of connections and servers, which the library's callers give it. What it
    says of data is no refusal but a value that the library should have checked or cleaned.

    Raises:
        UsageError: one of them cannot be imported here.
    """
    own = (required(project, module, name) for name in names)
    return (ValueError, TypeError, LookupError, *own)


def offered(project: str, module: str, name: str) -> Any:
    """Return `name` of `module`, or what refuses every use where the installed release has it not.

    Raises:
        UsageError: there is no release of `project` at all.
    """
    try:
        return required(project, module, name)
    except UsageError:
        try:
            return _Absent(f"{project} {version(project)} has no {name}")
        except PackageNotFoundError:
            pass
        raise


class _Absent:
    """Stands for what a release has not: whatever is wanted of it is not offered."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        raise NotOffered(self._reason)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotOffered(self._reason)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
