"""What an exception says, in a form that two runs can compare."""

import os
import re
import sys
import traceback
import typing

from memory_matrix.worker.naming import stable_text, type_name

LONGEST_MESSAGE = 2000

_SITE_PACKAGES = re.compile(r"[/\\](site|dist)-packages[/\\]")

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
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return "%s:%d" % (os.path.basename(code.co_filename), code.co_firstlineno)


def defined(function: typing.Any) -> typing.Dict[str, typing.Any]:
    """Return the file and the line where the user defines a payload; nothing for what is built in."""
    code = getattr(function, "__code__", None)
    if code is None or str(getattr(function, "__module__", "")).startswith("memory_matrix."):
        return {}
    return {"file": code.co_filename, "line": code.co_firstlineno}


def syntax_place(error: BaseException) -> str:
    """Return where a file could not be parsed, or an empty string."""
    if isinstance(error, SyntaxError) and error.lineno:
        return "line %d: " % error.lineno
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if frame.f_code.co_filename.startswith(sys.prefix):
            continue
        return "line %d: " % line
    return ""
