"""`memory-matrix compat write`: a share of the environments writes, for others to read."""

from __future__ import annotations

import argparse
import sys

from memory_matrix.commands.ending import refuse_lost
from memory_matrix.commands.preparing import (
    nothing_to_do,
    refuse_comparing,
    run_options,
    selected_matrix,
    share,
    shown_progress,
)


def call(options: argparse.Namespace) -> int:
    """Do it, and return the exit code; what it finds is judged by `merge` alone."""
    from memory_matrix.compat.shards import write_shard

    refuse_comparing(options)
    matrix, selection = selected_matrix(options)
    run = run_options(options, selection)
    folder, partial = write_shard(matrix, run, shown_progress(options), share(options))
    if not partial.environments:
        print(f"note: {nothing_to_do(partial.header)}", file=sys.stderr)
    if not options.quiet:
        print(f"Written: {folder}", file=sys.stderr)
    refuse_lost((*partial.environments, *partial.servers), lenient=not run.strict)
    return 0
