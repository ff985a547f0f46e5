"""`memory-matrix compat`: who can read whose memory."""

from __future__ import annotations

import argparse

from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    Commands,
    Parser,
    add_environment_options,
    add_matrix_options,
    add_report_options,
    command,
)
from memory_matrix.commands.preparing import run_options, selected_matrix, shown_progress

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
"""


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
    add_matrix_options(made)
    add_report_options(made)
    add_environment_options(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.compat.run import run_compat

    matrix, selection = selected_matrix(options)
    report = run_compat(matrix, run_options(options, selection), shown_progress(options))
    return ended(report, options)
