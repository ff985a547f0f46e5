"""`memory-matrix report`: a saved report, shown again."""

from __future__ import annotations

import argparse
from pathlib import Path

from memory_matrix.commands.ending import print_report
from memory_matrix.commands.options import (
    Commands,
    Parser,
    add_volume,
    command,
)

_EPILOG = """\
exit codes:
  0  it is shown
  2  the report or the command line is wrong

examples:
  memory-matrix report -v                       everything there is
  memory-matrix report --from out --format markdown
"""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "report",
        "show a saved report again",
        "Render the report that an earlier run saved.",
        _EPILOG,
    )
    made.add_argument(
        "--from", dest="source", type=Path, default=Path("memory-matrix-report"), metavar="PATH",
        help="report.json, or the folder that holds it (default: %(default)s)",
    )  # fmt: skip
    made.add_argument(
        "--format", choices=("terminal", "markdown", "json"), default="terminal",
        help="default: %(default)s",
    )  # fmt: skip
    add_volume(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    import json

    from memory_matrix.report import files, markdown
    from memory_matrix.report.model import to_json

    report = files.load(options.source)
    if options.format == "json":
        print(json.dumps(to_json(report), indent=2))
    elif options.format == "markdown":
        print(markdown.render(report), end="")
    else:
        print_report(report, options)
    return 0
