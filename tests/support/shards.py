"""What shards of compat leave, made by hand: four environments, two payloads, one of which breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

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
from memory_matrix.compat.partial import (
    ReadPartial,
    WrittenPartial,
    load_written,
    reads_record,
    save_read,
    save_written,
    writes_record,
)
from memory_matrix.compat.workshop import Workshop
from memory_matrix.matrix.model import CompatOptions, EnvironmentSpec, Known, Matrix
from memory_matrix.matrix.packing import Shard, packed
from memory_matrix.partials import Header, Kind, header
from memory_matrix.report.model import Difference, EnvironmentRecord, Error, ServerRecord
from memory_matrix.running import RunOptions
from memory_matrix.worker.describe import digest

NAMES = ("e0", "e1", "e2", "e3")
SAME = b"[1]"
KNOWN = Known("ticket 7", "known[0]", writer="e3", payload="note")


def matrix(root: Path) -> Matrix:
    """Return the matrix that the shards are of."""
    return Matrix(
        source=None,
        root=root,
        environments=tuple(
            EnvironmentSpec(name, "3.12", coordinates=(("environment", age),))
            for age, name in enumerate(NAMES)
        ),
        compat=CompatOptions(("json", "pickle"), ("payloads.py",)),
        known=(KNOWN,),
    )


def described(name: str) -> bytes:
    """Return what the environment means by `note`."""
    return json.dumps({"objects": [], "root": "new" if name == "e3" else "old"}).encode()


def own_bytes(name: str) -> bytes:
    """Return the bytes that the environment alone writes for `note`."""
    return f"note of {name}".encode()


def writes(name: str) -> Writes:
    """Return what the environment wrote."""
    return Writes(
        environment=name,
        meanings={
            "list": Meaning("built", digest(SAME), location="payloads.py:1"),
            "note": Meaning("built", digest(described(name)), plain="0" * 64),
            **({"odd": Meaning("failed", reason="ValueError: no")} if name == "e1" else {}),
        },
        written={
            ("list", "json"): Written("written", digest(SAME), text=True),
            ("note", "json"): Written("unwritable", error=Error("dump", "TypeError", "no")),
            ("note", "pickle"): Written("written", digest(own_bytes(name))),
        },
        lacking={},
        modules=("decimal", "app.models", "_sysconfigdata__linux_x86_64-linux-gnu"),
        sources={"payloads.py": Source(("list", "note", *(["odd"] if name == "e1" else [])))},
        serializers=("json", "pickle"),
        seconds=1.5,
    )


def variants(name: str) -> dict[str, tuple[Variant, ...]]:
    """Return what the servers gave back for what the environment wrote."""
    refused = Error("store", "Refused", "too long")
    return {
        digest(SAME): (
            Variant(("redis/string", "pg/bytea"), digest(SAME)),
            Variant(("pg/jsonb",), None, refused),
        ),
        digest(own_bytes(name)): (Variant(("redis/string", "pg/bytea"), digest(own_bytes(name))),),
    }


def reads(name: str, writers: Sequence[str]) -> Reads:
    """Return what the environment made of what `writers` wrote; e3 cannot load what others wrote."""
    results = {ReadKey("json", "list", digest(SAME), text=True): ReadResult("loaded")}
    for writer in writers:
        key = ReadKey("pickle", "note", digest(own_bytes(writer)), text=False)
        moved = Error("load", "ModuleNotFoundError", "No module named 'app'")
        changed = {digest(described(name)): (Difference("$", "str 'old'", "str 'new'"),)}
        results[key] = ReadResult("loaded")
        if (name == "e3") is not (writer == "e3"):
            results[key] = (
                ReadResult("unreadable", moved)
                if name == "e3"
                else ReadResult("loaded", differences=changed)
            )
    return Reads(name, results, seconds=2.5)


def record(name: str) -> EnvironmentRecord:
    """Return the record of the environment."""
    return EnvironmentRecord(name, "3.12.1", {"attrs": "23.1.0"}, seconds={"build": 0.5})


SERVERS = (
    ServerRecord("redis", "redis", "8.0", "image:redis"),
    ServerRecord("pg", "postgres", "18", "image:pg"),
)


def head(kind: Kind, root: Path, shard: Shard) -> tuple[Header, tuple[str, ...]]:
    """Return the header of a shard, and what it has to do."""
    (root / "payloads.py").touch()
    shares = packed(NAMES, [None] * len(NAMES), shard.of)
    options = RunOptions(root)
    return header(kind, matrix(root), shard, shares, options), shares[shard.number - 1]


def written_partial(root: Path, shard: Shard) -> WrittenPartial:
    """Return what a shard wrote."""
    found, mine = head("written", root, shard)
    asked = matrix(root)
    return WrittenPartial(
        header=found,
        fail_on="break",
        directions=asked.compat.directions,
        serializers=asked.compat.serializers,
        payloads=asked.compat.payloads,
        known=asked.known,
        ages={each.name: dict(each.coordinates) for each in asked.environments},
        environments=tuple(map(record, mine)),
        servers=SERVERS,
        writes=tuple(writes_record(writes(name)) for name in mine),
        variants={key: value for name in mine for key, value in variants(name).items()},
    )


def save_written_shard(root: Path, shard: Shard, partial: WrittenPartial | None = None) -> Path:
    """Save what a shard wrote under `root`, and return its JSON file."""
    workshop = Workshop(root / "work", CompatOptions(), {}, {})
    if not workshop.folder.exists():  # one holds what all shards wrote
        _fill(workshop)
    partial = partial or written_partial(root, shard)
    return save_written(partial, workshop, root / "found") / "written.json"


def _fill(workshop: Workshop) -> None:
    for folder in (workshop.blobs, workshop.descriptions):
        folder.mkdir(parents=True)
    for data in (SAME, *map(own_bytes, NAMES)):
        (workshop.blobs / digest(data)).write_bytes(data)
    for data in {SAME, *map(described, NAMES)}:
        (workshop.descriptions / digest(data)).write_bytes(data)


def read_partial(root: Path, shard: Shard, written: Sequence[Path]) -> ReadPartial:
    """Return what a shard read of what the files `written` say."""
    found, mine = head("read", root, shard)
    loaded = [load_written(path) for path in written]
    wrote = [each.environment for one in loaded for each in one.partial.writes]
    return ReadPartial(
        header=found,
        written={each.header.shard: each.digest for each in loaded},
        environments=tuple(map(record, (name for name in mine if name in wrote))),
        reads=tuple(reads_record(reads(name, wrote)) for name in mine if name in wrote),
    )


def save_all(root: Path, writers: int, readers: int) -> tuple[list[Path], list[Path]]:
    """Save so many shards of compat under `root`, and return their JSON files."""
    written = [save_written_shard(root, shard) for shard in shards(writers)]
    read = [
        save_read(read_partial(root, shard, written), root / "found") / "read.json"
        for shard in shards(readers)
    ]
    return written, read


def shards(of: int) -> Iterator[Shard]:
    """Yield all shards of so many."""
    return (Shard(number, of) for number in range(1, of + 1))


def broken(partial: WrittenPartial, name: str) -> WrittenPartial:
    """Return the partial as it is where the environment turns out not to work."""
    return replace(
        partial,
        writes=tuple(
            replace(each, broken="it does not work") if each.environment == name else each
            for each in partial.writes
        ),
    )
