"""What a project says of itself: Pythons, dependencies, and what it has pinned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from memory_matrix.matrix.places import what_is_at
from memory_matrix.matrix.read import PYPROJECT, TABLE
from memory_matrix.serializers.builtin import PROJECTS
from memory_matrix.starting import poetry
from memory_matrix.toml import tomllib

REQUIREMENTS = "requirements.txt"
ROLES = Path(__file__).with_name("roles.toml")


@dataclass(frozen=True)
class Project:
    """What matters of a project for its memory."""

    root: Path
    pythons: SpecifierSet = field(default_factory=SpecifierSet)
    """What `requires-python` allows; everything where it is not there."""
    requirements: tuple[Requirement, ...] = ()
    """Those of its dependencies that have to do with memory, one for each project."""
    source: str = PYPROJECT
    """The file that names them."""
    has_matrix: bool = False
    """Whether pyproject.toml has the matrix already."""
    notes: tuple[str, ...] = ()
    """Sentences on what could not be read."""

    @property
    def serializers(self) -> tuple[str, ...]:
        """The built-in serializers that need nothing, and those whose library it depends on."""
        named = {canonicalize_name(each.name) for each in self.requirements}
        its_own = (name for name, needs in PROJECTS.items() if canonicalize_name(needs) in named)
        return ("pickle", "json", *its_own)


def read_project(root: Path) -> Project:
    """Return what the files in the folder `root` say; what cannot be read is noted, never raised."""
    notes: list[str] = []
    table = _pyproject(root / PYPROJECT, notes)
    project = _table(table, "project")
    of_poetry = _table(_table(_table(table, TABLE[0]), "poetry"), "dependencies")
    texts = [*_dependencies(project), *poetry.requirements(of_poetry)]
    found = _parsed(texts, PYPROJECT, notes)
    source = PYPROJECT
    if not found and (root / REQUIREMENTS).is_file():
        found = _parsed(_lines(root / REQUIREMENTS, notes), REQUIREMENTS, notes)
        source = REQUIREMENTS
    if not found:
        notes.extend(_elsewhere(root, project))
    return Project(
        root=root,
        pythons=_pythons(project, of_poetry, notes),
        requirements=_of_memory(found),
        source=source,
        has_matrix=TABLE[-1] in _table(table, TABLE[0]),
        notes=tuple(notes),
    )


def _pyproject(path: Path, notes: list[str]) -> Mapping[str, Any]:
    if what_is_at(path) in {"nothing", "something else"}:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        notes.append(f"{path.name} cannot be read ({reason}), so nothing was taken from it.")
        return {}


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _dependencies(project: Mapping[str, Any]) -> Iterator[str]:
    yield from _texts(project.get("dependencies"))
    for extra in _table(project, "optional-dependencies").values():
        yield from _texts(extra)


def _elsewhere(root: Path, project: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on dependencies that are named where nothing is read, if there are such."""
    places = [name for name in ("setup.cfg", "setup.py") if (root / name).is_file()]
    dynamic = project.get("dynamic")
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        places.insert(0, f"{PYPROJECT} as dynamic")
    if places:
        yield (
            f"Dependencies in {' and '.join(places)} are not read: write those that have to do with memory"
            " into the matrix file."
        )


def _texts(value: object) -> Iterator[str]:
    yield from (
        each for each in (value if isinstance(value, list) else ()) if isinstance(each, str)
    )


def _lines(path: Path, notes: list[str]) -> list[str]:
    try:
        return file_lines(path)
    except (OSError, UnicodeDecodeError) as error:
        notes.append(f"{path.name} cannot be read ({error}), so nothing was taken from it.")
        return []


def file_lines(path: Path) -> list[str]:
    """Return the requirements in a file of pip's, without comments, hashes and options.

    Raises:
        OSError, UnicodeDecodeError: it cannot be read.
    """
    text = re.sub(r"\\\r?\n", " ", path.read_text(encoding="utf-8-sig"))
    bare = (re.split(r"(?:^|\s)(?:#|--)", line)[0].strip() for line in text.splitlines())
    return [line for line in bare if line and not line.startswith(("-", ".", "/"))]


def _parsed(texts: Iterable[str], source: str, notes: list[str]) -> list[Requirement]:
    found = []
    for text in texts:
        try:
            found.append(Requirement(text))
        except InvalidRequirement:
            notes.append(f"{source}: {text!r} is no requirement and was left out.")
    return found


def _of_memory(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    wanted = _projects()
    first: dict[str, Requirement] = {}
    for each in requirements:
        if canonicalize_name(each.name) in wanted:
            first.setdefault(canonicalize_name(each.name), each)
    return tuple(first.values())


def _projects() -> frozenset[str]:
    roles: dict[str, list[str]] = tomllib.loads(ROLES.read_text(encoding="utf-8"))
    names = (name for role in (*roles.values(), PROJECTS.values()) for name in role)
    return frozenset(map(canonicalize_name, names))


def _pythons(
    project: Mapping[str, Any], of_poetry: Mapping[str, Any], notes: list[str]
) -> SpecifierSet:
    text = project.get("requires-python", poetry.specifier(of_poetry.get("python", "*")))
    try:
        return SpecifierSet(text)
    except (InvalidSpecifier, AttributeError, TypeError):
        notes.append(
            f"requires-python is {text!r}, which says nothing of versions: write it as in '>=3.10'."
        )
        return SpecifierSet()
