"""`memory-matrix suite`: stores under test, on real servers."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    SUITE_TERMS,
    Commands,
    Parser,
    add_environment_options,
    add_matrix_options,
    add_report_options,
    add_shard_options,
    add_suite_options,
    command,
)
from memory_matrix.commands.preparing import (
    given_matrix,
    given_options,
    nothing_to_do,
    read_matrix,
    run_options,
    selected,
    shown_progress,
    suite_options,
)
from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.running import RunOptions

_EPILOG = f"""\
a store of your own is tested through an adapter of some 30 lines; docs/your-store.md shows one.

{EXIT_CODES}
examples:
  memory-matrix suite                           the matrix of this folder, or the reference stores
  memory-matrix suite --store app/memory.py:adapter
  memory-matrix suite --store app/memory.py:adapter --select 'case=ttl_*'
  memory-matrix suite --postgres image:pgvector/pgvector:pg17 --redis image:redis:8.0
  memory-matrix suite --shard 1/3               a third of it, for `memory-matrix merge`
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
    add_shard_options(made)
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
    if options.shard is not None:
        return _shard(options, matrix, run, given)
    if options.durations is not None:
        raise UsageError("--durations shares work out among shards; say which one with --shard.")
    report = run_suite(matrix, run, shown_progress(options), **suite_options(options))
    return ended(replace(report, given=given), options)


def _shard(
    options: argparse.Namespace, matrix: Matrix, run: RunOptions, given: tuple[str, ...]
) -> int:
    """Run a shard, save what it found, and return the exit code of that."""
    from memory_matrix.matrix.packing import Seconds
    from memory_matrix.suite.run import run_suite_shard
    from memory_matrix.suite.shards import save_suite

    head, report = run_suite_shard(
        matrix,
        run,
        shown_progress(options),
        options.shard,
        options.durations or Seconds(),
        **suite_options(options),
    )
    save = partial(
        save_suite,
        replace(head, given=given),
        report_dir=options.report_dir,
        waivers=matrix.suite.waivers,
        servers=[each.name for each in matrix.servers],
        also=options.also,
    )
    report = replace(report, given=given)
    if not head.units[head.place.number - 1]:
        save(report)
        print(f"note: {nothing_to_do(head)}", file=sys.stderr)
        return 0
    return ended(report, options, save)
