"""From a project's folder to the files that it needs, with what has to be said of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memory_matrix.environments.interpreters import everything
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.uv_commands import open_uv
from memory_matrix.matrix.read import FILE, PYPROJECT
from memory_matrix.starting import files
from memory_matrix.starting.choosing import (
    Chosen,
    Index,
    UnknownError,
    assume,
    choose_environments,
)
from memory_matrix.starting.files import StartingFile
from memory_matrix.starting.locks import read_pins
from memory_matrix.starting.models import find_models, source_folder
from memory_matrix.starting.project import Project, read_project
from memory_matrix.starting.pythons import choose_pythons

_PATIENCE = 20.0
"""Seconds that the package index has for each question."""


@dataclass(frozen=True)
class Start:
    """What `init` has for a folder."""

    matrix: StartingFile
    payloads: StartingFile
    workflow: StartingFile
    notes: tuple[str, ...]
    """Sentences on what could not be read, or is otherwise than asked for."""

    @property
    def files(self) -> tuple[StartingFile, ...]:
        return self.matrix, self.payloads, self.workflow

    def is_unnamed(self) -> bool:
        """Return whether the matrix file that is there says nothing of the payloads file."""
        try:
            return self.payloads.path.name not in self.matrix.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False

    def is_unchecked(self) -> bool:
        """Return whether the workflow that is there says nothing of the folder, which is not its top."""
        if self.folder == ".":
            return False
        named = rf"^\s*working-directory:\s*([\"']?)(\./)?{re.escape(self.folder)}/?\1\s*(#.*)?$"
        try:
            text = self.workflow.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        return re.search(named, text, re.MULTILINE) is None

    @property
    def folder(self) -> str:
        """The project's folder, as the workflow has to name it."""
        return files.folder_in_repository(self.payloads.path.parent)


def make_start(root: Path) -> Start:
    """Return the files for the folder `root`, absolute; nothing is written.

    Interpreters are asked, and the package index where the project depends on something: only where
    there is no matrix yet.
    """
    project = read_project(root)
    name = files.payloads_name(root)
    matrix, notes = _matrix(root, project, name)
    return Start(
        matrix=matrix,
        payloads=files.payloads_file(root, name, find_models(root)),
        workflow=files.workflow_file(root),
        notes=(*project.notes, *notes),
    )


def _matrix(root: Path, project: Project, payloads: str) -> tuple[StartingFile, tuple[str, ...]]:
    if project.has_matrix:
        return StartingFile(root / PYPROJECT, "", "the matrix in [tool.memory-matrix]"), ()
    if os.path.lexists(root / FILE):
        return StartingFile(root / FILE, "", "the matrix"), ()
    environments, notes = _environments(root, project)
    made = files.matrix_file(root, project, environments, payloads, source_folder(root))
    return made, (*notes, *_alike(*environments))


def _environments(root: Path, project: Project) -> tuple[tuple[Chosen, Chosen], tuple[str, ...]]:
    pythons = choose_pythons(project.pythons, everything())
    notes = (pythons.note,) if pythons.note else ()
    locked = read_pins(root)
    uv = replace(open_uv(Runner(), root), timeout=_PATIENCE)
    try:
        return choose_environments(project, pythons, locked, Index(uv)), notes
    except UnknownError as error:
        unasked = f"The package index could not be asked what goes together: {error}."
        return assume(project, pythons, locked), (*notes, unasked)


def _alike(production: Chosen, following: Chosen) -> Iterator[str]:
    if (production.python, production.packages) == (following.python, following.packages):
        yield (
            f"production and next are alike ({files.described(production)}), so that nothing can break"
            " yet: write into the matrix file what differs."
        )
