"""One run of compat on one machine, from a matrix to a report, and the phases that shards share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from memory_matrix.compat.model import Reads, Variant, Writes
from memory_matrix.compat.reading import count_steps, read_all
from memory_matrix.compat.storing import store_all
from memory_matrix.compat.verdict import Found, judged
from memory_matrix.compat.workshop import Workshop
from memory_matrix.compat.writing import settled, write_all
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.matrix.model import Matrix
from memory_matrix.progress import Progress
from memory_matrix.report.model import Report
from memory_matrix.runfolder import run_folder
from memory_matrix.running import RunOptions, build, empty_report, stops
from memory_matrix.servers.model import Server
from memory_matrix.servers.model import Unavailable as UnavailableServer
from memory_matrix.servers.starting import start_all


def run_compat(matrix: Matrix, options: RunOptions, progress: Progress) -> Report:
    """Write, store, read and judge all that `matrix` names.

    What cannot be had is in the report as unavailable. With `strict`, or where no environment is
    left, the report then has no cells: nothing was run.

    Raises:
        UsageError: what the matrix names cannot be used by any environment.
        UnavailableError: a server is gone while it is used.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        had = build(matrix, matrix.environments, options, progress)
        if stops(had, strict=options.strict):
            return empty_report(matrix, had, ())
        servers = start(matrix, folder, options, progress, stack)
        if stops(servers, strict=options.strict):
            return empty_report(matrix, had, servers)
        workshop = open_workshop(matrix, folder, options)
        return _compat(matrix, options, progress, workshop, had, servers)


def _compat(
    matrix: Matrix,
    options: RunOptions,
    progress: Progress,
    workshop: Workshop,
    had: Sequence[Environment | Unavailable],
    servers: Sequence[Server | UnavailableServer],
) -> Report:
    environments = [each for each in had if isinstance(each, Environment)]
    writes, variants = write(workshop, environments, servers, progress)
    writes = settled(writes, matrix.compat, workshop.selection)
    reads = read(workshop, environments, writes, variants, progress)
    found = Found(
        environments=matrix.environments,
        serializers=matrix.compat.serializers,
        known=matrix.known,
        writes=writes,
        variants=variants,
        reads=reads,
        descriptions=workshop.descriptions,
        selection=workshop.selection,
    )
    return judged(empty_report(matrix, had, servers), found, strict=options.strict)


def start(
    matrix: Matrix, folder: Path, options: RunOptions, progress: Progress, stack: ExitStack
) -> tuple[Server | UnavailableServer, ...]:
    """Return the servers of `matrix`, which run until `stack` is closed."""
    with progress.phase("Starting servers", None):
        return stack.enter_context(start_all(matrix.servers, folder=folder, cache=options.cache))


def open_workshop(matrix: Matrix, folder: Path, options: RunOptions) -> Workshop:
    """Return the place in `folder` where the phases work on `matrix`."""
    return Workshop(
        folder,
        matrix.compat,
        serializers={name: _target(matrix, name) for name in matrix.compat.serializers},
        payloads={name: _source(matrix, name) for name in matrix.compat.payloads},
        selection=options.selection,
        parallel=options.jobs,
    )


def write(
    workshop: Workshop,
    environments: Sequence[Environment],
    servers: Sequence[Server | UnavailableServer],
    progress: Progress,
) -> tuple[tuple[Writes, ...], dict[str, tuple[Variant, ...]]]:
    """Return what each environment wrote, and what the servers gave back for each blob."""
    running = [each for each in servers if isinstance(each, Server)]
    with progress.phase("Writing", None) as step:
        writes = write_all(workshop, environments, step)
    with progress.phase("Storing", len(running)) as step:
        return writes, store_all(running, writes, workshop.blobs, step)


def read(
    workshop: Workshop,
    environments: Sequence[Environment],
    writes: Sequence[Writes],
    variants: Mapping[str, Sequence[Variant]],
    progress: Progress,
) -> tuple[Reads, ...]:
    """Return what those `environments` that wrote made of what all environments wrote."""
    wrote = {each.environment for each in writes if not each.broken}
    readers = [each for each in environments if each.spec.name in wrote]
    with progress.phase("Reading", count_steps(writes, variants) * len(readers)) as step:
        return read_all(workshop, readers, writes, variants, step)


def _target(matrix: Matrix, serializer: str) -> str:
    source, colon, name = serializer.rpartition(":")
    return f"{matrix.root / source}{colon}{name}" if source.endswith(".py") else serializer


def _source(matrix: Matrix, payloads: str) -> str:
    return str(matrix.root / payloads) if payloads.endswith(".py") else payloads
