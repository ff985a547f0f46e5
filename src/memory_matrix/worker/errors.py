"""What an exception says, in a form that two runs can compare."""

import contextlib
import functools
import inspect
import os
import re
import traceback
import typing

from memory_matrix.worker.naming import stable_text, type_name

LONGEST_MESSAGE = 2000

_SITE_PACKAGES = re.compile(r"[/\\](site|dist)-packages[/\\]")
_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_PYTHON = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
"""Folders of this package, and of Python's library."""

Error = typing.Dict[str, typing.Any]


class Scrubber:
    """Removes from messages what differs from run to run: folders of the run and of the environment."""

    def __init__(self, folders: typing.Dict[str, str]) -> None:
        self._folders = sorted(folders.items(), key=lambda item: -len(item[0]))

    def error(self, stage: str, error: BaseException) -> Error:
        """Return `error` as results carry it; `importing` names a module whose import raised it."""
        described = {"stage": stage, "type": type_name(type(error)), "message": self._text(error)}
        module = importing(error)
        if module is not None:
            described["importing"] = module
        return described

    def _text(self, error: BaseException) -> str:
        try:
            text = str(error)
        except Exception as second:
            text = "(its text cannot be had: %s)" % type_name(type(second))
        return self.clean(text)

    def clean(self, text: str) -> str:
        """Return `text` without addresses and folders of this run, cut to a bearable length."""
        for folder, name in self._folders:
            text = text.replace(folder, name)
        text = stable_text(text)
        return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "..."


def importing(error: BaseException) -> typing.Optional[str]:
    """Return the top-level module whose import was under way when `error` was raised, if any."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_filename == "<frozen importlib._bootstrap>" and code.co_name == "_find_and_load":
            return str(frame.f_locals.get("name", "")).partition(".")[0] or None
        if code.co_name == "<module>" and _SITE_PACKAGES.search(code.co_filename):
            return str(frame.f_globals.get("__name__", "")).partition(".")[0] or None
    return None


def installed(module: str) -> bool:
    """Say whether `module` belongs to the environment's own packages, rather than to the user."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return False
    places = [spec.origin] if spec and spec.origin else list(
        (spec and spec.submodule_search_locations) or ()
    )  # fmt: skip
    return any(place and _SITE_PACKAGES.search(place) for place in places)


def location(function: typing.Any) -> typing.Optional[str]:
    """Return where a payload is defined, such as `payloads.py:12`."""
    code = _code(function)
    if code is None:
        return None
    return "%s:%d" % (os.path.basename(code.co_filename), code.co_firstlineno)


def defined(function: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return the file and the line where the user defines a payload; nothing for what is built in."""
    code = _code(function)
    if code is None or code.co_filename.startswith(_OWN):
        return {}
    return {"file": code.co_filename, "line": code.co_firstlineno}


def _code(function: typing.Any) -> typing.Any:
    """Return the code that the user wrote of what is called: below decorators and partial calls."""
    with contextlib.suppress(ValueError):  # it wraps itself
        function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__"):
        function = getattr(type(function), "__call__", None)  # noqa: B004 - not whether it has one
    return getattr(function, "__code__", None)


def import_place(error: BaseException) -> typing.Dict[str, typing.Any]:
    """Return the file and the line at which the import of a file of the user's ended, and both in words.

    That is the first of these on the way to what raised. Where that is in another file of the user's,
    such as the app, the words name that one too.
    """
    way = [
        (frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        way.append((error.filename, error.lineno))
    places = [(file, line) for file, line in way if _is_users(file)]
    if not places:
        return {"place": ""}
    file, last = places[0][0], places[-1]
    line = [line for each, line in places if each == file][-1]
    where = "" if last[0] == file else " (%s:%d)" % (_from_folder_of(file, last[0]), last[1])
    return {"place": "line %d%s: " % (line, where), "file": file, "line": line}


def _is_users(file: str) -> bool:
    """Say whether a file is neither of this package, nor of Python, nor installed, nor none at all."""
    return not file.startswith(("<", _OWN, _PYTHON)) and not _SITE_PACKAGES.search(file)


def _from_folder_of(file: str, other: str) -> str:
    """Return the path of `other` from the folder of `file`, where it is in that."""
    folder = os.path.join(os.path.dirname(file), "")
    return other[len(folder) :] if other.startswith(folder) else os.path.basename(other)
