"""A share of compat on one of several machines: each blob is written once, and read once per reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.compat.merging import Gathered
from memory_matrix.compat.model import Reads, Variant, Writes
from memory_matrix.compat.partial import (
    ReadPartial,
    WrittenPartial,
    adopt,
    reads_record,
    save_read,
    save_written,
    writes_record,
)
from memory_matrix.compat.run import open_workshop, read, start, write
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec, Matrix
from memory_matrix.matrix.packing import WHOLE, Seconds, Shard, pack_environments
from memory_matrix.partials import Header, Kind, header, other_files
from memory_matrix.progress import Progress
from memory_matrix.report.merging import otherwise
from memory_matrix.runfolder import run_folder
from memory_matrix.running import RunOptions, build, environment_record, server_record, stops


@dataclass(frozen=True)
class Share:
    """Which share of the work this machine has, and where it leaves what it found."""

    report_dir: Path
    shard: Shard = WHOLE
    seconds: Seconds = field(default_factory=Seconds)


def write_shard(
    matrix: Matrix, options: RunOptions, progress: Progress, share: Share
) -> tuple[Path, WrittenPartial]:
    """Write in the environments of this share, store it on the servers, and save what came back.

    Returns the folder that holds it, and what is in it: what cannot be had too. That ends nothing here,
    `strict` or not, since what the others wrote is worth having.

    Raises:
        UsageError: two payload sources define one payload.
        UnavailableError: a server is gone while it is used.
        MemoryMatrixError: it cannot be saved.
    """
    shares = pack_environments(matrix.environments, share.seconds.write, share.shard.of)
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        workshop = open_workshop(matrix, folder, options)
        had = build(matrix, shares[share.shard.number - 1], options, progress)
        ready = [each for each in had if isinstance(each, Environment)]
        runs = bool(ready)
        servers = start(matrix, folder, options, progress, stack) if runs else ()
        writes: Sequence[Writes] = ()
        variants: Mapping[str, tuple[Variant, ...]] = {}
        if runs and not stops(servers, strict=False):
            writes, variants = write(workshop, ready, servers, progress)
        partial = WrittenPartial(
            header=_header("written", matrix, options, share, shares),
            fail_on=matrix.compat.fail_on,
            directions=matrix.compat.directions,
            serializers=matrix.compat.serializers,
            payloads=matrix.compat.payloads,
            known=matrix.known,
            ages={each.name: dict(each.coordinates) for each in matrix.environments},
            environments=tuple(map(environment_record, had)),
            servers=tuple(map(server_record, servers)),
            writes=tuple(map(writes_record, writes)),
            variants=variants,
        )
        return save_written(partial, workshop, share.report_dir), partial


def read_shard(
    matrix: Matrix,
    options: RunOptions,
    progress: Progress,
    share: Share,
    written: Gathered,
) -> tuple[Path, ReadPartial]:
    """Read in the environments of this share what all shards wrote, and save it.

    Returns the folder that holds it, and what is in it.

    Raises:
        UsageError: it was not written with this matrix, or it is damaged.
        MemoryMatrixError: it cannot be saved.
    """
    shares = pack_environments(matrix.environments, share.seconds.read, share.shard.of)
    found = _header("read", matrix, options, share, shares)
    _refuse_others(found, written)
    mine = [each for each in shares[share.shard.number - 1] if each.name in written.readers]
    with run_folder() as folder:
        workshop = open_workshop(matrix, folder, options)
        adopt(list(written.shards.values()), folder)
        had = build(matrix, mine, options, progress) if mine else ()
        changed = dict(_changed(had, written))
        alike = [
            each for each in had if isinstance(each, Environment) and each.spec.name not in changed
        ]
        writes = written.settled(matrix.compat, options.selection)
        reads = read(workshop, alike, writes, written.variants, progress) if alike else ()
        refused = (Reads(name, broken=reason) for name, reason in changed.items())
        partial = ReadPartial(
            header=found,
            written={each.header.shard: each.digest for each in written.shards.values()},
            environments=tuple(map(environment_record, had)),
            reads=tuple(map(reads_record, (*reads, *refused))),
        )
    return save_read(partial, share.report_dir), partial


def _header(
    kind: Kind,
    matrix: Matrix,
    options: RunOptions,
    share: Share,
    shares: Sequence[Sequence[EnvironmentSpec]],
) -> Header:
    units = [[each.name for each in mine] for mine in shares]
    return header(kind, matrix, share.shard, units, options)


def _refuse_others(mine: Header, written: Gathered) -> None:
    """Raise where what was written is not of the matrix, or not of the part of it, that is read."""
    for each in written.shards.values():
        theirs = each.header
        if theirs.digest != mine.digest:
            raise UsageError(
                f"{str(each.path)!r} is of another matrix ({theirs.digest}) than the one here"
                f" ({mine.digest}): read with the matrix file that it was written with."
            )
        if theirs.excuses != mine.excuses:
            raise UsageError(
                f"{str(each.path)!r} was written with another [[known]] or [[suite.waiver]] than there is"
                " here: read with the matrix file that it was written with."
            )
        for name in other_files(theirs, mine):
            raise UsageError(
                f"{name!r} is another file here than that which {str(each.path)!r} was written with: write"
                " again, or read with the same files."
            )
        if (theirs.select, theirs.environments) != (mine.select, mine.environments):
            raise UsageError(
                f"{str(each.path)!r} was written with --select {theirs.select!r}, and is to be read with"
                f" --select {mine.select!r}: give both the same."
            )


def _changed(
    had: Sequence[Environment | Unavailable], written: Gathered
) -> Iterator[tuple[str, str]]:
    """Yield the environments that are not what they were as writers, with the reason."""
    for each in map(environment_record, had):
        changed = otherwise(written.environments[each.name], each)
        if each.status == "ready" and changed:
            reason = f"it wrote and read with other packages ({changed})"
            yield each.name, f"{reason}: run all shards again, or pin these in the matrix file."
