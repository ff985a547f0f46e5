"""`memory-matrix merge`: what many machines found, made into one report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.ending import ended
from memory_matrix.commands.options import (
    EXIT_CODES,
    Commands,
    Parser,
    add_config,
    add_report_options,
    command,
)
from memory_matrix.commands.preparing import read_matrix
from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.matrix.select import Part
    from memory_matrix.partials import Header
    from memory_matrix.report.model import Report

_EPILOG = f"""\
what is merged: what `compat write`, `compat read` and `suite --shard` left, and reports of whole
runs of compat or the suite, at any depth, in any order. A shard that is not there is missing in the
report, and ends the command with exit code 3.

{EXIT_CODES}
examples:
  memory-matrix merge downloads --report-dir merged
  memory-matrix merge downloads --expect compat --expect suite
"""


@dataclass(frozen=True)
class _Found:
    """What there is to merge."""

    reports: Mapping[Part, Report]
    headers: Mapping[Path, Header]
    """Of the shards among it, by their files."""
    digests: Mapping[Path, str]
    """The matrix of each file."""


def add(commands: Commands) -> Parser:
    """Add the command to `commands`, and return its parser."""
    made = command(
        commands,
        "merge",
        "make one report of what many machines found",
        "Judge what all shards wrote and read, put the results of the suite's shards together, and report\n"
        "what one machine would have reported.",
        _EPILOG,
    )
    made.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH",
        help="folders and files that shards and runs left (default: the report folder)",
    )  # fmt: skip
    made.add_argument(
        "--expect", action="append", default=[], choices=("compat", "suite"), metavar="PART",
        help="compat or suite: it is missing where nothing of it is there; may be given twice",
    )  # fmt: skip
    add_config(
        made.add_argument_group("matrix"),
        ", to take from it what fails the run, and to refuse what is of another one",
    )
    add_report_options(made)
    return made


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    from memory_matrix.report.merging import put_together

    matrix = None if options.config is None else read_matrix(options)
    paths = options.paths or [options.report_dir]
    found = _found(list(_there(paths, options.expect)))
    if matrix is not None:
        _refuse_others(found, matrix, options.config)
    if not found.reports and not options.expect:
        raise UsageError(
            f"There is nothing to merge in {', '.join(map(repr, map(str, paths)))}: name the folders that"
            " shards wrote to; a report that `merge` made is not merged again."
        )
    report = put_together(found.reports, options.expect, _empty(matrix))
    strict = [each.strict for each in found.headers.values()]
    options.strict = any(strict) if strict else None
    return ended(_ruled(report, options, matrix), options)


def _there(paths: Sequence[Path], expected: Sequence[str]) -> Iterator[Path]:
    """Yield the paths; one that is not there is no mistake where its shards are expected, and missing."""
    for path in paths:
        if path.exists() or not expected:
            yield path
        else:
            print(f"note: there is nothing at {str(path)!r}", file=sys.stderr)


def _found(paths: Sequence[Path]) -> _Found:
    from memory_matrix.compat.merging import merge_compat
    from memory_matrix.compat.partial import load_read, load_written
    from memory_matrix.partials import FILES, REPORT, find
    from memory_matrix.suite.shards import load_suite, merge_suite

    files = find(paths)
    written = list(map(load_written, files[FILES["written"]]))
    read = list(map(load_read, files[FILES["read"]]))
    suites = list(map(load_suite, files[FILES["suite"]]))
    beside = {path.with_name(REPORT) for path in files[FILES["suite"]]}
    wholes = dict(_wholes([path for path in files[REPORT] if path not in beside]))
    headers = {each.path: each.header for each in written}
    headers |= {each.path: each.header for each in read}
    headers |= {each.loaded.path: each.loaded.header for each in suites}
    digests = {path: each.digest for path, each in headers.items()}
    digests |= {path: each.digest for path, each in wholes.items()}
    for first, digest in list(digests.items())[:1]:
        _refuse_other_matrices(first, digest, digests)
    for first, header in list(headers.items())[:1]:
        _refuse_other_excuses(first, header.excuses, headers)
    merged: dict[Part, Report] = {}
    if written:
        merged["compat"] = merge_compat(written, read)
    elif read:
        raise UsageError(
            f"{str(read[0].path)!r} needs all that was written, and none of it is here."
        )
    if suites:
        merged["suite"] = merge_suite(suites)
    return _Found(_with_wholes(merged, wholes), headers, digests)


def _wholes(paths: Sequence[Path]) -> Iterator[tuple[Path, Report]]:
    """Yield the reports of whole runs, each once; what an earlier `merge` made is left out."""
    from memory_matrix import __version__
    from memory_matrix.partials import other_release
    from memory_matrix.report import files

    known: set[bytes] = set()
    for path in paths:
        report = files.load(path)
        if report.merged or report.missing or path.read_bytes() in known:
            continue
        known.add(path.read_bytes())
        if report.version != __version__:
            raise UsageError(other_release(path, report.version))
        if report.shard is not None:
            raise UsageError(
                f"{str(path)!r} is of shard {report.shard!r:.40}, and what it is a part of is not beside"
                " it: keep each shard's folder as it is."
            )
        yield path, report


def _with_wholes(
    merged: Mapping[Part, Report], wholes: Mapping[Path, Report]
) -> dict[Part, Report]:
    from memory_matrix.report.merging import parts_of

    reports = dict(merged)
    places: dict[Part, str] = dict.fromkeys(merged, "of shards")
    for path, report in wholes.items():
        parts = sorted(parts_of(report))
        whole = replace(report, merged=("run",) if len(parts) > 1 else tuple(parts))
        for part in parts:
            if part in reports:
                raise UsageError(
                    f"There are two reports of {part}, {places[part]} and in {str(path)!r}: keep the one"
                    " that counts."
                )
            reports[part] = whole
            places[part] = f"in {str(path)!r}"
    return reports


def _refuse_others(found: _Found, matrix: Matrix, config: Path) -> None:
    """Raise where what was found is not of the matrix file that is named."""
    _refuse_other_matrices(config, matrix.whole, found.digests)
    _refuse_other_excuses(config, matrix.excuses, found.headers)


def _refuse_other_matrices(first: Path, mine: str, others: Mapping[Path, str]) -> None:
    from memory_matrix.partials import refuse_other_matrix

    for path, digest in others.items():
        refuse_other_matrix(first, mine, path, digest)


def _refuse_other_excuses(first: Path, mine: str, others: Mapping[Path, Header]) -> None:
    """Raise where shards are to be judged by other excuses; reports of whole runs are judged already."""
    from memory_matrix.partials import refuse_other_excuses

    for path, header in others.items():
        refuse_other_excuses(first, mine, path, header.excuses)


def _empty(matrix: Matrix | None) -> Report:
    """Return the report of a run of `matrix` of which nothing is there."""
    from memory_matrix import __version__
    from memory_matrix.report.model import Report
    from memory_matrix.running import empty_report

    return Report(version=__version__) if matrix is None else empty_report(matrix, (), ())


def _ruled(report: Report, options: argparse.Namespace, matrix: Matrix | None) -> Report:
    """Return the report with the rule for what fails it: the command line's, the matrix file's, its own."""
    if matrix is not None:
        rules = matrix.compat
        report = replace(report, fail_on=rules.fail_on, directions=rules.directions)
    return report if options.fail_on is None else replace(report, fail_on=options.fail_on)
