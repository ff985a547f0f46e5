"""The files that `memory-matrix init` writes: their places, their texts, and how they get there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Literal

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.matrix.model import CURRENT_PYTHON
from memory_matrix.matrix.read import FILE
from memory_matrix.starting.choosing import Chosen
from memory_matrix.starting.models import Model
from memory_matrix.starting.project import Project

WORKFLOW = Path(".github/workflows/memory-matrix.yml")
PAYLOADS = "payloads.py"
OTHER_PAYLOADS = "memory_payloads.py"
"""Where `payloads.py` is something else of the project's own."""

Done = Literal["written", "to be written", "there already"]

_TEMPLATES = Path(__file__).with_name("templates")
_SHOWN = 3
"""So many packages stand on one line."""


@dataclass(frozen=True)
class StartingFile:
    """A file to be put into a repository."""

    path: Path
    text: str
    what: str
    """What it is, in a few words."""


def matrix_file(
    root: Path,
    project: Project,
    environments: tuple[Chosen, Chosen],
    payloads: str,
    folder: str,
) -> StartingFile:
    """Return the matrix file; `folder` is where the project's modules are imported from."""
    production, following = environments
    path = "" if folder == "." else f'\npath = ["{folder}"]'
    text = _filled(
        "memory-matrix.toml.txt",
        production_python=production.python,
        production_why=production.why,
        production_packages=_packages(production),
        next_python=following.python,
        next_why=following.why,
        next_packages=_packages(following),
        path=path,
        serializers=_list(project.serializers),
        payloads=payloads,
    )
    pair = " and ".join(
        f"{name} with {described(each)}"
        for name, each in (("production", production), ("next", following))
    )
    return StartingFile(root / FILE, text, f"the matrix: {pair}")


def described(chosen: Chosen) -> str:
    """Return what an environment has, in short."""
    python = (
        "the Python that runs this"
        if chosen.python == CURRENT_PYTHON
        else f"Python {chosen.python}"
    )
    names = [f"{each.name}{each.specifier}" for each in chosen.packages]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return ", ".join((python, *names[:_SHOWN], *more))


def payloads_file(root: Path, name: str, models: Iterable[Model]) -> StartingFile:
    """Return the payloads file, with the names of classes that may belong into it."""
    lines = [f"#     from {each.module} import {each.name}  # {each.kind}" for each in models]
    said = (
        ["#", "# Classes of this project that may be part of it:", "#", *lines, ""] if lines else []
    )
    return StartingFile(
        root / name, _filled("payloads.py.txt", models="\n".join(said)), "what the agent remembers"
    )


def workflow_file(root: Path) -> StartingFile:
    """Return the workflow; GitHub reads it at the top of the repository that `root` is in."""
    folder = folder_in_repository(root)
    inside = "" if folder == "." else f"\n          working-directory: {json.dumps(folder)}"
    text = _filled("workflow.yml.txt", working_directory=inside)
    return StartingFile(repository(root) / WORKFLOW, text, "the check on GitHub")


def folder_in_repository(root: Path) -> str:
    """Return the folder `root` from the top of its repository on; `.` where it is that."""
    return root.relative_to(repository(root)).as_posix()


def payloads_name(root: Path) -> str:
    """Return the name of the payloads file: another one where `payloads.py` holds no payloads."""
    path = root / PAYLOADS
    if not os.path.lexists(path):
        return PAYLOADS
    try:
        is_ours = path.is_file() and "def payload_" in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        is_ours = False
    return PAYLOADS if is_ours else OTHER_PAYLOADS


def repository(root: Path) -> Path:
    """Return the top of the git repository that `root` is in; `root` itself where it is in none."""
    for folder in (root, *root.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    return root


def put(file: StartingFile, *, dry: bool = False) -> Done:
    """Write a file where nothing is, and say what was done; what is there is left as it is.

    Raises:
        MemoryMatrixError: it cannot be written.
    """
    if os.path.lexists(file.path):
        return "there already"
    if dry:
        return "to be written"
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(file)
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(file.path):
            return "there already"  # another run was first
        where = error.filename or file.path
        raise MemoryMatrixError(
            f"{file.path} cannot be written ({where}: {error.strerror}): give yourself the right to, or"
            " name another folder with --dir."
        ) from None
    return "written"


def _write_new(file: StartingFile) -> None:
    """Write a file that is whole, or is not there: half of one would be taken for the user's own."""
    with ExitStack() as undo:
        with file.path.open("x", encoding="utf-8", newline="\n") as stream:
            undo.callback(file.path.unlink)
            stream.write(file.text)
        undo.pop_all()


def _filled(name: str, **values: str) -> str:
    return Template((_TEMPLATES / name).read_text(encoding="utf-8")).substitute(values)


def _packages(chosen: Chosen) -> str:
    """Return the packages as TOML has them, on a line of their own each where there are many."""
    texts = [str(each) for each in chosen.packages]
    if len(texts) <= _SHOWN:
        return _list(texts)
    lines = "".join(f"  {_text(each)},\n" for each in texts)
    return f"[\n{lines}]"


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    """Return a text as TOML writes it: as it stands where it can, for markers are full of quotes."""
    literal = '"' in text and "'" not in text and text.isprintable()
    return f"'{text}'" if literal else json.dumps(text, ensure_ascii=False)
