"""`memory-matrix plan`: what a matrix file expands to."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.options import (
    RUN_TERMS,
    Commands,
    Parser,
    add_durations,
    add_given_options,
    add_matrix_options,
    add_volume,
    command,
)
from memory_matrix.commands.preparing import given_matrix, print_notes, read_matrix, selected
from memory_matrix.errors import MemoryMatrixError, UsageError

if TYPE_CHECKING:
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.matrix.select import Selection

_EPILOG = """\
exit codes:
  0  it is shown
  2  the matrix file or the command line is wrong

examples:
  memory-matrix plan -c ci/memory-matrix.toml
  memory-matrix plan --select 'writer=old' --json
  memory-matrix plan --github --jobs 8
"""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "plan",
        "show what the matrix file expands to, and run nothing",
        "Show the environments, servers, serializers and payloads that the matrix file expands to,\n"
        "and why an environment is in or out.",
        _EPILOG,
    )
    add_matrix_options(made, RUN_TERMS)
    add_given_options(made)
    made.add_argument("--json", action="store_true", help="as JSON")
    group = made.add_argument_group("past one machine", "docs/many-machines.md says how")
    group.add_argument(
        "--github", action="store_true",
        help="write the jobs that the work is packed into to $GITHUB_OUTPUT, for strategy.matrix; with"
        " --json, print them",
    )  # fmt: skip
    group.add_argument(
        "--jobs", type=job_count, metavar="N",
        help="at most so many jobs of a kind, up to 256 (default: 20)",
    )  # fmt: skip
    group.add_argument(
        "--for", dest="wanted", choices=("run", "compat", "suite"),
        help="the command whose work is packed (default: run)",
    )  # fmt: skip
    add_durations(group)
    add_volume(made)
    return made


def job_count(text: str) -> int:
    """Return the number of jobs that `text` is."""
    from memory_matrix.matrix.jobs import MOST_JOBS

    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_JOBS}")
    return int(text)


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    import json

    from memory_matrix.github.log import guarded_output
    from memory_matrix.matrix import plan, select

    of_jobs = (options.jobs, options.durations, options.wanted)
    if not options.github and any(each is not None for each in of_jobs):
        raise UsageError("--jobs, --for and --durations are about the jobs of --github; add that.")
    matrix = given_matrix(options, read_matrix(options))
    selection = select.parse(selected(options))
    print_notes(matrix)
    if options.github:
        return _github(options, matrix, selection)
    if options.json:
        print(json.dumps(plan.plan_json(matrix, selection), indent=2))
    else:
        with guarded_output():
            print("\n".join(plan.lines(plan.plan(matrix, selection), verbose=options.verbose)))
    return 0


def _github(options: argparse.Namespace, matrix: Matrix, selection: Selection) -> int:
    """Write the jobs, or print them, and return the exit code."""
    import json

    from memory_matrix.github import outputs
    from memory_matrix.github.log import guarded_output
    from memory_matrix.matrix.jobs import JOBS, Wanted, plan_jobs

    wanted: Wanted = options.wanted or "run"
    jobs = plan_jobs(matrix, selection, options.jobs or JOBS, options.durations, wanted)
    values = jobs.outputs()
    if options.json:
        print(json.dumps(values, indent=2))
        return 0
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        raise UsageError(
            "--github writes to the file that GITHUB_OUTPUT names, which is not set outside GitHub Actions;"
            " with --json it prints the same here."
        )
    texts = {name: json.dumps(value) for name, value in values.items()}
    try:
        outputs.write(Path(path), texts)
    except OSError as error:
        raise MemoryMatrixError(
            f"The plan cannot be written to {path!r}, which GITHUB_OUTPUT names: {error.strerror or error}."
        ) from error
    with guarded_output():
        for job in (*jobs.write, *jobs.read, *jobs.suite):
            print(job.name)
    return 0
