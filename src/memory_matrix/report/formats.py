"""Every format that a report has, by name: what it is for, its file, and what makes it.

A format's function yields the whole text in pieces, UTF-8 when it is written. It imports what it
needs when it is called: the command line knows the names without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_matrix.report.model import Report


@dataclass(frozen=True)
class Format:
    """One way to write down a report."""

    about: str
    """What it is for, in help."""
    file: str
    """Its name in a report folder."""
    pieces: Callable[[Report], Iterable[str]]


def _terminal(report: Report) -> Iterable[str]:
    from memory_matrix.report import terminal
    from memory_matrix.report.page import Look

    yield terminal.render(report, Look(width=100))


def _markdown(report: Report) -> Iterable[str]:
    from memory_matrix.report import markdown

    yield markdown.render(report)


def _html(report: Report) -> Iterable[str]:
    from memory_matrix.report import html

    yield html.render(report)


def _json(report: Report) -> Iterable[str]:
    from memory_matrix.report import json_pieces

    return json_pieces.render(report)


def _junit(report: Report) -> Iterable[str]:
    from memory_matrix.report import junit

    return junit.render(report)


def _sarif(report: Report) -> Iterable[str]:
    from memory_matrix.report import sarif

    return sarif.render(report, sarif.checkout_prefix())


def _badge(report: Report) -> Iterable[str]:
    from memory_matrix.report import badge

    yield badge.render(report)


FORMATS: Mapping[str, Format] = {
    "terminal": Format("as a run prints it", "report.txt", _terminal),
    "markdown": Format("for a job summary, an issue, a pull request", "report.md", _markdown),
    "html": Format("a page for people: who reads whom, and why not", "report.html", _html),
    "json": Format("everything, for tools and for `memory-matrix report`", "report.json", _json),
    "junit": Format("test results for CI", "report.junit.xml", _junit),
    "sarif": Format("alerts for code scanning", "report.sarif", _sarif),
    "badge": Format("for an endpoint badge of shields.io", "badge.json", _badge),
}

ALWAYS: tuple[str, ...] = ("json", "markdown", "html")
"""What every run writes."""
