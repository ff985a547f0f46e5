"""`memory-matrix report`: a saved report, shown again in any format."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.ending import compared, print_report, remember
from memory_matrix.commands.options import (
    Commands,
    Parser,
    add_comparing,
    add_volume,
    command,
)
from memory_matrix.errors import UsageError
from memory_matrix.report.formats import FORMATS

if TYPE_CHECKING:
    from memory_matrix.report.model import Report

_LISTED = "\n".join(f"  {name:<10}{each.about}" for name, each in FORMATS.items())

_EPILOG = f"""\
formats:
{_LISTED}

exit codes:
  0  it is shown
  2  the report or the command line is wrong, or the output cannot be written

examples:
  memory-matrix report -v                       everything there is
  memory-matrix report --from out --format markdown
  memory-matrix report --format junit --output results/memory.xml
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
        "--format", choices=tuple(FORMATS), default="terminal", metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: %(default)s)",
    )  # fmt: skip
    made.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="write it to this file, in place of what is there (default: -, standard output)",
    )  # fmt: skip
    made.add_argument("--label", metavar="TEXT", help="what a badge stands for; for --format badge")
    add_comparing(made)
    add_volume(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.report import files

    if options.label is not None and options.format != "badge":
        raise UsageError(f"--label is for --format badge; {options.format} has no label.")
    report = compared(files.load(options.source), options)
    if options.output not in {None, Path("-")}:
        _refuse_to_lose(options)
        files.write_one(_pieces(report, options), options.output)
    elif options.format == "terminal":
        print_report(report, options)
    else:
        _print(_pieces(report, options))
    remember(report, options)
    return 0


def _pieces(report: Report, options: argparse.Namespace) -> Iterable[str]:
    if options.format == "terminal" and options.verbose:
        from memory_matrix.report import terminal
        from memory_matrix.report.page import Look

        return (terminal.render(report, Look(width=100, verbose=True)),)
    if options.label is not None:
        from memory_matrix.report import badge

        return (badge.render(report, options.label),)
    return FORMATS[options.format].pieces(report)


def _print(pieces: Iterable[str]) -> None:
    """Print what says of itself that it is UTF-8 as that, whatever the terminal has."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.writelines(pieces)


def _refuse_to_lose(options: argparse.Namespace) -> None:
    """Raise where the output would take the place of the report that it is made from."""
    from memory_matrix.report.files import JSON_NAME

    source = options.source / JSON_NAME if options.source.is_dir() else options.source
    output = options.output
    if options.format != "json" and output.exists() and output.samefile(source):
        raise UsageError(
            f"--output {str(output)!r} is the report itself, which {options.format} cannot stand in"
            " for; name another file."
        )
