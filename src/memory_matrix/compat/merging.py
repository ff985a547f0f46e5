"""What all shards of compat found, put together and judged as if one machine had found it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from memory_matrix.compat.model import Reads, Variant, Writes
from memory_matrix.compat.partial import (
    ReadPartial,
    WrittenPartial,
    adopt,
    reads_of,
    writes_of,
)
from memory_matrix.compat.verdict import Found, judged
from memory_matrix.compat.writing import settled
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import CompatOptions, EnvironmentSpec
from memory_matrix.matrix.select import Selection, parse
from memory_matrix.partials import (
    Loaded,
    missing_part,
    one_run,
    refuse_other_files,
    refuse_other_matrix,
    shard_of,
    titles,
)
from memory_matrix.report.merging import merged_servers, strictest
from memory_matrix.report.model import EnvironmentRecord, MissingPart, Report, ServerRecord
from memory_matrix.runfolder import run_folder


@dataclass(frozen=True)
class Gathered:
    """What the shards that are there wrote."""

    shards: Mapping[int, Loaded[WrittenPartial]]

    @cached_property
    def partials(self) -> tuple[WrittenPartial, ...]:
        """What each shard left, by their numbers."""
        return tuple(each.partial for each in self.shards.values())

    @property
    def first(self) -> WrittenPartial:
        """Any of them, for what they all say."""
        return self.partials[0]

    @cached_property
    def environments(self) -> dict[str, EnvironmentRecord]:
        """The environments as writers, in the order of the matrix."""
        found = {each.name: each for partial in self.partials for each in partial.environments}
        return {name: found[name] for name in self.first.header.environments if name in found}

    @cached_property
    def servers(self) -> tuple[ServerRecord, ...]:
        """The servers; one that a shard could not have is one that could not be had."""
        found = [each for partial in self.partials for each in partial.servers]
        return merged_servers(found, list(dict.fromkeys(each.name for each in found)))

    @cached_property
    def writes(self) -> tuple[Writes, ...]:
        """What each environment wrote, in the order of the matrix."""
        found = {each.environment: each for partial in self.partials for each in partial.writes}
        return tuple(writes_of(found[name]) for name in self.environments if name in found)

    @cached_property
    def readers(self) -> frozenset[str]:
        """Environments that wrote, and so can read."""
        return frozenset(
            each.environment
            for each in self.writes
            if not each.broken and self.environments[each.environment].status == "ready"
        )

    @cached_property
    def variants(self) -> dict[str, tuple[Variant, ...]]:
        """What the servers gave back for each blob, on whichever machine it was stored."""
        answers: dict[str, dict[Variant, dict[str, None]]] = {}
        for name, found in chain.from_iterable(each.variants.items() for each in self.partials):
            known = answers.setdefault(name, {})
            for each in found:
                known.setdefault(replace(each, via=()), {}).update(dict.fromkeys(each.via))
        return {
            name: tuple(replace(answer, via=tuple(via)) for answer, via in known.items())
            for name, known in answers.items()
        }

    @property
    def missing(self) -> list[str]:
        """The shards that are not there, such as `2/3`."""
        of = len(self.first.header.units)
        return [f"{number}/{of}" for number in range(1, of + 1) if number not in self.shards]

    def settled(self, compat: CompatOptions, selection: Selection) -> tuple[Writes, ...]:
        """Return what all environments wrote, where each knows what it lacks that others have.

        Raises:
            UsageError: what the matrix names cannot be used by any environment.
        """
        return settled(self.writes, compat, selection, whole=not self.missing)


def gathered(written: Sequence[Loaded[WrittenPartial]]) -> Gathered:
    """Return what the shards wrote: at least one.

    Raises:
        UsageError: they are no shards of one run.
    """
    return Gathered(one_run(written))


def merge_compat(
    written: Sequence[Loaded[WrittenPartial]], read: Sequence[Loaded[ReadPartial]]
) -> Report:
    """Return the report of compat that one machine would have made, and what of it is missing.

    Raises:
        UsageError: they are no shards of one run, or one is damaged.
    """
    wrote, readers = gathered(written), one_run(read)
    for each in readers.values():
        _refuse_other_writes(each, wrote)
    compat = CompatOptions(wrote.first.serializers, wrote.first.payloads)
    selection = parse(wrote.first.header.select)
    missing = tuple(_missing(wrote, readers))
    frame = _frame(wrote, readers, missing)
    if not wrote.writes:
        return frame
    with run_folder() as folder:
        adopt(list(wrote.shards.values()), folder)
        found = Found(
            environments=[_spec(name, wrote.first) for name in wrote.first.header.environments],
            serializers=compat.serializers,
            known=wrote.first.known,
            writes=wrote.settled(compat, selection),
            variants=wrote.variants,
            reads=list(_reads(readers)),
            descriptions=Path(folder) / "descriptions",
            selection=selection,
            whole=not missing,
        )
        return judged(frame, found, strict=False)


def _frame(
    wrote: Gathered, readers: Mapping[int, Loaded[ReadPartial]], missing: tuple[MissingPart, ...]
) -> Report:
    head = wrote.first.header
    had = {each.name: each for _, each in _read_records(readers)}
    return Report(
        environments=tuple(_as_had(each, had) for each in wrote.environments.values()),
        servers=wrote.servers,
        fail_on=strictest([each.fail_on for each in wrote.partials]),
        directions=wrote.first.directions,
        version=head.version,
        matrix=head.matrix,
        digest=head.digest,
        missing=missing,
        merged=(*titles(wrote.shards), *titles(readers)),
    )


def _as_had(
    wrote: EnvironmentRecord, readers: Mapping[str, EnvironmentRecord]
) -> EnvironmentRecord:
    """Return the record of an environment: had where both its writer and its reader could be had."""
    reader = readers.get(wrote.name)
    if wrote.status != "ready" or reader is None or reader.status == "ready":
        return wrote
    return replace(reader, seconds=wrote.seconds)


def _read_records(
    readers: Mapping[int, Loaded[ReadPartial]],
) -> Iterator[tuple[Loaded[ReadPartial], EnvironmentRecord]]:
    return ((shard, each) for shard in readers.values() for each in shard.partial.environments)


def _reads(readers: Mapping[int, Loaded[ReadPartial]]) -> Iterator[Reads]:
    return (reads_of(each) for shard in readers.values() for each in shard.partial.reads)


def _missing(wrote: Gathered, readers: Mapping[int, Loaded[ReadPartial]]) -> Iterator[MissingPart]:
    """Yield the environments of which nobody says that they wrote, or that they read."""
    has_written = {each.environment for each in wrote.writes}
    told = {each.name for _, each in _read_records(readers) if each.status != "ready"}
    told |= {each.environment for each in _reads(readers)}
    for name in wrote.first.header.environments:
        record = wrote.environments.get(name)
        if record is None or (record.status == "ready" and name not in has_written):
            yield missing_part("written", name, shard_of(name, wrote.shards))
        elif name in wrote.readers and name not in told:
            yield missing_part("read", name, shard_of(name, readers))


def _refuse_other_writes(reads: Loaded[ReadPartial], wrote: Gathered) -> None:
    """Raise where a shard read something else than what was written here."""
    refuse_other_matrix(
        reads.path,
        reads.header.digest,
        wrote.shards[min(wrote.shards)].path,
        wrote.first.header.digest,
    )
    known = {each.header.shard: each for each in wrote.shards.values()}
    for shard, each in known.items():
        refuse_other_files(reads, each)
        if shard not in reads.partial.written:
            raise UsageError(
                f"{str(reads.path)!r} was read without {str(each.path)!r}: read again, with all that is"
                " written."
            )
        if reads.partial.written[shard] != each.digest:
            raise UsageError(
                f"{str(reads.path)!r} was read from another {each.header.title} than {str(each.path)!r}:"
                " read again what is written here."
            )


def _spec(name: str, partial: WrittenPartial) -> EnvironmentSpec:
    return EnvironmentSpec(name, "", coordinates=tuple(partial.ages[name].items()))
