"""What a check says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "missing", "problem"]


@dataclass(frozen=True)
class Check:
    """One thing that memory-matrix uses, and whether it is there."""

    what: str
    """Such as `Python 3.12`, `Docker engine`."""
    state: State
    found: str = ""
    """What is there: versions and places; or what is wrong. Without passwords."""
    advice: str = ""
    """What to do; empty where there is nothing to be done."""
    needed: bool = False
    """Whether the matrix cannot run as it is, for want of it."""
    excused: bool = False
    """Whether a run here only leaves out the environments that need it; a strict run does not."""


@dataclass(frozen=True)
class Diagnosis:
    """All checks, and what they are for."""

    matrix: str | None
    """The matrix file; None where there is none, or none that can be read."""
    checks: tuple[Check, ...]
    refused: bool = False
    """Whether there is a matrix file that cannot be read, or that is wrong."""

    @property
    def is_ready(self) -> bool:
        """Whether everything is there that the matrix needs and that no run gets by itself."""
        return not any(each.needed and each.state != "ok" for each in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return it as `memory-matrix doctor --json` prints it."""
        return {
            "ready": self.is_ready,
            "matrix": self.matrix,
            "checks": [asdict(each) for each in self.checks],
        }
