"""The command line: options in, one call, exit code out."""

from __future__ import annotations

import argparse
import io
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_matrix.arguments import parser
from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError

if TYPE_CHECKING:
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.matrix.select import Selection
    from memory_matrix.progress import Progress
    from memory_matrix.report.model import EnvironmentRecord, Report, ServerRecord, StoreRecord
    from memory_matrix.running import RunOptions

INTERRUPTED = 130

TRACEBACK = "MEMORY_MATRIX_TRACEBACK"
"""The variable that shows where a defect of the tool itself is."""

CLEANING = 5.0
"""Seconds after a signal to end in which others are taken for the same wish."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_NO_MATRIX = (
    "No matrix file here: this is the built-in quick matrix. To make your own, write a"
    " memory-matrix.toml; `memory-matrix compat --help` shows a small one."
)
_NO_MATRIX_OF_SUITE = (
    "No matrix file here: this Python, with the embedded servers where no others are named. To test"
    " on more, write a memory-matrix.toml; docs/matrix-file.md says how."
)


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
    except Exception as error:  # noqa: BLE001 - a defect of the tool must not pass for a finding
        print(f"memory-matrix: error: {_about_defect(error)}", file=sys.stderr)
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
            options = parser().parse_args(arguments)
            return _COMMANDS[options.command](options)
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


def _about_defect(error: Exception) -> str:
    import traceback

    if os.environ.get(TRACEBACK):
        return "".join(traceback.format_exception(error)).rstrip()
    return (
        f"a defect of memory-matrix itself, {type(error).__name__}: {error}."
        f" Please report it with what {TRACEBACK}=1 shows."
    )


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


def _run_both(options: argparse.Namespace) -> int:
    from memory_matrix.compat.run import run_compat
    from memory_matrix.matrix import select
    from memory_matrix.suite.run import run_suite

    matrix = _given_matrix(options, read_matrix(options))
    given = _given(options, matrix)
    selection = select.parse(_selected(options))
    parts = select.narrow_parts(matrix, selection)
    _print_notes(parts["compat"])
    run = _run_options(options, selection)
    progress = _progress(options)
    suite = run_suite(parts["suite"], run, progress, **_suite_options(options))
    suite = replace(suite, given=given)
    if not parts["compat"].compat.serializers:
        return _ended(suite, options)
    return _ended(joined(run_compat(parts["compat"], run, progress), suite), options)


def _compat(options: argparse.Namespace) -> int:
    from memory_matrix.compat.run import run_compat

    matrix, selection = _matrix(options)
    report = run_compat(matrix, _run_options(options, selection), _progress(options))
    return _ended(report, options)


def _suite(options: argparse.Namespace) -> int:
    from memory_matrix.matrix import select
    from memory_matrix.suite.run import run_suite

    matrix = _given_matrix(options, read_matrix(options, alone=True))
    given = _given(options, matrix)
    selection = select.parse(_selected(options))
    matrix = select.narrow(matrix, selection, "suite")
    run = _run_options(options, selection)
    report = run_suite(matrix, run, _progress(options), **_suite_options(options))
    return _ended(replace(report, given=given), options)


def _suite_options(options: argparse.Namespace) -> dict[str, Any]:
    return {"seed": options.seed, "may_hold_data": options.redis_may_hold_data}


def _run_options(options: argparse.Namespace, selection: Selection) -> RunOptions:
    from memory_matrix.environments.cache import default_cache
    from memory_matrix.running import RunOptions

    return RunOptions(
        cache=default_cache(),
        jobs=options.jobs or _processors(),
        strict=_is_strict(options),
        download=options.download_pythons,
        refresh=options.refresh,
        selection=selection,
    )


def _is_strict(options: argparse.Namespace) -> bool:
    return bool(os.environ.get("CI")) if options.strict is None else options.strict


def _ended(report: Report, options: argparse.Namespace) -> int:
    """Show and write what a run found, and return its exit code."""
    from memory_matrix.report import files, sentences

    try:
        _print_report(report, options)  # first: a full disk must not cost the findings
    finally:  # nobody reading them must not cost the report
        written = files.write(report, options.report_dir)
    if not options.quiet:
        print(sentences.verdict(report), file=sys.stderr)  # the first line has scrolled away
        print(f"Report: {', '.join(map(str, written))}", file=sys.stderr)
    return exit_code(report, strict=_is_strict(options))


def joined(compat: Report, suite: Report) -> Report:
    """Return one report of both parts of a run.

    Environments are those of compat; each names what the suite had otherwise.
    """
    known = {each.name for each in compat.environments if each.status == "ready"}
    unavailable = {
        each.name: each
        for each in suite.environments
        if each.name not in known or each.status != "ready"
    }
    tested = {each.name: each.packages for each in suite.environments}
    ready = [
        replace(each, suite_packages=_otherwise(tested.get(each.name, {}), each.packages))
        for each in compat.environments
        if each.name not in unavailable
    ]
    servers = {each.name: each for each in (*compat.servers, *suite.servers)}
    return replace(
        compat,
        environments=(*ready, *unavailable.values()),
        servers=tuple(servers.values()),
        suite=suite.suite,
        stores=suite.stores,
        strategy=suite.strategy,
        stale_waivers=suite.stale_waivers,
        given=suite.given,
    )


def _otherwise(had: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {name: version for name, version in had.items() if known.get(name) != version}


def exit_code(report: Report, *, strict: bool) -> int:
    """Return 1 where the report has what `fail-on` names, else 0.

    Raises:
        UnavailableError: what the matrix requires could not be had. An interpreter that this machine
            lacks is excused where the run is not strict and other environments were run.
        UsageError: every cell was skipped.
        MemoryMatrixError: cases of the suite could not be run.
    """
    from memory_matrix.report.model import broken_suite, failing, failing_suite
    from memory_matrix.report.visible import counted

    missing: list[EnvironmentRecord | ServerRecord | StoreRecord] = [
        *(each for each in report.environments if each.status != "ready"),
        *(each for each in report.servers if each.status != "ready"),
        *(each for each in report.stores if each.status != "ready"),
    ]
    excused = not strict and all(getattr(each, "interpreter_missing", False) for each in missing)
    if missing and not (excused and (report.cells or report.suite)):
        lines = "".join(f"\n  {each.name}: {each.reason}" for each in missing)
        raise UnavailableError(f"what the matrix requires could not be had:{lines}")
    _refuse_nothing(report)
    if failing(report) or failing_suite(report):
        return 1
    if broken := broken_suite(report):
        raise MemoryMatrixError(
            f"{counted(len(broken), 'case')} of the suite could not be run; the report says why"
            f"\n  {broken[0].case}: {broken[0].reason}"
        )
    return 0


def _refuse_nothing(report: Report) -> None:
    """Raise where nothing was run of what was asked for."""
    if not report.suite and all(cell.outcome == "skipped" for cell in report.cells):
        reasons = {cell.error.message for cell in report.cells if cell.error is not None}
        raise UsageError(
            "nothing was compared, every cell was skipped; the report says why"
            + "".join(f"\n  {reason}" for reason in sorted(reasons)[:5])
        )
    if report.suite and all(each.outcome == "skipped" for each in report.suite):
        reasons = {each.reason or "" for each in report.suite}
        raise UsageError(
            "no case was run, every one was skipped; the report says why"
            + "".join(f"\n  {reason}" for reason in sorted(reasons)[:5])
        )


def _plan(options: argparse.Namespace) -> int:
    import json

    from memory_matrix.matrix import plan, select

    matrix = read_matrix(options)
    selection = select.parse(_selected(options))
    _print_notes(matrix)
    if options.json:
        print(json.dumps(plan.plan_json(matrix, selection), indent=2))
    else:
        print("\n".join(plan.lines(plan.plan(matrix, selection), verbose=options.verbose)))
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
    """Return the matrix for compat, and the part of it that is selected."""
    from memory_matrix.matrix import select

    selection = select.parse(_selected(options))
    matrix = select.narrow(read_matrix(options), selection)
    _print_notes(matrix)
    return matrix, selection


def _print_notes(matrix: Matrix) -> None:
    from memory_matrix.matrix import plan

    for note in plan.notes(matrix):
        print(f"note: {note}", file=sys.stderr)


def _selected(options: argparse.Namespace) -> str:
    """Return what is selected, as one expression."""
    return options.session or " ".join(options.select or ())


def read_matrix(options: argparse.Namespace, *, alone: bool = False) -> Matrix:
    """Return the matrix file's matrix, or the built-in one; with `alone`, that of the suite alone."""
    from memory_matrix.matrix import read

    source = options.config or read.find(Path.cwd())
    if source is not None:
        matrix = read.read(source)
    else:
        matrix = (read.builtin_suite if alone else read.builtin_quick)(Path.cwd())
        print(_NO_MATRIX_OF_SUITE if alone else _NO_MATRIX, file=sys.stderr)
    if getattr(options, "fail_on", None):
        matrix = replace(matrix, compat=replace(matrix.compat, fail_on=options.fail_on))
    return matrix


def _given_matrix(options: argparse.Namespace, matrix: Matrix) -> Matrix:
    """Return the matrix with what the command line says instead of the file."""
    from memory_matrix.matrix import override

    return override.override(
        matrix,
        stores=options.store or (),
        servers={"postgres": options.postgres or (), "redis": options.redis or ()},
        strategy=options.strategy,
    )


def _given(options: argparse.Namespace, matrix: Matrix) -> tuple[str, ...]:
    """Return the options that name other stores or servers than the matrix file, without passwords."""
    stores = [("--store", each) for each in options.store or ()]
    servers = [
        (f"--{each.kind}", each.text) for each in matrix.servers if getattr(options, each.kind)
    ]
    return tuple(chain.from_iterable((*stores, *servers)))


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


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": _run_both,
    "compat": _compat,
    "suite": _suite,
    "plan": _plan,
    "report": _report,
}
