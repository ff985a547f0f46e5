"""From options to what a run needs: the matrix, the part that is selected, how it is done."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from memory_matrix.compat.shards import Share
    from memory_matrix.matrix.model import Matrix
    from memory_matrix.matrix.select import Selection
    from memory_matrix.partials import Header
    from memory_matrix.progress import Progress
    from memory_matrix.running import RunOptions

_NO_MATRIX = (
    "No matrix file here: this is the built-in quick matrix. To make your own, run"
    " `memory-matrix init`."
)
_NO_MATRIX_OF_SUITE = (
    "No matrix file here: this Python, with the embedded servers where no others are named. To test"
    " on more, write a memory-matrix.toml; docs/matrix-file.md says how."
)


def read_matrix(options: argparse.Namespace, *, alone: bool = False) -> Matrix:
    """Return the matrix file's matrix, or the built-in one; with `alone`, that of the suite alone."""
    from memory_matrix.github import masks
    from memory_matrix.matrix import digest, read

    given = (getattr(options, kind, None) or () for kind in ("postgres", "redis"))
    masks.mask(chain.from_iterable(given))
    source = options.config or read.find(Path.cwd())
    if source is not None:
        matrix = read.read(source)
    else:
        matrix = (read.builtin_suite if alone else read.builtin_quick)(Path.cwd())
        print(_NO_MATRIX_OF_SUITE if alone else _NO_MATRIX, file=sys.stderr)
    masks.mask(each.value for each in matrix.servers)
    if getattr(options, "fail_on", None):
        matrix = replace(matrix, compat=replace(matrix.compat, fail_on=options.fail_on))
    return replace(matrix, whole=digest.digest(matrix), excuses=digest.excuses(matrix))


def selected_matrix(options: argparse.Namespace) -> tuple[Matrix, Selection]:
    """Return the matrix for compat, and the part of it that is selected."""
    from memory_matrix.matrix import select

    selection = select.parse(selected(options))
    matrix = select.narrow(read_matrix(options), selection)
    print_notes(matrix)
    return matrix, selection


def given_matrix(options: argparse.Namespace, matrix: Matrix) -> Matrix:
    """Return the matrix with what the command line says instead of the file, each once."""
    from memory_matrix.matrix import override
    from memory_matrix.matrix.model import mask_password

    for option in ("store", "postgres", "redis"):
        given = Counter(map(mask_password, getattr(options, option) or ()))
        for name in (each for each, number in given.items() if number > 1):
            print(f"note: --{option} {name} is given twice, and run once.", file=sys.stderr)

    return override.override(
        matrix,
        stores=options.store or (),
        servers={"postgres": options.postgres or (), "redis": options.redis or ()},
        strategy=options.strategy,
    )


def given_options(options: argparse.Namespace, matrix: Matrix) -> tuple[str, ...]:
    """Return the options that name other stores or servers than the matrix file, without passwords."""
    stores = [("--store", each) for each in dict.fromkeys(options.store or ())]
    servers = [
        (f"--{each.kind}", each.text) for each in matrix.servers if getattr(options, each.kind)
    ]
    return tuple(chain.from_iterable((*stores, *servers)))


def selected(options: argparse.Namespace) -> str:
    """Return what is selected, as one expression."""
    return options.session or " ".join(options.select or ())


def print_notes(matrix: Matrix) -> None:
    """Print sentences on what is allowed, and perhaps not what was meant."""
    from memory_matrix.matrix import plan

    for note in plan.notes(matrix):
        print(f"note: {note}", file=sys.stderr)


def run_options(options: argparse.Namespace, selection: Selection) -> RunOptions:
    """Return how the run is done."""
    from memory_matrix.environments.cache import default_cache
    from memory_matrix.running import RunOptions

    return RunOptions(
        cache=default_cache(),
        jobs=options.jobs or _processors(),
        strict=is_strict(options),
        download=options.download_pythons,
        refresh=options.refresh,
        selection=selection,
    )


def share(options: argparse.Namespace) -> Share:
    """Return which share of compat is done here."""
    from memory_matrix.compat.shards import Share
    from memory_matrix.matrix.packing import WHOLE, Seconds

    return Share(options.report_dir, options.shard or WHOLE, options.durations or Seconds())


def refuse_comparing(options: argparse.Namespace) -> None:
    """Raise where a step of compat is to compare or remember what only all of them tell."""
    for name, value in {"--baseline": options.baseline, "--history": options.history}.items():
        if value is not None:
            raise UsageError(f"{name} is for the whole report: give it to `memory-matrix merge`.")


def nothing_to_do(head: Header) -> str:
    """Return what to say of a shard that has no work."""
    number = sum(map(bool, head.units))
    return (
        f"{head.title} has nothing to do: there is work for {number} of the {head.place.of} shards."
    )


def suite_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what `run_suite` takes besides."""
    return {"seed": options.seed, "may_hold_data": options.redis_may_hold_data}


def is_strict(options: argparse.Namespace) -> bool:
    """Say whether what cannot be had fails the run; where CI is set it does."""
    return in_ci() if options.strict is None else options.strict


def in_ci() -> bool:
    """Say whether this is a machine of CI."""
    return bool(os.environ.get("CI"))


def shown_progress(options: argparse.Namespace) -> Progress:
    """Return what shows how far the run is."""
    from memory_matrix.github import log
    from memory_matrix.progress import Progress

    if options.quiet:
        return Progress("nothing")
    if log.is_github():
        return Progress("groups")
    return Progress("bars" if sys.stderr.isatty() else "lines")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
