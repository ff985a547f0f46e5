"""`memory-matrix compat`: who can read whose memory."""

from __future__ import annotations

import argparse
from pathlib import Path

from memory_matrix.commands import compat_read, compat_write
from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    NO_SHARDS,
    Commands,
    Parser,
    add_environment_options,
    add_matrix_options,
    add_report_options,
    add_shard_options,
    command,
)
from memory_matrix.commands.preparing import run_options, selected_matrix, shown_progress
from memory_matrix.errors import UsageError

_EPILOG = f"""\
a small memory-matrix.toml:
  [[environment]]
  name = "production"
  python = "3.11"
  packages = ["pydantic==2.5.3"]

  [[environment]]
  name = "next"
  python = "3.13"
  packages = ["pydantic>=2.9"]

  [compat]
  serializers = ["pickle", "app/codec.py:codec"]
  payloads = ["builtin", "payloads.py"]

{EXIT_CODES}
examples:
  memory-matrix compat --fail-on drifted        fail on less than a break
  memory-matrix compat --select 'writer=old reader=new payload=tool_*'
  memory-matrix compat -c ci/memory-matrix.toml --report-dir out --strict

on many machines, in this order:
  memory-matrix compat write --shard 1/3        a third of the environments writes
  memory-matrix compat read --shard 1/3 --from downloads
                                                a third of them reads all that was written
  memory-matrix merge downloads                 judges it, and reports what one machine would
"""

_STEPS = {"write": compat_write.call, "read": compat_read.call}


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "compat",
        "find what one environment writes and another cannot read",
        "Write every payload with every serializer in every environment, pass the bytes through the\n"
        "servers, read them in every environment, and report what breaks.",
        _EPILOG,
    )
    made.add_argument(
        "step", nargs="?", metavar="write|read",
        help="do one step alone, a shard of it on each of many machines (default: all of compat, here)",
    )  # fmt: skip
    add_matrix_options(made)
    add_report_options(made)
    add_environment_options(made)
    group = add_shard_options(made)
    group.add_argument(
        "--from", dest="sources", action="extend", nargs="+", type=Path, metavar="PATH",
        help="where `compat read` finds all that was written (default: the report folder)",
    )  # fmt: skip
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.compat.run import run_compat

    if options.step != "read" and options.sources is not None:
        raise UsageError("--from says what `compat read` reads; only that step takes it.")
    if options.step is not None:
        return _step(options)
    if options.shard is not None or options.durations is not None:
        raise UsageError(NO_SHARDS.format("compat"))
    matrix, selection = selected_matrix(options)
    report = run_compat(matrix, run_options(options, selection), shown_progress(options))
    return ended(report, options)


def _step(options: argparse.Namespace) -> int:
    if options.step not in _STEPS:
        raise UsageError(
            f"compat has the steps {' and '.join(_STEPS)}, and no {options.step!r}."
            "\nSee `memory-matrix compat --help`."
        )
    return _STEPS[options.step](options)
