"""Exact versions that a project has written down: what production runs, as far as files say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from memory_matrix.starting.project import REQUIREMENTS, file_lines
from memory_matrix.toml import tomllib

Pins = Mapping[str, str]
"""Exact versions by normalised project name."""


def read_pins(root: Path) -> tuple[str, Pins]:
    """Return the name of the first lock file in `root` that pins anything, and what it pins.

    Where a file holds several releases of a project, for several Pythons, it is the oldest of them. Files
    that cannot be read pin nothing; without any, the name is empty.
    """
    for name, reader in _READERS.items():
        path = root / name
        if path.is_file() and (pins := _oldest(reader, path)):
            return name, pins
    return "", {}


def _oldest(reader: Callable[[Path], Iterator[tuple[str, str]]], path: Path) -> Pins:
    pins: dict[str, Version] = {}
    try:
        for name, text in reader(path):
            key, version = canonicalize_name(name), Version(text)
            pins[key] = min(version, pins.get(key, version))
    except (OSError, ValueError, TypeError, KeyError, RecursionError, InvalidVersion):
        return {}
    return {name: str(version) for name, version in pins.items()}


def _locked(key: str) -> Callable[[Path], Iterator[tuple[str, str]]]:
    """Return what reads a lock in TOML that lists its packages under `key`."""

    def read(path: Path) -> Iterator[tuple[str, str]]:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        for package in table[key]:
            if "version" in package:  # the project itself has none
                yield str(package["name"]), str(package["version"])

    return read


def _required(path: Path) -> Iterator[tuple[str, str]]:
    for line in file_lines(path):
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if version := pinned_version(requirement):
            yield requirement.name, version


def pinned_version(requirement: Requirement) -> str | None:
    """Return the one version that a requirement allows, or None where it allows others."""
    for each in requirement.specifier:
        if each.operator in {"==", "==="} and not each.version.endswith("*"):
            return each.version
    return None


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "uv.lock": _locked("package"),
    "poetry.lock": _locked("package"),
    "pdm.lock": _locked("package"),
    "pylock.toml": _locked("packages"),
    "requirements.lock": _required,
    REQUIREMENTS: _required,
}
"""How to read each file, those first that say most surely what is installed."""
