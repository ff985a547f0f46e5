"""Names and texts that mean the same on every interpreter."""

import re
import sys
import typing

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,16}\b")

_RENAMED = {
    "_sre.SRE_Pattern": "re.Pattern",  # Python 3.6
    "_sre.SRE_Match": "re.Match",
    "numpy.bool": "numpy.bool_",  # numpy 2
}
"""Other names that some release has for the same class."""


def type_name(kind: typing.Any) -> str:
    """Return where a class or function is publicly found: not `pathlib._local` but `pathlib.Path`."""
    module = getattr(kind, "__module__", None)
    name = getattr(kind, "__qualname__", None) or getattr(kind, "__name__", "?")
    if not isinstance(module, str) or module == "builtins":
        return str(name)
    full = _public_module(module, str(name), kind) + "." + str(name)
    return _RENAMED.get(full, full)


def _public_module(module: str, name: str, kind: object) -> str:
    parts = module.split(".")
    while len(parts) > 1 and any(part.startswith("_") for part in parts):
        parts.pop()
        if _lookup(".".join(parts), name) is kind:
            return ".".join(parts)
    return module


def _lookup(module: str, name: str) -> object:
    found: typing.Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def stable_text(text: str) -> str:
    """Return `text` without memory addresses."""
    return _ADDRESS.sub("0x...", text)
