"""Exceptions, as kept from failed tool calls."""

import builtins
import sys
from typing import Any, Iterator, Optional

from memory_matrix.payloads.lacking import needs_python


class ToolError(Exception):
    """A tool failed; says which and with what code."""

    def __init__(self, tool: str, code: int) -> None:
        super().__init__(tool, code)
        self.tool = tool
        self.code = code


def payload_exception() -> Any:
    """A built-in exception with its arguments."""
    return ValueError("no such train", 6603)


def payload_exception_class() -> Any:
    """An exception of the app's own class, with attributes."""
    return ToolError("search", 503)


def payload_exception_os() -> Any:
    """An OSError, whose subclass follows from its number."""
    return OSError(2, "No such file or directory", "memory.json")


def probe_exception_os(value: Any) -> Any:
    """Read its type and what it says about the file."""
    return [type(value).__name__, value.errno, value.strerror, value.filename]


def payload_exception_cause() -> Any:
    """An exception with the cause it was raised from."""
    error = RuntimeError("the plan failed")
    error.__cause__ = ToolError("search", 503)
    return error


def probe_exception_cause(value: Any) -> Any:
    """List the chain of causes: type and arguments of each."""
    return [[type(each).__name__, list(each.args)] for each in _chain(value)]


def payload_exception_group() -> Any:
    """An ExceptionGroup of two failed tools (Python 3.11 and later)."""
    if sys.version_info >= (3, 11):
        return builtins.ExceptionGroup(
            "two tools failed", [ToolError("search", 503), KeyError("seat")]
        )
    raise needs_python("3.11", "ExceptionGroup")


def payload_exception_notes() -> Any:
    """An exception with a note added to it (Python 3.11 and later)."""
    if sys.version_info >= (3, 11):
        error = ValueError("no such train")
        error.add_note("while booking seat 14")
        return error
    raise needs_python("3.11", "notes on exceptions")


def payload_exception_asyncio_timeout() -> Any:
    """An asyncio.TimeoutError (the built-in TimeoutError since Python 3.11)."""
    import asyncio  # here, since no other payload needs what it loads

    return asyncio.TimeoutError("search took more than 10 s")


def _chain(error: Optional[BaseException]) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
