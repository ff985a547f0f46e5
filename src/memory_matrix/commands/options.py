"""Options that several commands share, and what their help says of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from memory_matrix.errors import UsageError
from memory_matrix.report.formats import ALWAYS, FORMATS

if TYPE_CHECKING:
    from memory_matrix.matrix.packing import Seconds, Shard
    from memory_matrix.report.model import Report

COMPAT_TERMS = "writer=old reader=new serializer=pickle payload=tool_calls"
SUITE_TERMS = "store=PostgresStore case=ttl_* server=pg17"
RUN_TERMS = "environment=next serializer=json"

NO_SHARDS = (
    "--shard and --durations: `memory-matrix {}` is for one machine; on many, run `compat write --shard I/N`, then"
    " `compat read --shard I/N` with all that was written, `suite --shard I/N`, and `merge`."
)

EXIT_CODES = """\
exit codes:
  0  nothing that fail-on names
  1  it found some
  2  the matrix file or the command line is wrong
  3  an environment or a server that the matrix requires could not be had
  4  the tool itself could not do its work
  130, 143  it was interrupted (Ctrl-C), or told to end (SIGTERM)
"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong as every other error of the tool is said."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\nSee `{self.prog} --help`.")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse what is not known here, where the options that may be meant are."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return found, unknown

    def _meant(self, unknown: Sequence[str]) -> str:
        from difflib import get_close_matches

        options = [each.partition("=")[0] for each in unknown if each.startswith("-")]
        close = [get_close_matches(each, self._option_string_actions, n=1) for each in options]
        meant = next(filter(None, close), None)
        return f"; did you mean {meant[0]}?" if meant else ""


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no other name


def add_suite_options(command: argparse.ArgumentParser) -> None:
    """Add what says which stores the suite runs against, where and how."""
    group = add_given_options(command)
    group.add_argument(
        "--seed", type=positive, metavar="N",
        help="order the cases as an earlier run did (default: another order each time)",
    )  # fmt: skip
    group.add_argument(
        "--redis-may-hold-data", action="store_true",
        help="use a Redis given by URL that is not empty: cases have a key prefix of their own there",
    )  # fmt: skip


def add_given_options(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what says other stores and servers than the matrix file; return the group that they are in."""
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
    return group


def add_shard_options(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what says which share of the work is done here; return the group that they are in."""
    group = command.add_argument_group("past one machine", "docs/many-machines.md says how")
    group.add_argument(
        "--shard", type=shard, metavar="I/N",
        help="do the first, second, ... of N shares of the work, such as 2/4, and leave for `merge` what"
        " it finds",
    )  # fmt: skip
    add_durations(group)
    return group


def add_durations(group: argparse._ActionsContainer) -> None:
    """Add what says how long everything took before."""
    group.add_argument(
        "--durations", type=durations, metavar="PATH",
        help="the report.json of an earlier run, or its folder: share the work out by how long it took"
        " there (the same file for every shard)",
    )  # fmt: skip


def durations(text: str) -> Seconds:
    """Return how long everything took in the run whose report is at the path `text`.

    Raises:
        UsageError: there is none that can be read.
    """
    from memory_matrix.report.durations import load_seconds

    try:
        return load_seconds(Path(text))
    except UsageError as error:
        raise UsageError(f"--durations: {error}") from None


def command(
    commands: Commands,
    name: str,
    help_text: str,
    description: str,
    epilog: str,
) -> Parser:
    """Return the new command `name`."""
    return commands.add_parser(
        name,
        help=help_text,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_matrix_options(command: argparse.ArgumentParser, example: str = COMPAT_TERMS) -> None:
    """Add what says which matrix, and which part of it; `example` is shown for --select."""
    group = command.add_argument_group("matrix")
    add_config(
        group,
        " (default: memory-matrix.toml, or [tool.memory-matrix] in pyproject.toml, in this folder or one"
        " above it)",
    )
    group.add_argument(
        "--select", action="append", metavar="EXPR",
        help=f"run a part: KEY=GLOB terms, such as {example!r}; terms of one key are alternatives;"
        " may be given several times",
    )  # fmt: skip
    # Said by a session of nox or tox: what it runs, whatever else is selected.
    group.add_argument("--session", metavar="EXPR", help=argparse.SUPPRESS)


def add_config(group: argparse._ActionsContainer, default: str = "") -> None:
    """Add what says which matrix file; `default` says what is taken without it."""
    group.add_argument(
        "-c", "--config", type=Path, metavar="FILE", help=f"the matrix file{default}"
    )


def add_environment_options(command: argparse.ArgumentParser) -> None:
    """Add what says how environments are had."""
    group = command.add_argument_group("environments")
    group.add_argument(
        "-j", "--jobs", type=positive, default=None, metavar="N",
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


def add_report_options(command: argparse.ArgumentParser) -> None:
    """Add what says where the report goes, and what fails the run."""
    group = command.add_argument_group("report")
    group.add_argument(
        "--report-dir", type=report_folder, default="memory-matrix-report", metavar="DIR",
        help="where the report's files go (default: %(default)s)",
    )  # fmt: skip
    more = [name for name in FORMATS if name not in ALWAYS]
    group.add_argument(
        "--also", action="append", choices=more, default=[], metavar="FORMAT",
        help=f"also write the report there as {', '.join(more)}; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--fail-on", choices=("new-breaks", "break", "drifted", "changed", "never"),
        help="what ends the run with exit code 1 (default: the matrix file's compat.fail-on)",
    )  # fmt: skip
    add_comparing(group)
    add_volume(group)
    _add_github_options(command)


def _add_github_options(command: argparse.ArgumentParser) -> None:
    """Add what a step of GitHub Actions shows of the report besides its log."""
    group = command.add_argument_group("GitHub Actions", "without effect elsewhere")
    group.add_argument(
        "--annotations", action=argparse.BooleanOptionalAction, default=None,
        help="annotate what breaks where the code is (default: yes, but not for a shard)",
    )  # fmt: skip
    group.add_argument(
        "--summary", action=argparse.BooleanOptionalAction, default=None,
        help="add the report to the job summary (default: yes, but not for a shard)",
    )  # fmt: skip
    group.add_argument(
        "--summary-title", metavar="TEXT", help="a heading for the job summary",
    )  # fmt: skip
    group.add_argument(
        "--artifact", metavar="NAME",
        help="the artifact that the workflow makes of the report folder: the summary points to it",
    )  # fmt: skip


def add_comparing(group: argparse._ActionsContainer) -> None:
    """Add what the report is compared with, and where its numbers are kept."""
    group.add_argument(
        "--baseline", type=earlier, metavar="PATH",
        help="the report.json of an earlier run, or its folder: say what is new and what is fixed",
    )  # fmt: skip
    group.add_argument(
        "--history", type=history, metavar="FILE",
        help="add a line of JSON with the numbers of this run to this file",
    )  # fmt: skip


def report_folder(text: str) -> Path:
    """Return the path `text`, to which reports can be written.

    Raises:
        UsageError: they cannot.
    """
    from memory_matrix.report.folders import check_folder

    path = Path(text)
    check_folder(path)
    return path


@dataclass(frozen=True)
class Earlier:
    """An earlier report, read before the run takes its time, and perhaps its place."""

    source: str
    """As the user named it."""
    report: Report


def earlier(text: str) -> Earlier:
    """Return the report at the path `text`.

    Raises:
        UsageError: there is none that can be read.
    """
    from memory_matrix.report import files

    try:
        return Earlier(text, files.load(Path(text)))
    except UsageError as error:
        raise UsageError(f"--baseline: {error}") from None


def history(text: str) -> Path:
    """Return the path `text`, to which the numbers of a run can be added.

    Raises:
        UsageError: something else is there, or nothing can be made there.
    """
    from memory_matrix.report.history import check

    path = Path(text)
    check(path)
    return path


def add_volume(command: argparse._ActionsContainer) -> None:
    """Add what says how much is shown."""
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    command.add_argument("-v", "--verbose", action="store_true", help="show everything there is")


def shard(text: str) -> Shard:
    """Return the shard that `text` names.

    Raises:
        UsageError: it names none.
    """
    from memory_matrix.matrix import packing

    return packing.parse_shard(text)


def positive(text: str) -> int:
    """Return the whole number of 1 or more that `text` is."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)
