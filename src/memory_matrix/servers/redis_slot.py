"""The `string` slot of Redis and Valkey."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, ClassVar

from memory_matrix.report.model import Error
from memory_matrix.servers import slot
from memory_matrix.servers.asking import redis_client, without_secrets
from memory_matrix.servers.model import Server
from memory_matrix.servers.slot import FailedError, Slot, SlotName

_LIFE = 3600
"""Seconds after which the server forgets the keys of a killed run."""


class RedisString(Slot):
    """Keys of a run's own, set and got in pipelines, and deleted again."""

    name: ClassVar[SlotName] = "string"

    def __init__(self, server: Server, run: str) -> None:
        super().__init__(server)
        self._prefix = f"memory-matrix:{run}:"
        self._client: Any = None
        self._left: Sequence[str] = []
        """Keys of a batch whose connection was lost: a server that hangs is not asked twice."""

    def connect(self) -> None:
        """Make a client, and delete what a lost connection left."""
        self._client = redis_client(self.server.url, timeout=slot.TIMEOUT)
        self._delete(self._left)
        self._left = []

    def close(self) -> None:
        """Give up the client and its connection."""
        if self._client is not None:
            self._client.close()

    def carry(self, blobs: Sequence[bytes]) -> list[bytes]:
        """Store, fetch and delete `blobs`.

        Raises:
            FailedError: the server refused one of them (perhaps only for the room that another
                took), or the connection is lost.
        """
        import redis

        keys = [f"{self._prefix}{number}" for number in range(len(blobs))]
        try:
            replies = self._exchange(keys, blobs)
        except (redis.RedisError, OSError) as error:
            self._left = keys
            raise FailedError(self._error(error), lost=True) from None
        finally:
            self._delete([] if self._left else keys)
        return [
            self._fetched(stored, fetched)
            for stored, fetched in zip(replies[::2], replies[1::2], strict=True)
        ]

    def _delete(self, keys: Sequence[str]) -> None:
        import redis

        if keys:
            with contextlib.suppress(redis.RedisError, OSError):
                self._client.delete(*keys)

    def _exchange(self, keys: Sequence[str], blobs: Sequence[bytes]) -> list[Any]:
        with self._client.pipeline(transaction=False) as pipeline:
            for key, blob in zip(keys, blobs, strict=True):
                pipeline.set(key, blob, ex=_LIFE)
                pipeline.get(key)
            replies: list[Any] = pipeline.execute(raise_on_error=False)
            return replies

    def _fetched(self, stored: object, fetched: object) -> bytes:
        for reply in (stored, fetched):
            if isinstance(reply, Exception):
                raise FailedError(self._error(reply), lost=False)
        if not isinstance(fetched, bytes):
            lost = Error("store", "KeyError", "the server took the blob and lost it: evicted?")
            raise FailedError(lost, lost=False)
        return fetched

    def _error(self, error: Exception) -> Error:
        return Error("store", type(error).__name__, without_secrets(error, self.server.url))
