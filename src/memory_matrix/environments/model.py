"""What the environments module hands on: built environments, and why one could not be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.matrix.model import EnvironmentSpec


@dataclass(frozen=True)
class Environment:
    """An environment that is built and answers."""

    spec: EnvironmentSpec
    command: tuple[str, ...]
    """What starts its interpreter: the absolute path of the `python` in its virtual environment."""
    python: str
    """The interpreter's own version, `3.11.7`."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Exact versions installed, by normalised project name; pip and setuptools only where asked for."""
    folder: Path | None = None
    """Its virtual environment in the cache."""
    cached: bool = False
    """Whether it was there already, so that this run built nothing."""
    seconds: float = 0.0
    """How long that took."""


@dataclass(frozen=True)
class Unavailable:
    """An environment that could not be had, with one sentence that says why and what to do."""

    spec: EnvironmentSpec
    reason: str
    interpreter_missing: bool = False
    """Whether this machine only lacks the interpreter: no error where the run is not strict."""
