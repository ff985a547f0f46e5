"""How a payload or a serializer says that this environment does not have what it needs."""

import importlib
from typing import Any, Optional


class Lacking(Exception):  # noqa: N818 - no error: the environment simply has less
    """What was asked for cannot be had in this environment. The text is one whole sentence."""


def needs(module: str, project: Optional[str] = None) -> Any:
    """Return the imported `module`, which the PyPI project `project` brings.

    Raises:
        Lacking: it is not installed.
        ImportError: it is installed and fails to import.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise
        raise Lacking(
            "Needs {}, which this environment does not have.".format(project or module)
        ) from None


def needs_python(version: str, feature: str) -> Lacking:
    """Return the `Lacking` to raise where the interpreter is older than `version`."""
    return Lacking("Needs Python {} or later for {}.".format(version, feature))
