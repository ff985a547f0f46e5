"""`memory-matrix suite`: stores under test, on real servers."""

from __future__ import annotations

import argparse
from dataclasses import replace

from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    SUITE_TERMS,
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
    read_matrix,
    run_options,
    selected,
    shown_progress,
    suite_options,
)

_EPILOG = f"""\
a store of your own is tested through an adapter of some 30 lines; docs/your-store.md shows one.

{EXIT_CODES}
examples:
  memory-matrix suite                           the matrix of this folder, or the reference stores
  memory-matrix suite --store app/memory.py:adapter
  memory-matrix suite --store app/memory.py:adapter --select 'case=ttl_*'
  memory-matrix suite --postgres image:pgvector/pgvector:pg17 --redis image:redis:8.0
"""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "suite",
        "run the memory test suite against stores on real servers",
        "Run every case of the memory test suite against each store, in every environment, on real\n"
        "Postgres and Redis servers, each case on a place of its own, and report what fails.",
        _EPILOG,
    )
    add_matrix_options(made, SUITE_TERMS)
    add_suite_options(made)
    add_report_options(made)
    add_environment_options(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.matrix import select
    from memory_matrix.suite.run import run_suite

    matrix = given_matrix(options, read_matrix(options, alone=True))
    given = given_options(options, matrix)
    selection = select.parse(selected(options))
    matrix = select.narrow(matrix, selection, "suite")
    run = run_options(options, selection)
    report = run_suite(matrix, run, shown_progress(options), **suite_options(options))
    return ended(replace(report, given=given), options)
