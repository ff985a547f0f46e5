"""Store blobs in a server's slots and fetch them again, over a real connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_matrix.report.model import Error
from memory_matrix.servers.model import Server
from memory_matrix.servers.postgres_slots import PostgresBytea, PostgresJsonb
from memory_matrix.servers.redis_slot import RedisString
from memory_matrix.servers.slot import FailedError, Slot, SlotName

_BATCH_BLOBS = 500
_BATCH_BYTES = 8 * 2**20

_Item = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one blob in one slot: the bytes that the server gave back, or why it did not."""

    key: str
    slot: SlotName
    got: bytes | None = None
    error: Error | None = None


def round_trip(
    server: Server, blobs: Mapping[str, bytes], *, json_text: Collection[str] = (), run: str
) -> Iterator[Stored]:
    """Store each blob in every slot of `server` that fits it, fetch it again, and remove it.

    `json_text` has the keys of the blobs that are JSON text: in Postgres those go through `jsonb`
    too. `run` tells this run's keys from others'. A blob that the server refuses is an error of that
    blob only. Nothing stays on the server, also when this process is killed: keys of Redis expire,
    and Postgres has them in temporary tables.

    Raises:
        UnavailableError: the server is gone, or takes no writes at all.
    """
    if server.source.kind == "redis":
        yield from _through(RedisString(server, run), blobs.items())
        return
    yield from _through(PostgresBytea(server), blobs.items())
    texts = [(key, blobs[key]) for key in blobs if key in json_text]
    if texts:
        yield from _through(PostgresJsonb(server), texts)


def _through(slot: Slot, items: Iterable[_Item]) -> Iterator[Stored]:
    with slot:
        for batch in _batches(items):
            yield from _carry(slot, batch)


def _carry(slot: Slot, batch: Sequence[_Item]) -> Iterator[Stored]:
    """Carry a batch; where it fails as a whole, halve it until the blob that did it is alone."""
    try:
        results = slot.carry([blob for _, blob in batch])
    except FailedError as failure:
        slot.recover(failure)
        if len(batch) == 1:
            yield Stored(batch[0][0], slot.name, error=_told(failure))
            return
        middle = len(batch) // 2
        yield from _carry(slot, batch[:middle])
        yield from _carry(slot, batch[middle:])
        return
    for (key, _), got in zip(batch, results, strict=True):
        yield Stored(key, slot.name, got=got)


def _told(failure: FailedError) -> Error:
    """Return what is said of the one blob that `failure` is about."""
    if not failure.lost:
        return failure.error
    return replace(failure.error, message=f"the server hung up on it: {failure.error.message}")


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Split `items` so that no batch is large, except where a single blob is."""
    batch: list[_Item] = []
    size = 0
    for key, blob in items:
        if batch and (len(batch) == _BATCH_BLOBS or size + len(blob) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((key, blob))
        size += len(blob)
    if batch:
        yield batch
