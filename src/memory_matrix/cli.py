"""The command line: options in, one call, exit code out."""

from __future__ import annotations

import argparse
import io
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from memory_matrix import __version__
from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError

if TYPE_CHECKING:
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.matrix.select import Selection
    from memory_matrix.progress import Progress
    from memory_matrix.report.model import EnvironmentRecord, Report, ServerRecord

INTERRUPTED = 130

CLEANING = 5.0
"""Seconds after a signal to end in which others are taken for the same wish."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

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
  memory-matrix compat                          run the matrix of this folder
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; every error is one paragraph on stderr."""
    _prepare_streams()
    try:
        with _signals():
            return _run(arguments)
    except MemoryMatrixError as error:
        print(f"memory-matrix: error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"memory-matrix: error: {_about(error)}", file=sys.stderr)
        return MemoryMatrixError.exit_code
    except KeyboardInterrupt:
        print("memory-matrix: interrupted; everything it started is stopped.", file=sys.stderr)
        return INTERRUPTED
    except _TerminatedError as terminated:
        print("memory-matrix: terminated; everything it started is stopped.", file=sys.stderr)
        return 128 + terminated.number


def _run(arguments: Sequence[str] | None) -> int:
    try:
        try:
            options = _parser().parse_args(arguments)
            return int(options.run(options))
        finally:
            _flush()
    except BrokenPipeError:  # nobody reads: `| head`
        return 128 + signal.SIGPIPE


def _flush() -> None:
    """Print what is not printed yet, or let it go: Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _prepare_streams() -> None:
    """See to it that nothing which is printed can fail for where it is printed to."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us: `>&-`
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold any character


def _about(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"The system does not let it: {where}{error.strerror or error}."


class _TerminatedError(BaseException):
    """SIGTERM or SIGHUP, raised in the main thread so that everything is cleaned up on its way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _signals() -> Iterator[None]:
    """Raise an exception in the main thread when a signal asks this process to end.

    What follows it within seconds, such as a second Ctrl-C, must not disturb the cleaning up.
    """
    last = -math.inf

    def end(number: int, _: object) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < CLEANING:
            return
        last = now
        raise KeyboardInterrupt if number == signal.SIGINT else _TerminatedError(number)

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # `nohup`, or in the background of a script
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as every other error of the tool is said."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\nSee `{self.prog} --help`.")


_Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # noqa: SLF001 - it has no other name


def _parser() -> _Parser:
    parser = _Parser(
        prog="memory-matrix",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"memory-matrix {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_compat(commands)
    _add_plan(commands)
    _add_report(commands)
    return parser


def _add_compat(commands: _Commands) -> None:
    command = _command(
        commands,
        "compat",
        _compat,
        "find what one environment writes and another cannot read",
        "Write every payload with every serializer in every environment, pass the bytes through the\n"
        "servers, read them in every environment, and report what breaks.",
        _COMPAT_EPILOG,
    )
    _add_matrix_options(command)
    _add_report_options(command)
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


def _add_plan(commands: _Commands) -> None:
    command = _command(
        commands,
        "plan",
        _plan,
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
        _report,
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
    run: object,
    help_text: str,
    description: str,
    epilog: str,
) -> _Parser:
    command = commands.add_parser(
        name,
        help=help_text,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.set_defaults(run=run)
    return command


def _add_matrix_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("matrix")
    group.add_argument(
        "-c", "--config", type=Path, metavar="FILE",
        help="the matrix file (default: memory-matrix.toml, or [tool.memory-matrix] in"
        " pyproject.toml, in this folder or one above it)",
    )  # fmt: skip
    group.add_argument(
        "--select", metavar="EXPR",
        help="run a part: KEY=GLOB terms, such as 'writer=old reader=new serializer=pickle"
        " payload=tool_calls'; terms of one key are alternatives",
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


def _compat(options: argparse.Namespace) -> int:
    from memory_matrix.compat.run import run_compat
    from memory_matrix.environments.cache import default_cache
    from memory_matrix.report import files, sentences
    from memory_matrix.running import RunOptions

    matrix, selection = _matrix(options)
    strict = bool(os.environ.get("CI")) if options.strict is None else options.strict
    run = RunOptions(
        cache=default_cache(),
        jobs=options.jobs or _processors(),
        strict=strict,
        download=options.download_pythons,
        refresh=options.refresh,
        selection=selection,
    )
    report = run_compat(matrix, run, _progress(options))
    try:
        _print_report(report, options)  # first: a full disk must not cost the findings
    finally:  # nobody reading them must not cost the report
        written = files.write(report, options.report_dir)
    if not options.quiet:
        print(sentences.verdict(report), file=sys.stderr)  # the first line has scrolled away
        print(f"Report: {', '.join(map(str, written))}", file=sys.stderr)
    return exit_code(report, strict=strict)


def exit_code(report: Report, *, strict: bool) -> int:
    """Return 1 where the report has what `fail-on` names, else 0.

    Raises:
        UnavailableError: what the matrix requires could not be had. An interpreter that this machine
            lacks is excused where the run is not strict and other environments were run.
        UsageError: every cell was skipped.
    """
    from memory_matrix.report.model import failing

    missing: list[EnvironmentRecord | ServerRecord] = [
        *(each for each in report.environments if each.status != "ready"),
        *(each for each in report.servers if each.status != "ready"),
    ]
    excused = not strict and all(getattr(each, "interpreter_missing", False) for each in missing)
    if missing and not (excused and report.cells):
        lines = "".join(f"\n  {each.name}: {each.reason}" for each in missing)
        raise UnavailableError(f"what the matrix requires could not be had:{lines}")
    if all(cell.outcome == "skipped" for cell in report.cells):
        reasons = {cell.error.message for cell in report.cells if cell.error is not None}
        raise UsageError(
            "nothing was compared, every cell was skipped; the report says why"
            + "".join(f"\n  {reason}" for reason in sorted(reasons)[:5])
        )
    return 1 if failing(report) else 0


def _plan(options: argparse.Namespace) -> int:
    import json

    from memory_matrix.matrix import plan

    matrix, _ = _matrix(options)
    if options.json:
        print(json.dumps(plan.plan_json(matrix), indent=2))
    else:
        print("\n".join(plan.lines(plan.plan(matrix), verbose=options.verbose)))
    return 0


def _report(options: argparse.Namespace) -> int:
    import json

    from memory_matrix.report import files, markdown
    from memory_matrix.report.model import to_json

    report = files.load(options.source)
    if options.format == "json":
        print(json.dumps(to_json(report), indent=2))
    elif options.format == "markdown":
        print(markdown.render(report), end="")
    else:
        _print_report(report, options)
    return 0


def _matrix(options: argparse.Namespace) -> tuple[Matrix, Selection]:
    from memory_matrix.matrix import plan, read, select

    source = options.config or read.find(Path.cwd())
    if source is None:
        print(
            "No matrix file here: this is the built-in quick matrix. To make your own, write a"
            " memory-matrix.toml; `memory-matrix compat --help` shows a small one.",
            file=sys.stderr,
        )
    matrix = read.builtin_quick(Path.cwd()) if source is None else read.read(source)
    selection = select.parse(options.select or "")
    matrix = select.narrow(matrix, selection)
    for note in plan.notes(matrix):
        print(f"note: {note}", file=sys.stderr)
    if getattr(options, "fail_on", None):
        matrix = replace(matrix, compat=replace(matrix.compat, fail_on=options.fail_on))
    return matrix, selection


def _progress(options: argparse.Namespace) -> Progress:
    from memory_matrix.progress import Progress

    if options.quiet:
        return Progress("nothing")
    return Progress("bars" if sys.stderr.isatty() else "lines")


def _print_report(report: Report, options: argparse.Namespace) -> None:
    from memory_matrix.report import terminal

    terminal.show(report, verbose=options.verbose)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
