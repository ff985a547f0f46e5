"""Which Pythons a new matrix compares: the oldest and the newest that the project allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.matrix.model import CURRENT_PYTHON

KNOWN = tuple(f"3.{minor}" for minor in range(8, 15))
"""The Pythons that environments are supported for, oldest first."""

MAINTAINED = SpecifierSet(">=3.10")
"""What is taken where a project says nothing."""

_PATCHES = range(40)


@dataclass(frozen=True)
class Pythons:
    """Some of the Pythons that a project allows, oldest first; never none."""

    values: tuple[str, ...]
    """As the matrix file names them."""
    note: str = ""
    """A sentence on what is not among them, and why."""

    @property
    def oldest(self) -> str:
        return self.values[0]

    @property
    def newest(self) -> str:
        return self.values[-1]


def choose_pythons(allowed: SpecifierSet, found: Iterable[Interpreter]) -> Pythons:
    """Return the Pythons that this machine has found and the project allows, or else what it allows."""
    wanted = allowed if len(allowed) else MAINTAINED
    here = _minors(found, wanted)
    known = [minor for minor in KNOWN if _is_allowed(minor, wanted)]
    if here:
        return Pythons(tuple(here), _narrower(here, known) if len(allowed) else "")
    if not known or not len(allowed):
        return Pythons((CURRENT_PYTHON,), _nothing_known(allowed))
    return Pythons(
        tuple(known),
        f"requires-python allows {_span(known)}, and this machine has none of these: get them with"
        f" `uv python install {known[-1]}`, or run with --download-pythons.",
    )


def _minors(found: Iterable[Interpreter], wanted: SpecifierSet) -> list[str]:
    versions = sorted(
        Version(each.version)
        for each in found
        if each.implementation == "cpython" and not each.free_threaded
    )
    usable = (each for each in versions if not each.is_prerelease and each >= Version(KNOWN[0]))
    return list(dict.fromkeys(f"{each.major}.{each.minor}" for each in usable if each in wanted))


def _is_allowed(minor: str, wanted: SpecifierSet) -> bool:
    return any(wanted.contains(f"{minor}.{patch}") for patch in _PATCHES)


def _narrower(here: list[str], known: list[str]) -> str:
    if not known or {known[0], known[-1]} <= set(here):
        return ""
    return f"requires-python allows {_span(known)}; of these this machine has {_span(here)}."


def _nothing_known(allowed: SpecifierSet) -> str:
    if not len(allowed):
        return "No Python from 3.10 on was found but the one that runs memory-matrix."
    return (
        f"requires-python is {str(allowed)!r}, which allows no Python from {KNOWN[0]} to {KNOWN[-1]}: the"
        " one that runs memory-matrix was taken."
    )


def _span(minors: list[str]) -> str:
    if len(minors) == 1:
        return f"Python {minors[0]}"
    return f"Python {minors[0]} {'and' if len(minors) == 2 else 'to'} {minors[-1]}"
