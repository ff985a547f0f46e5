"""The command line's options and what its help says of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn, TypeAlias

from memory_matrix import __version__
from memory_matrix.errors import UsageError

_COMPAT_TERMS = "writer=old reader=new serializer=pickle payload=tool_calls"
_SUITE_TERMS = "store=PostgresStore case=ttl_* server=pg17"
_RUN_TERMS = "environment=next serializer=json"

_DESCRIPTION = """\
Find what breaks in AI-agent memory when versions change.

memory-matrix writes memory in each environment of a matrix (Python versions, package versions,
releases of your app), keeps the bytes on real Redis and Postgres servers, reads them in every other
environment, and reports what breaks. Without a matrix file it runs a small built-in matrix.
"""

_EXIT_CODES = """\
exit codes:
  0  nothing that fail-on names
  1  it found some
  2  the matrix file or the command line is wrong
  3  an environment or a server that the matrix requires could not be had
  4  the tool itself could not do its work
  130, 143  it was interrupted (Ctrl-C), or told to end (SIGTERM)
"""

_EPILOG = f"""\
{_EXIT_CODES}
examples:
  memory-matrix compat                          write, read and compare what this folder's matrix says
  memory-matrix suite                           test stores on real servers
  memory-matrix run                             both
  memory-matrix plan                            show what the matrix file expands to
  memory-matrix compat --select 'serializer=pickle reader=next'
  memory-matrix report --from memory-matrix-report
"""

_COMPAT_EPILOG = f"""\
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

{_EXIT_CODES}
examples:
  memory-matrix compat --fail-on drifted        fail on less than a break
  memory-matrix compat --select 'writer=old reader=new payload=tool_*'
  memory-matrix compat -c ci/memory-matrix.toml --report-dir out --strict
"""

_SUITE_EPILOG = f"""\
a store of your own is tested through an adapter of some 30 lines; docs/your-store.md shows one.

{_EXIT_CODES}
examples:
  memory-matrix suite                           the matrix of this folder, or the reference stores
  memory-matrix suite --store app/memory.py:adapter
  memory-matrix suite --store app/memory.py:adapter --select 'case=ttl_*'
  memory-matrix suite --postgres image:pgvector/pgvector:pg17 --redis image:redis:8.0
"""

_RUN_EPILOG = f"""\
{_EXIT_CODES}
examples:
  memory-matrix run                             everything in the matrix of this folder
  memory-matrix run --select 'environment=next'
"""

_PLAN_EPILOG = """\
exit codes:
  0  it is shown
  2  the matrix file or the command line is wrong

examples:
  memory-matrix plan -c ci/memory-matrix.toml
  memory-matrix plan --select 'writer=old' --json
"""

_REPORT_EPILOG = """\
exit codes:
  0  it is shown
  2  the report or the command line is wrong

examples:
  memory-matrix report -v                       everything there is
  memory-matrix report --from out --format markdown
"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong as every other error of the tool is said."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\nSee `{self.prog} --help`.")


_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no other name


def parser() -> Parser:
    """Return the parser; what it gives has the command's name as `command`."""
    made = Parser(
        prog="memory-matrix",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"memory-matrix {__version__}")
    commands = made.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for add in (_add_run, _add_compat, _add_suite, _add_plan, _add_report):
        add(commands)
    return made


def _add_compat(commands: _Commands) -> None:
    command = _command(
        commands,
        "compat",
        "find what one environment writes and another cannot read",
        "Write every payload with every serializer in every environment, pass the bytes through the\n"
        "servers, read them in every environment, and report what breaks.",
        _COMPAT_EPILOG,
    )
    _add_matrix_options(command)
    _add_report_options(command)
    _add_environment_options(command)


def _add_run(commands: _Commands) -> None:
    command = _command(
        commands,
        "run",
        "run compat and suite, with one report",
        "Do what `compat` does, then what `suite` does, on the whole matrix, and write one report.",
        _RUN_EPILOG,
    )
    _add_matrix_options(command, _RUN_TERMS)
    _add_suite_options(command)
    _add_report_options(command)
    _add_environment_options(command)


def _add_suite(commands: _Commands) -> None:
    command = _command(
        commands,
        "suite",
        "run the memory test suite against stores on real servers",
        "Run every case of the memory test suite against each store, in every environment, on real\n"
        "Postgres and Redis servers, each case on a place of its own, and report what fails.",
        _SUITE_EPILOG,
    )
    _add_matrix_options(command, _SUITE_TERMS)
    _add_suite_options(command)
    _add_report_options(command)
    _add_environment_options(command)


def _add_suite_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("suite")
    group.add_argument(
        "--store", action="append", metavar="NAME",
        help="a store under test, module:object or file.py:object, instead of the matrix file's;"
        " may be given several times",
    )  # fmt: skip
    for kind in ("postgres", "redis"):
        group.add_argument(
            f"--{kind}", action="append", metavar="SOURCE",
            help=f"a {kind} server instead of the matrix file's: image:NAME:TAG, wheel:PROJECT==VERSION,"
            " bin:PATH or a URL; may be given several times",
        )  # fmt: skip
    group.add_argument(
        "--strategy", choices=("full", "pairwise", "axis-star"),
        help="which combinations are run (default: the matrix file's suite.strategy)",
    )  # fmt: skip
    group.add_argument(
        "--seed", type=_positive, metavar="N",
        help="order the cases as an earlier run did (default: another order each time)",
    )  # fmt: skip
    group.add_argument(
        "--redis-may-hold-data", action="store_true",
        help="use a Redis given by URL that is not empty: cases have a key prefix of their own there",
    )  # fmt: skip


def _add_plan(commands: _Commands) -> None:
    command = _command(
        commands,
        "plan",
        "show what the matrix file expands to, and run nothing",
        "Show the environments, servers, serializers and payloads that the matrix file expands to,\n"
        "and why an environment is in or out.",
        _PLAN_EPILOG,
    )
    _add_matrix_options(command)
    command.add_argument("--json", action="store_true", help="as JSON")
    _add_volume(command)


def _add_report(commands: _Commands) -> None:
    command = _command(
        commands,
        "report",
        "show a saved report again",
        "Render the report that an earlier run saved.",
        _REPORT_EPILOG,
    )
    command.add_argument(
        "--from", dest="source", type=Path, default=Path("memory-matrix-report"), metavar="PATH",
        help="report.json, or the folder that holds it (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--format", choices=("terminal", "markdown", "json"), default="terminal",
        help="default: %(default)s",
    )  # fmt: skip
    _add_volume(command)


def _command(
    commands: _Commands,
    name: str,
    help_text: str,
    description: str,
    epilog: str,
) -> Parser:
    return commands.add_parser(
        name,
        help=help_text,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_matrix_options(command: argparse.ArgumentParser, example: str = _COMPAT_TERMS) -> None:
    group = command.add_argument_group("matrix")
    group.add_argument(
        "-c", "--config", type=Path, metavar="FILE",
        help="the matrix file (default: memory-matrix.toml, or [tool.memory-matrix] in"
        " pyproject.toml, in this folder or one above it)",
    )  # fmt: skip
    group.add_argument(
        "--select", action="append", metavar="EXPR",
        help=f"run a part: KEY=GLOB terms, such as {example!r}; terms of one key are alternatives;"
        " may be given several times",
    )  # fmt: skip
    # Said by a session of nox or tox: what it runs, whatever else is selected.
    group.add_argument("--session", metavar="EXPR", help=argparse.SUPPRESS)


def _add_environment_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("environments")
    group.add_argument(
        "-j", "--jobs", type=_positive, default=None, metavar="N",
        help="environments at work at a time (default: the processors there are)",
    )  # fmt: skip
    group.add_argument(
        "--strict", action=argparse.BooleanOptionalAction, default=None,
        help="end with exit code 3 where an environment or a server cannot be had"
        " (default: where CI is set)",
    )  # fmt: skip
    group.add_argument(
        "--download-pythons", action="store_true",
        help="let uv download interpreters that are missing",
    )  # fmt: skip
    group.add_argument(
        "--refresh", action="store_true",
        help="ask the package index anew which releases fit",
    )  # fmt: skip


def _add_report_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("report")
    group.add_argument(
        "--report-dir", type=Path, default=Path("memory-matrix-report"), metavar="DIR",
        help="where report.json and report.md go (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--fail-on", choices=("break", "drifted", "changed", "never"),
        help="what ends the run with exit code 1 (default: the matrix file's compat.fail-on)",
    )  # fmt: skip
    _add_volume(group)


def _add_volume(command: argparse._ActionsContainer) -> None:
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    command.add_argument("-v", "--verbose", action="store_true", help="show everything there is")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)
