"""`memory-matrix run`: compat and the suite, with one report."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    NO_SHARDS,
    RUN_TERMS,
    Commands,
    Parser,
    add_environment_options,
    add_matrix_options,
    add_report_options,
    add_suite_options,
    command,
)
from memory_matrix.commands.preparing import (
    given_matrix,
    given_options,
    print_notes,
    read_matrix,
    run_options,
    selected,
    shown_progress,
    suite_options,
)
from memory_matrix.errors import UsageError

_EPILOG = f"""\
{EXIT_CODES}
examples:
  memory-matrix run                             everything in the matrix of this folder
  memory-matrix run --select 'environment=next'
"""


_NO_SUITE = (
    "note: the matrix file has no [suite], so this is compat alone; name your store in [suite], or by --store,"
    " to run the memory test suite on it too."
)


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "run",
        "run compat and suite, with one report",
        "Do what `compat` does, then what `suite` does, on the whole matrix, and write one report. A matrix\n"
        "file without [suite] names no store of yours: then, without --store, it is compat alone.",
        _EPILOG,
    )
    add_matrix_options(made, RUN_TERMS)
    add_suite_options(made)
    add_report_options(made)
    add_environment_options(made)
    made.add_argument("--shard", help=argparse.SUPPRESS)  # said in a sentence of its own
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.compat.run import run_compat
    from memory_matrix.matrix import select
    from memory_matrix.report.joining import joined
    from memory_matrix.suite.run import run_suite

    if options.shard is not None:
        raise UsageError(NO_SHARDS.format("run"))
    matrix = given_matrix(options, read_matrix(options))
    given = given_options(options, matrix)
    selection = select.parse(selected(options))
    run = run_options(options, selection)
    progress = shown_progress(options)
    if not matrix.asks_for_suite:
        print(_NO_SUITE, file=sys.stderr)
        compat = select.narrow(matrix, selection)
        print_notes(compat)
        return ended(run_compat(compat, run, progress), options)
    parts = select.narrow_parts(matrix, selection)
    print_notes(parts["compat"])
    suite = run_suite(parts["suite"], run, progress, **suite_options(options))
    suite = replace(suite, given=given)
    if not parts["compat"].compat.serializers:
        return ended(suite, options)
    return ended(joined(run_compat(parts["compat"], run, progress), suite), options)
