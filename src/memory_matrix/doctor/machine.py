"""What is on the machine, whatever the matrix: interpreters, uv, a Docker engine, the cache."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from memory_matrix.doctor.model import Check
from memory_matrix.environments.cache import CACHE_VARIABLE
from memory_matrix.environments.interpreters import Interpreter, everything
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.uv_commands import open_uv
from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.report.visible import counted
from memory_matrix.servers.binaries import user_for
from memory_matrix.servers.engine import ask_engine

LITTLE = 2 << 30
"""Bytes free on the cache's disk below which builds are likely to fail."""

_INTERPRETER_PATIENCE = 5.0
_ENGINE_PATIENCE = 1.5
_COUNTING = 1.2
"""Seconds for adding up how large the cache is."""
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def check_pythons(runner: Runner) -> Iterator[Check]:
    """Yield a check for each minor version of Python that is found."""
    found = everything(patience=_INTERPRETER_PATIENCE, runner=runner)
    for title, several in groupby(found, _title):
        texts = (f"{each.version} at {each.path}" for each in several)
        yield Check(title, "ok", ", ".join(texts))


def _title(found: Interpreter) -> str:
    minor = ".".join(found.version.split(".")[:2])
    other = "" if found.implementation == "cpython" else f" ({found.implementation})"
    return f"Python {minor}{'t' * found.free_threaded}{other}"


def check_uv(runner: Runner) -> Iterator[Check]:
    """Yield the check of uv, which builds the environments."""
    try:
        uv = open_uv(runner)
        version = uv("--version").split()
    except MemoryMatrixError as error:
        yield Check("uv", "problem", str(error), "pip install --force-reinstall uv", needed=True)
        return
    yield Check("uv", "ok", f"{version[1] if version[1:] else 'of no version'} at {uv.binary}")


def check_engine(images: Sequence[ServerSource]) -> Iterator[Check]:
    """Yield the check of the Docker engine, and those of the images that the matrix names."""
    try:
        answer = ask_engine({each.value for each in images}, timeout=_ENGINE_PATIENCE)
    except UnavailableError as error:
        found, _, advice = str(error).rpartition(": ")
        if not images:
            advice = "nothing, as long as the matrix names no image"
        yield Check("Docker engine", "missing", found, advice, needed=bool(images))
        return
    yield Check("Docker engine", "ok", f"{answer.version} at {answer.address}")
    for each in images:
        if answer.images[each.value]:
            yield Check(each.text, "ok", "on this machine")
        else:
            yield Check(
                each.text, "missing", "not on this machine", "nothing: the first run pulls it"
            )


def check_user(servers: Sequence[ServerSource]) -> Iterator[Check]:
    """Yield a problem where a server of a wheel or a binary is Postgres and cannot be run by root."""
    try:
        for each in servers:
            if each.form in {"wheel", "bin"}:
                user_for(each.kind)
    except UnavailableError as error:
        found, _, advice = str(error).rpartition(": ")
        yield Check("user for Postgres", "problem", found, advice, needed=True)


def check_cache(cache: Path) -> Iterator[Check]:
    """Yield the check of the cache: its place, its content, and the room on its disk."""
    place = _existing(cache)
    free = shutil.disk_usage(place).free
    room = f"{_sized(free)} free"
    content = _content(cache)
    if not os.access(place, os.W_OK | os.X_OK):
        yield Check(
            "cache", "problem", f"{cache} cannot be written",
            f"give yourself the right to, or set {CACHE_VARIABLE} to another folder", needed=True,
        )  # fmt: skip
    elif free < LITTLE:
        advice = f"make room, or set {CACHE_VARIABLE} to a folder on another disk"
        yield Check("cache", "problem", f"{cache}: {content}, only {room}", advice)
    else:
        yield Check("cache", "ok", f"{cache}: {content}, {room}")


def _existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that is there."""
    return next(each for each in (path, *path.parents) if each.exists())


def _content(cache: Path) -> str:
    if not cache.is_dir():
        return "nothing yet"
    entries = (cache / "environments").glob("*/pyvenv.cfg")
    return f"{counted(len(list(entries)), 'environment')}, {_measured(cache)}"


@dataclass
class _Sum:
    """What a walk has seen so far."""

    deadline: float
    total: int = 0

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline


def _measured(folder: Path) -> str:
    """Return how large a folder is; what there was time to see where it is large."""
    seen = _Sum(time.monotonic() + _COUNTING)
    _add(folder, seen)
    return f"{'more than ' * seen.is_late}{_sized(seen.total)}"


def _add(folder: str | Path, seen: _Sum) -> None:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if seen.is_late:
                    return
                if entry.is_dir(follow_symlinks=False):
                    _add(entry.path, seen)
                else:
                    seen.total += entry.stat(follow_symlinks=False).st_size
    except OSError:  # removed meanwhile, or another user's
        return


def _sized(number: float) -> str:
    for unit in _UNITS[:-1]:
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} {_UNITS[-1]}"
