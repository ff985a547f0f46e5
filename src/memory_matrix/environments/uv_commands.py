"""Running uv: its binary, the variables it gets, and what it says when it fails."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_matrix.environments.pip_settings import uv_options, uv_settings
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.words import shorten
from memory_matrix.errors import MemoryMatrixError

_LEAKING = frozenset(
    {
        "CONDA_DEFAULT_ENV",
        "CONDA_PREFIX",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "UV_BREAK_SYSTEM_PACKAGES",
        "UV_MANAGED_PYTHON",
        "UV_NO_MANAGED_PYTHON",
        "UV_PREFIX",
        "UV_PROJECT",
        "UV_PROJECT_ENVIRONMENT",
        "UV_PYTHON",
        "UV_PYTHON_PREFERENCE",
        "UV_SYSTEM_PYTHON",
        "UV_TARGET",
        "UV_VENV_CLEAR",
        "UV_VENV_RELOCATABLE",
        "UV_VENV_SEED",
        "UV_VENV_SYSTEM_SITE_PACKAGES",
        "UV_WORKING_DIR",
        "UV_WORKING_DIRECTORY",
        "VIRTUAL_ENV",
        "__PYVENV_LAUNCHER__",
    }
)
"""Variables of the environment that memory-matrix itself runs in, or that choose another one."""


_FINDING = threading.Lock()
"""Held while uv is looked for: it asks sysconfig, which answers None to one thread while another one asks
for the first time."""

_LOOK_FOR_PACKAGES = frozenset({"build", "pip"})
_OFFLINE_SIGNS = ("Failed to fetch", "error sending request", "network was disabled")


class UvError(Exception):
    """uv refused or failed; the text is its own reason, shortened."""

    def __init__(self, reason: str, stderr: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.stderr = stderr
        """All that it said, which may hold credentials."""

    @property
    def offline(self) -> bool:
        """Whether the network, and not the requirements, was the reason."""
        said = " ".join(self.stderr.split())  # uv breaks lines where its terminal ends
        return any(sign in said for sign in _OFFLINE_SIGNS)

    def advice(self, otherwise: str) -> str:
        """Return what to do where the network was the reason, else `otherwise`."""
        if self.offline:
            return "Check the network, or which package index uv and pip are told to use."
        return otherwise


@dataclass(frozen=True)
class Uv:
    """A uv binary with the variables and the folder that it runs in."""

    binary: str
    environ: Mapping[str, str]
    runner: Runner
    cwd: Path | None = None
    """Where uv looks for the `uv.toml` or `pyproject.toml` that configure it."""
    index_options: tuple[str, ...] = ()
    """Given to the commands that look for packages."""
    timeout: float | None = None
    """Seconds that a command may take; None for as long as it needs."""

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """Run uv and return what it printed.

        Raises:
            UvError: it failed.
            subprocess.TimeoutExpired: it took more than `timeout`.
        """
        options = self.index_options if arguments[0] in _LOOK_FOR_PACKAGES else ()
        done = self.runner.run(
            (self.binary, *arguments, *options),
            environ=self.environ,
            cwd=self.cwd,
            stdin=stdin,
            timeout=self.timeout,
        )
        if done.code:
            reason = shorten(done.stderr) or f"uv ended with status {done.code} and no word"
            raise UvError(reason, done.stderr)
        return done.stdout


def open_uv(runner: Runner, cwd: Path | None = None) -> Uv:
    """Return the uv that was installed with memory-matrix.

    Raises:
        MemoryMatrixError: it is not there.
    """
    import uv

    try:
        with _FINDING:
            binary = uv.find_uv_bin()
    except FileNotFoundError:
        raise MemoryMatrixError(
            "The uv binary that memory-matrix builds environments with is missing: reinstall it "
            "with `pip install --force-reinstall uv`."
        ) from None
    return Uv(binary, uv_environ(os.environ), runner, cwd, uv_options(os.environ))


def uv_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that uv runs with: those of `environ` without what would leak into venvs.

    Where only pip is set up to use another index, uv is told of it.
    """
    return {
        **without_leaks(environ),
        **uv_settings(environ),
        "NO_COLOR": "1",
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "manual",
    }


def without_leaks(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` without what belongs to the environment that memory-matrix itself runs in."""
    return {name: value for name, value in environ.items() if name not in _LEAKING}
