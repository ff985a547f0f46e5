"""`memory-matrix plan`: what a matrix file expands to."""

from __future__ import annotations

import argparse

from memory_matrix.commands.options import (
    Commands,
    Parser,
    add_matrix_options,
    add_volume,
    command,
)
from memory_matrix.commands.preparing import print_notes, read_matrix, selected

_EPILOG = """\
exit codes:
  0  it is shown
  2  the matrix file or the command line is wrong

examples:
  memory-matrix plan -c ci/memory-matrix.toml
  memory-matrix plan --select 'writer=old' --json
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
    add_matrix_options(made)
    made.add_argument("--json", action="store_true", help="as JSON")
    add_volume(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    import json

    from memory_matrix.matrix import plan, select

    matrix = read_matrix(options)
    selection = select.parse(selected(options))
    print_notes(matrix)
    if options.json:
        print(json.dumps(plan.plan_json(matrix, selection), indent=2))
    else:
        print("\n".join(plan.lines(plan.plan(matrix, selection), verbose=options.verbose)))
    return 0
