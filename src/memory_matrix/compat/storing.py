"""The store phase: every blob goes through every server, and comes back as it may."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from memory_matrix.compat.model import Variant, Writes
from memory_matrix.report.model import Error
from memory_matrix.servers.model import Server


class BlobFolder(Mapping[str, bytes]):
    """Blobs by digest, read from their files when asked for."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._folder = folder
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return (self._folder / name).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def store_all(
    servers: Sequence[Server],
    writes: Sequence[Writes],
    folder: Path,
    on_server: Callable[[str], None] = lambda _: None,
) -> dict[str, tuple[Variant, ...]]:
    """Return, for each blob that was written, what the servers' slots gave back.

    Slots that gave back the same bytes share a variant. What was given back altered is added to
    `folder`. Without servers, each blob is its own only variant, by way of nothing.

    Raises:
        UnavailableError: a server is gone.
    """
    blobs = BlobFolder(folder, sorted(_written_blobs(writes)))
    json_text = _json_text(writes)
    answers: dict[str, dict[tuple[str | None, Error | None], list[str]]] = {
        name: {} for name in blobs
    }
    run = os.urandom(6).hex()
    for server in servers:
        on_server(server.source.name)
        for name, slot, got, error in _round_trips(server, blobs, json_text, run):
            kept = None if got is None else _keep(folder, got)
            answers[name].setdefault((kept, error), []).append(f"{server.source.name}/{slot}")
    return {
        name: tuple(Variant(tuple(via), kept, error) for (kept, error), via in by_answer.items())
        or (Variant((), name),)
        for name, by_answer in answers.items()
    }


def _round_trips(
    server: Server, blobs: Mapping[str, bytes], json_text: frozenset[str], run: str
) -> Iterator[tuple[str, str, bytes | None, Error | None]]:
    from memory_matrix.servers.slots import round_trip

    for stored in round_trip(server, blobs, json_text=json_text, run=run):
        yield stored.key, stored.slot, stored.got, stored.error


def _written_blobs(writes: Sequence[Writes]) -> set[str]:
    return {
        each.blob
        for written in writes
        for each in written.written.values()
        if each.blob is not None
    }


def _json_text(writes: Sequence[Writes]) -> frozenset[str]:
    """Return the blobs of serializers that write JSON text, which a jsonb column takes too."""
    from memory_matrix.serializers.builtin import JSON_TEXT

    return frozenset(
        each.blob
        for written in writes
        for (_, serializer), each in written.written.items()
        if each.blob is not None and serializer in JSON_TEXT
    )


def _keep(folder: Path, data: bytes) -> str:
    from memory_matrix.worker.describe import digest

    name = digest(data)
    path = folder / name
    if not path.exists():
        unfinished = path.with_name(f"{name}.{os.getpid()}")
        unfinished.write_bytes(data)
        unfinished.replace(path)
    return name
