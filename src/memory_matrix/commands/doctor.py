"""`memory-matrix doctor`: what this machine has, and what to do about what is missing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.options import Commands, Parser, command
from memory_matrix.commands.preparing import in_ci
from memory_matrix.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from memory_matrix.doctor.model import Check, Diagnosis

_EPILOG = """\
Nothing is started, built, fetched or written. A server given by URL is asked for its version.

exit codes:
  0  all is there that the matrix needs, or that a run gets by itself (wheels, images, packages)
  2  the matrix file or the command line is wrong
  3  something is not there: the Docker engine, a server given by URL, an interpreter; where some
     interpreters alone are missing only if CI is set, since a run at home leaves these out

examples:
  memory-matrix doctor
  memory-matrix doctor --json | jq '.checks[] | select(.state != "ok")'
"""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "doctor",
        "say what is there, and what to do about what is missing",
        "Say which interpreters, servers and tools this machine has, and what the matrix still needs.",
        _EPILOG,
    )
    made.add_argument(
        "-c", "--config", type=Path, metavar="FILE",
        help="the matrix file (default: the one that a run in this folder takes)",
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="as JSON")
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    import json

    from memory_matrix.doctor.diagnosing import diagnose
    from memory_matrix.environments.cache import default_cache

    diagnosis = diagnose(options.config, Path.cwd(), default_cache(), strict=in_ci())
    if options.json:
        print(json.dumps(diagnosis.to_json(), indent=2))
    else:
        print("\n".join(_lines(diagnosis)))
    if diagnosis.refused:
        return UsageError.exit_code
    return 0 if diagnosis.is_ready else UnavailableError.exit_code


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    width = max(len(_title(each)) for each in diagnosis.checks)
    for check in diagnosis.checks:
        yield from _about(check, width)
    yield ""
    yield _verdict(diagnosis)


def _verdict(diagnosis: Diagnosis) -> str:
    from memory_matrix.report.visible import counted

    wanting = [each for each in diagnosis.checks if each.needed and each.state != "ok"]
    left_out = [each for each in diagnosis.checks if each.excused]
    if wanting:
        count = f"{counted(len(wanting), 'thing')} {'is' if len(wanting) == 1 else 'are'}"
        return f"{count} in the way of a run: {'; '.join(map(_title, wanting))}."
    if left_out:
        return (
            f"A run here leaves out the environments of {'; '.join(map(_title, left_out))}. Where CI is"
            " set, or with --strict, it ends with exit code 3 instead."
        )
    if diagnosis.matrix is None:
        return "No matrix here, and nothing is in the way of `memory-matrix compat` without one."
    return "All that the matrix needs is there, or is got by the first run."


def _about(check: Check, width: int) -> Iterator[str]:
    from memory_matrix.report.visible import visible

    first, *more = check.found.splitlines() or [""]
    yield f"{check.state:8} {_title(check):{width}}  {visible(first)}".rstrip()
    for line in more:
        yield f"{'':8} {'':{width}}  {visible(line)}"
    if check.advice:
        yield f"{'':8} {'':{width}}  -> {check.advice}"


def _title(check: Check) -> str:
    from memory_matrix.report.visible import NAME, visible

    return visible(check.what, NAME)
