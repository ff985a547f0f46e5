"""What a run of the suite says to its crews, as lines of JSON: see `memory_matrix.suite.crew`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What stores say of themselves."""

    stores: Sequence[str]
    root: str
    """The folder that they are looked for in."""


@dataclass(frozen=True)
class Wish:
    """What a crew is to do."""

    arguments: Sequence[str]
    """Those of each pytest."""
    workers: int
    results: str
    """The file of results, to which cases are added whose process died."""
    temporary: str
    """The folder for temporary files."""
    own: Sequence[str] = ()
    """Modules of this package, and clients of servers, that are needed besides."""
