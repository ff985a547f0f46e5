"""The same small store of conversations, on Redis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis


class ChatError(Exception):
    """What callers get where Redis cannot do what they asked for."""


class RedisChat:
    """The history of each session, as a list under a key of its own."""

    def __init__(self, url: str, prefix: str) -> None:
        self._client: redis.Redis | None = redis.Redis.from_url(url, socket_timeout=3)
        self._prefix = prefix

    def add(self, session: str, bodies: list[dict[str, Any]]) -> None:
        rows = [exact(body) for body in bodies]
        if rows:  # one command, so that all of them are there or none
            with self._open() as client:
                client.rpush(key(self._prefix, session), *rows)

    def history(self, session: str) -> list[dict[str, Any]]:
        with self._open() as client:
            return [json.loads(row) for row in client.lrange(key(self._prefix, session), 0, -1)]

    def forget(self, session: str) -> None:
        with self._open() as client:
            client.delete(key(self._prefix, session))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    @contextmanager
    def _open(self) -> Iterator[redis.Redis]:
        if self._client is None:  # redis-py itself would just connect again
            raise ValueError("the store is closed")
        try:
            yield self._client
        except redis.RedisError as error:
            raise ChatError(f"the history is out of reach: {error}") from error


def key(prefix: str, session: str) -> bytes:
    """Return the key under which a session's history is."""
    if not isinstance(session, str):
        raise TypeError(f"a session is named by a string, not by {session!r}")
    return f"{prefix}chat:{session}".encode()


def exact(body: dict[str, Any]) -> str:
    text = json.dumps(body, allow_nan=False)
    if json.loads(text) != body:  # a tuple, an int as a key
        raise ValueError("this would not come back from JSON as it is")
    return text
