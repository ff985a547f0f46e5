"""What a run of the suite says to its crews, as lines of JSON: see `memory_matrix.suite.crew`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LOADING = 300.0
"""Seconds after which a process that loads stores, or ends, counts as hanging."""


@dataclass(frozen=True)
class Question:
    """What stores say of themselves."""

    stores: Sequence[str]
    root: str
    """The folder that they are looked for in."""
    patience: float = LOADING
    """Seconds that loading them may take."""


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
    longest: float = math.inf
    """Seconds after which a process is killed that is still at one case."""
    loading: float = LOADING
    """Seconds that a process may take until its first case, and from its last one to its end."""
