"""What a run says to GitHub besides its report: annotations, a job summary, its own errors."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.github.log import is_github, issue, say
from memory_matrix.report.model import Report


@contextmanager
def told(report: Report, options: argparse.Namespace) -> Iterator[None]:
    """Tell GitHub of `report` after what is done in the context, which may still end in an error.

    Nothing is told outside GitHub Actions.
    """
    try:
        yield
    except MemoryMatrixError:
        _tell(report, options, reserved=1)
        raise
    _tell(report, options)


def _tell(report: Report, options: argparse.Namespace, *, reserved: int = 0) -> None:
    """Write the summary and the annotations; `reserved` errors may follow."""
    if not is_github():
        return
    summarized = _wanted(options.summary, report) and _summarize(report, options)
    if _wanted(options.annotations, report):
        _annotate(report, rest="the summary" if summarized else "report.md", reserved=reserved)


def _wanted(given: bool | None, report: Report) -> bool:
    """Return whether something is told; of a shard only when asked for, for the merged report has it."""
    return report.shard is None if given is None else given


def _annotate(report: Report, *, rest: str, reserved: int) -> None:
    from memory_matrix.github import annotations

    places = annotations.Places.here()
    for each in annotations.of_report(report, places, rest=rest, reserved=reserved):
        issue(str(each))


def _summarize(report: Report, options: argparse.Namespace) -> bool:
    """Add `report` to the job summary and return whether that could be done; a warning says why not."""
    from memory_matrix.github import summary

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        say("warning", "There is no job summary: GITHUB_STEP_SUMMARY is not set.")
        return False
    pointer = summary.Pointer.of(options.report_dir, options.artifact or "", os.environ)
    try:
        room = summary.room_in(Path(path))
        if room < summary.LEAST:
            say(
                "warning", "The job summary has no room for this report: GitHub takes 1 MiB a step."
            )
            return False
        title = options.summary_title or ""
        summary.append(Path(path), summary.render(report, pointer, title=title, limit=room - 1))
    except OSError as error:
        reason = error.strerror or error
        say("warning", f"The job summary cannot be written to {path!r}: {reason}.")
        return False
    return True
