"""`memory-matrix init`: a matrix file, payloads and a workflow for a repository that has none."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.options import Commands, Parser, command
from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from memory_matrix.starting.files import Done, StartingFile
    from memory_matrix.starting.making import Start

_EPILOG = """\
what it writes, where nothing of that name is yet:
  memory-matrix.toml                    production and next, from pyproject.toml and its lock file
  payloads.py                           what your agent remembers, with an example that runs
  .github/workflows/memory-matrix.yml   the check on GitHub, at the top of the repository

exit codes:
  0  all of it is there now
  2  the command line is wrong
  4  a file cannot be written

examples:
  memory-matrix init && memory-matrix compat
  memory-matrix init --dir services/agent --dry-run
"""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "init",
        "put a matrix file, payloads and a workflow into a repository",
        "Write what a repository needs to run memory-matrix, made from its pyproject.toml.\n"
        "Nothing is asked, and nothing that is there is changed.",
        _EPILOG,
    )
    made.add_argument(
        "--dir", type=Path, default=Path(), metavar="DIR",
        help="the project's folder (default: this one)",
    )  # fmt: skip
    made.add_argument("--dry-run", action="store_true", help="only say what would be written")
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.starting.files import put
    from memory_matrix.starting.making import make_start

    start = make_start(_folder(options.dir))
    done: dict[StartingFile, Done] = {}
    for file in start.files:
        done[file] = put(file, dry=options.dry_run)
        print(f"{done[file].capitalize()}: {_shown(file.path)} ({file.what})")
    print("".join(f"note: {note}\n" for note in start.notes), end="")
    print("\n".join(_next_steps(start, done)))
    return 0


def _folder(given: Path) -> Path:
    if not given.is_dir():
        raise UsageError(f"--dir: there is no folder {given}; name that of your project.")
    return given.resolve()


def _next_steps(start: Start, done: Mapping[StartingFile, Done]) -> Iterator[str]:
    if "to be written" in done.values():
        yield "Nothing was written, since this was a dry run."
        return
    payloads, matrix = start.payloads.path.name, start.matrix.path.name
    yield "Next:"
    if start.is_unnamed():
        yield f'  - name "{payloads}" in {matrix}, in the list `payloads` of [compat];'
    if start.is_unchecked():
        yield (
            f'  - add to {_shown(start.workflow.path)} a step with working-directory: "{start.folder}", for it'
            " checks another folder;"
        )
    yield "  - run `memory-matrix compat`: its reports go to memory-matrix-report/, for your .gitignore;"
    yield f"  - write into {payloads} what your agent keeps, and into {matrix} what production runs;"
    yield "  - commit these files: the workflow then checks each push and pull request."


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
