"""What a shard of compat leaves: what its environments wrote, or what they read."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from memory_matrix.compat.model import (
    Meaning,
    ReadKey,
    ReadResult,
    Reads,
    Source,
    Variant,
    Writes,
    Written,
)
from memory_matrix.compat.workshop import Workshop
from memory_matrix.matrix.model import Direction, FailOn, Known
from memory_matrix.partials import Loaded, Partial, damaged, drafted, load, write
from memory_matrix.report.decoding import MalformedError
from memory_matrix.report.model import EnvironmentRecord, ServerRecord

BLOBS, DESCRIPTIONS = "blobs", "descriptions"

_PIECE = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MODULE = re.compile(r"[^\s./\\\0]+(\.[^\s./\\\0]+)*")
"""What can be imported; not all of it are identifiers, such as `_sysconfigdata__linux_x86_64-linux-gnu`."""


@dataclass(frozen=True)
class WritesRecord:
    """What one environment wrote; `written` is by payload, then by serializer."""

    environment: str
    meanings: Mapping[str, Meaning]
    written: Mapping[str, Mapping[str, Written]]
    lacking: Mapping[str, str]
    modules: tuple[str, ...]
    broken: str | None
    sources: Mapping[str, Source]
    serializers: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class ReadRecord:
    """What became of one blob in one environment."""

    key: ReadKey
    result: ReadResult


@dataclass(frozen=True)
class ReadsRecord:
    """What one environment read."""

    environment: str
    results: tuple[ReadRecord, ...]
    broken: str | None
    seconds: float


@dataclass(frozen=True)
class WrittenPartial(Partial):
    """What the environments of one shard wrote, and what the servers gave back."""

    fail_on: FailOn
    directions: tuple[Direction, ...]
    serializers: tuple[str, ...]
    payloads: tuple[str, ...]
    """Payload sources, as the matrix file names them."""
    known: tuple[Known, ...]
    ages: Mapping[str, Mapping[str, int]]
    """How old each environment of the matrix is on its axes."""
    environments: tuple[EnvironmentRecord, ...]
    servers: tuple[ServerRecord, ...]
    writes: tuple[WritesRecord, ...]
    variants: Mapping[str, tuple[Variant, ...]]


@dataclass(frozen=True)
class ReadPartial(Partial):
    """What the environments of one shard read."""

    written: Mapping[str, str]
    """The shards whose writes they read, and the digests of their files."""
    environments: tuple[EnvironmentRecord, ...]
    reads: tuple[ReadsRecord, ...]


def load_written(path: Path) -> Loaded[WrittenPartial]:
    """Return what a shard wrote.

    Raises:
        UsageError: it is damaged, or another release made it.
    """
    return load(path, "written", WrittenPartial, _check_written)


def load_read(path: Path) -> Loaded[ReadPartial]:
    """Return what a shard read.

    Raises:
        UsageError: it is damaged, or another release made it.
    """
    return load(path, "read", ReadPartial, _check_read)


def save_written(partial: WrittenPartial, workshop: Workshop, report_dir: Path) -> Path:
    """Save what a shard wrote, bytes and all, in `report_dir`, and return its folder.

    Raises:
        MemoryMatrixError: it cannot be written.
    """
    folder = report_dir / partial.header.folder
    with drafted(folder) as draft:
        for name, names in _kept(partial).items():
            (draft / name).mkdir()
            for each in names:
                shutil.copyfile(workshop.folder / name / each, draft / name / each)
        write(partial, draft)
    return folder


def save_read(partial: ReadPartial, report_dir: Path) -> Path:
    """Save what a shard read in `report_dir`, and return its folder.

    Raises:
        MemoryMatrixError: it cannot be written.
    """
    folder = report_dir / partial.header.folder
    with drafted(folder) as draft:
        write(partial, draft)
    return folder


def adopt(loaded: Sequence[Loaded[WrittenPartial]], folder: Path) -> None:
    """Copy the blobs and descriptions of shards to `folder`; what is not what its name says is refused.

    Raises:
        UsageError: one is missing or damaged.
    """
    for each in loaded:
        for name, names in _kept(each.partial).items():
            (folder / name).mkdir(exist_ok=True)
            for digest in names:
                _adopt(each.path.parent / name / digest, folder / name / digest)


def _adopt(source: Path, target: Path) -> None:
    """Copy a file, however large, and raise where its digest is not its name."""
    data = None
    with suppress(OSError):
        data = source.open("rb") if source.is_file() else None
    if data is None:
        raise damaged(source, "it is not there, or cannot be read")
    hashed = hashlib.sha256()
    with data, target.open("wb") as copy:
        while piece := data.read(_PIECE):
            hashed.update(piece)
            copy.write(piece)
    if hashed.hexdigest() != source.name:
        raise damaged(source, "it does not hold the bytes that it is named after")


def writes_record(writes: Writes) -> WritesRecord:
    """Return `writes` as JSON can hold it."""
    written: dict[str, dict[str, Written]] = {}
    for (payload, serializer), each in writes.written.items():
        written.setdefault(payload, {})[serializer] = each
    return WritesRecord(**{**_values(writes), "written": written})


def reads_record(reads: Reads) -> ReadsRecord:
    """Return `reads` as JSON can hold it."""
    results = tuple(ReadRecord(key, result) for key, result in reads.results.items())
    return ReadsRecord(**{**_values(reads), "results": results})


def writes_of(record: WritesRecord) -> Writes:
    """Return what `writes_record` made `record` from."""
    written = {
        (payload, serializer): each
        for payload, found in record.written.items()
        for serializer, each in found.items()
    }
    return Writes(**{**_values(record), "written": written})


def reads_of(record: ReadsRecord) -> Reads:
    """Return what `reads_record` made `record` from."""
    results = {each.key: each.result for each in record.results}
    return Reads(**{**_values(record), "results": results})


def _values(item: Any) -> dict[str, Any]:
    return {each.name: getattr(item, each.name) for each in fields(item)}


def _kept(partial: WrittenPartial) -> dict[str, list[str]]:
    """Return which blobs and descriptions belong to `partial`."""
    blobs = {each.blob for found in partial.variants.values() for each in found}
    meanings = [each for record in partial.writes for each in record.meanings.values()]
    descriptions = {name for each in meanings for name in (each.expected, each.probe)}
    return {
        BLOBS: sorted({*partial.variants, *filter(None, blobs)}),
        DESCRIPTIONS: sorted(filter(None, descriptions)),
    }


# What comes from elsewhere


def _check_written(partial: WrittenPartial) -> None:
    _check_environments(partial, partial.environments, partial.writes)
    for name in (each for names in _kept(partial).values() for each in names):
        if not _DIGEST.fullmatch(name):
            raise MalformedError(f"has {name!r:.60}, which is no digest", ".variants")
    for name in partial.header.environments:
        if name not in partial.ages:
            raise MalformedError(f"has no {name!r:.60}", ".ages")
    for number, record in enumerate(partial.writes):
        for problem in _problems(record, partial.variants):
            raise MalformedError(problem, f".writes[{number}]")


def _problems(record: WritesRecord, variants: Mapping[str, object]) -> Iterator[str]:
    for payload, meaning in record.meanings.items():
        if meaning.outcome == "built" and meaning.expected is None:
            yield f"has no description of the payload {payload!r:.60}"
    for payload, found in record.written.items():
        if payload not in record.meanings:
            yield f"wrote the payload {payload!r:.60}, which it does not have"
        for each in found.values():
            if (each.outcome == "written") is not (each.blob in variants):
                yield f"wrote the payload {payload!r:.60} to a blob that is not there"
    for module in record.modules:
        if not _MODULE.fullmatch(module):
            yield f"imports {module!r:.60}, which is no module"


def _check_read(partial: ReadPartial) -> None:
    _check_environments(partial, partial.environments, partial.reads)


def _check_environments(
    partial: Partial,
    environments: Sequence[EnvironmentRecord],
    found: Sequence[WritesRecord | ReadsRecord],
) -> None:
    """Raise where a shard says something of what it had not to do."""
    mine = partial.header.units[partial.header.place.number - 1]
    for what, names in {
        "environments": [each.name for each in environments],
        "found": [each.environment for each in found],
    }.items():
        if len(set(names)) < len(names) or not set(mine).issuperset(names):
            raise MalformedError(
                f"says of {names!r:.60}, and the shard has {mine!r:.60}", f".{what}"
            )
    if not set(partial.header.environments).issuperset(mine):
        raise MalformedError("has environments that the matrix has not", ".header.units")
