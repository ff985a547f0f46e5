"""From what a run found to its end: it is shown and written, and becomes an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.preparing import is_strict
from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError

if TYPE_CHECKING:
    from memory_matrix.report.model import EnvironmentRecord, Report, ServerRecord, StoreRecord


def ended(
    report: Report,
    options: argparse.Namespace,
    save: Callable[[Report], tuple[Path, ...]] | None = None,
) -> int:
    """Show and write what a run found, and return its exit code.

    `save` writes it elsewhere than into the report folder, and returns the paths.
    """
    from memory_matrix.github.reporting import told
    from memory_matrix.report import files, sentences

    report = compared(dated(report), options)
    try:
        print_report(report, options)  # first: a full disk must not cost the findings
    finally:  # nobody reading them must not cost the report
        if save is None:
            written = files.write(report, options.report_dir, options.also)
        else:
            written = save(report)
    if not options.quiet:
        print(sentences.verdict(report), file=sys.stderr)  # the first line has scrolled away
        print(f"Report: {', '.join(map(str, written))}", file=sys.stderr)
    with told(report, options):
        remember(report, options)
        return exit_code(report, strict=is_strict(options))


def dated(report: Report) -> Report:
    """Return the report with the time that it is, and the commit that is checked out here."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return replace(report, time=now, commit=_commit())


def compared(report: Report, options: argparse.Namespace) -> Report:
    """Return the report with what is new against the baseline, where one is named."""
    from memory_matrix.report.baseline import compare

    if options.baseline is None:
        return report
    return compare(report, options.baseline.report, options.baseline.source)


def remember(report: Report, options: argparse.Namespace) -> None:
    """Add the numbers of the run to the history, where one is named.

    Raises:
        UsageError: the file is no history.
        MemoryMatrixError: it cannot be written.
    """
    from memory_matrix.report import history

    if options.history is not None:
        history.append(options.history, history.entry(report if report.time else dated(report)))


def _commit() -> str | None:
    """Return the commit that is checked out here, as GitHub or git say."""
    from memory_matrix.environments.processes import Runner
    from memory_matrix.environments.sources import Git

    if sha := os.environ.get("GITHUB_SHA"):
        return sha
    try:
        done = Git(Path.cwd(), Runner())("rev-parse", "--verify", "HEAD")
    except OSError:  # there is no git here
        return None
    return None if done.code else done.stdout.strip()


def exit_code(report: Report, *, strict: bool) -> int:
    """Return 1 where the report has what `fail-on` names, else 0.

    Raises:
        UnavailableError: what the matrix requires could not be had, or a shard is missing. An interpreter that this machine
            lacks is excused where the run is not strict and other environments were run.
        UsageError: every cell was skipped, or every one of some payload or environment.
        MemoryMatrixError: cases of the suite could not be run.
    """
    from memory_matrix.report.model import broken_suite, failing, failing_suite
    from memory_matrix.report.visible import counted

    refuse_lost(
        (*report.environments, *report.servers, *report.stores),
        lenient=not strict and bool(report.cells or report.suite),
    )
    _refuse_missing(report)
    _refuse_nothing(report)
    if failing(report) or failing_suite(report):
        return 1
    _refuse_untested(report)
    if broken := broken_suite(report):
        raise MemoryMatrixError(
            f"{counted(len(broken), 'case')} of the suite could not be run; the report says why"
            f"\n  {broken[0].case}: {broken[0].reason}"
        )
    return 0


def refuse_lost(
    records: Iterable[EnvironmentRecord | ServerRecord | StoreRecord], *, lenient: bool
) -> None:
    """Raise where something could not be had, other than, if `lenient`, interpreters alone."""
    lost = [each for each in records if each.status != "ready"]
    excused = lenient and all(getattr(each, "interpreter_missing", False) for each in lost)
    if lost and not excused:
        lines = "".join(f"\n  {each.name}: {each.reason}" for each in lost)
        raise UnavailableError(f"what the matrix requires could not be had:{lines}")


def _refuse_missing(report: Report) -> None:
    """Raise where no shard reported a part of the matrix."""
    from memory_matrix.report import sentences

    if report.missing:
        lines = "".join(f"\n  {sentences.missing_part(each)}" for each in report.missing[:20])
        rest = f"\n  and {len(report.missing) - 20} more" if len(report.missing) > 20 else ""
        raise UnavailableError(
            f"{sentences.lost_shards(report)} Run these shards again, and merge all:{lines}{rest}"
        )


def _refuse_nothing(report: Report) -> None:
    """Raise where nothing was run of what was asked for."""
    has_cells = bool(report.cells) or not report.suite
    if has_cells and all(cell.outcome == "skipped" for cell in report.cells):
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


def _refuse_untested(report: Report) -> None:
    """Raise where a payload or an environment had nothing run of it, although nothing else breaks."""
    from memory_matrix.report import sentences

    if found := report.untested:
        lines = "".join(f"\n  {sentences.not_tested_part(each)}" for each in found[:5])
        rest = f"\n  and {len(found) - 5} more" if len(found) > 5 else ""
        raise UsageError(
            f"not all that the matrix names could be tested; mend it or take it out:{lines}{rest}"
        )


def print_report(report: Report, options: argparse.Namespace) -> None:
    """Print it as the terminal that this is can show it."""
    from memory_matrix.github.log import guarded_output
    from memory_matrix.report import terminal

    with guarded_output():
        terminal.show(report, verbose=options.verbose)
