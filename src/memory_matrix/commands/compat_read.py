"""`memory-matrix compat read`: a share of the environments reads all that was written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.commands.ending import refuse_lost
from memory_matrix.commands.preparing import (
    refuse_comparing,
    run_options,
    selected_matrix,
    share,
    shown_progress,
)
from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from memory_matrix.compat.merging import Gathered


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code; what it finds is judged by `merge` alone."""
    from memory_matrix.compat.shards import read_shard

    refuse_comparing(options)
    matrix, selection = selected_matrix(options)
    written = _written(options.sources or [options.report_dir])
    for shard in written.missing:
        print(
            f"note: compat write {shard} is missing: what its environments wrote cannot be read, and they"
            " are missing from the report",
            file=sys.stderr,
        )
    run = run_options(options, selection)
    folder, partial = read_shard(matrix, run, shown_progress(options), share(options), written)
    for each in partial.reads:
        if each.broken:
            print(f"note: {each.environment}: {each.broken}", file=sys.stderr)
    if not options.quiet:
        print(f"Read: {folder}", file=sys.stderr)
    refuse_lost(partial.environments, lenient=not run.strict)
    return 0


def _written(paths: Sequence[Path]) -> Gathered:
    """Return what all shards wrote that are found in `paths`.

    Raises:
        UsageError: there is none, or they do not belong together.
    """
    from memory_matrix.compat.merging import gathered
    from memory_matrix.compat.partial import load_written
    from memory_matrix.partials import FILES, find

    files = find(paths)[FILES["written"]]
    if not files:
        raise UsageError(
            f"There is nothing in {', '.join(map(repr, map(str, paths)))} that `compat write` left: name its"
            " folders with --from."
        )
    return gathered(list(map(load_written, files)))
