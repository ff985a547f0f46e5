"""What the two environments of a new matrix hold: what production has, and what comes next."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from memory_matrix.environments.uv_commands import Uv, UvError
from memory_matrix.starting.locks import Pins, pinned_version
from memory_matrix.starting.project import Project
from memory_matrix.starting.pythons import Pythons

_TRIED = 3
"""From the newest on, how many Pythons are tried for what comes next."""

Requirements = tuple[Requirement, ...]
Resolve = Callable[[Requirements, str, bool], "Pins | None"]
"""Returns the versions that requirements come to on a Python, the oldest where told so; None where they
cannot be had together."""


@dataclass(frozen=True)
class Chosen:
    """One environment of a new matrix."""

    python: str
    packages: Requirements = ()
    why: str = "Requirements as pip takes them, such as pydantic==2.5.3."
    """A sentence on the packages."""


class UnknownError(Exception):
    """The package index could not be asked."""


@dataclass(frozen=True)
class Index:
    """Asks the package index through uv, for wheels alone: nothing is built."""

    uv: Uv

    def __call__(self, requirements: Requirements, python: str, oldest: bool) -> Pins | None:
        """Return exact versions by normalised project name; None where there are none that fit.

        Raises:
            UnknownError: the index did not answer, or not in time.
        """
        order = ("--resolution", "lowest-direct") if oldest else ()
        version = ("--python-version", python) if python[0].isdigit() else ()
        try:
            output = self.uv(
                *("pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", *order),
                *(*version, "--only-binary", ":all:", "--no-emit-index-url"),
                stdin="\n".join(map(str, requirements)),
            )
        except UvError as error:
            if error.offline:
                raise UnknownError(error.reason) from None
            return None
        except subprocess.TimeoutExpired as error:
            raise UnknownError(f"no answer within {error.timeout:g} seconds") from None
        return dict(_pins(output.splitlines()))


def _pins(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, separator, rest = line.partition("==")
        if separator:
            yield canonicalize_name(name.partition("[")[0].strip()), rest.split(";")[0].strip()


def choose_environments(
    project: Project, pythons: Pythons, locked: tuple[str, Pins], resolve: Resolve
) -> tuple[Chosen, Chosen]:
    """Return what production has, as far as files say, and what comes next.

    Each is the first of some candidates that can be had, so that a new matrix runs.

    Raises:
        UnknownError: that could not be found out; `assume` tells what is likely.
    """
    if not project.requirements:
        return Chosen(pythons.oldest), Chosen(pythons.newest)
    ahead = _ahead(project, pythons)
    had = (each for each in ahead if resolve(each.packages, each.python, False) is not None)
    return _production(project, pythons, locked, resolve), next(had, ahead[0])


def assume(project: Project, pythons: Pythons, locked: tuple[str, Pins]) -> tuple[Chosen, Chosen]:
    """Return the environments as they are likely to be, without asking anybody."""
    production = next(_of_files(project, (pythons.oldest,), locked), _as_asked(project, pythons))
    return production, _ahead(project, pythons)[0]


def _production(
    project: Project, pythons: Pythons, locked: tuple[str, Pins], resolve: Resolve
) -> Chosen:
    ends = tuple(dict.fromkeys((pythons.oldest, pythons.newest)))
    for each in _of_files(project, ends, locked):
        if resolve(each.packages, each.python, False) is not None:
            return each
    bounded = tuple(filter(_has_lowest, project.requirements))
    for python in ends if bounded else ():
        pins = resolve(bounded, python, True)
        packages = tuple(_at(each, pins or {}) for each in project.requirements)
        if pins and resolve(packages, python, False) is not None:
            return Chosen(python, packages, f"The oldest releases that {project.source} allows.")
    return _as_asked(project, pythons)


def _of_files(
    project: Project, pythons: Sequence[str], locked: tuple[str, Pins]
) -> Iterator[Chosen]:
    """Yield what is pinned, on each of `pythons`."""
    name, pins = locked
    packages = tuple(_at(each, pins) for each in project.requirements)
    if any(map(pinned_version, packages)):
        for python in pythons:
            yield Chosen(python, packages, f"As pinned in {name or project.source}.")


def _ahead(project: Project, pythons: Pythons) -> list[Chosen]:
    packages = tuple(map(_unpinned, project.requirements))
    why = f"The newest releases that {project.source} allows."
    if packages != project.requirements:
        why = "The newest releases."
    newest_first = pythons.values[::-1][:_TRIED]
    return [Chosen(python, packages, why) for python in newest_first]


def _as_asked(project: Project, pythons: Pythons) -> Chosen:
    why = f"As {project.source} asks: write here what production has, such as ==1.2.3."
    return Chosen(pythons.oldest, project.requirements, why)


def _at(requirement: Requirement, pins: Pins) -> Requirement:
    version = pins.get(canonicalize_name(requirement.name))
    if version is None or requirement.url:
        return requirement
    return _with(requirement, f"=={version}")


def _has_lowest(requirement: Requirement) -> bool:
    return any(each.operator in {">=", "~=", ">"} for each in requirement.specifier)


def _unpinned(requirement: Requirement) -> Requirement:
    return requirement if pinned_version(requirement) is None else _with(requirement, "")


def _with(requirement: Requirement, specifier: str) -> Requirement:
    made = Requirement(str(requirement))
    made.specifier = SpecifierSet(specifier)
    return made
