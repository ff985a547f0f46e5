"""A key prefix of its own for each test on one Redis server, and a database of its own per worker.

A server of the run's own gets its database emptied after each test. One given by URL is never flushed:
what the run made there has its prefix, and goes by `clean`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memory_matrix.errors import UsageError
from memory_matrix.isolation.names import new_token, run_token

DATABASES = 16
"""As many as every server has unless it is told otherwise."""


@dataclass(frozen=True)
class Place:
    """Where one test may do what it likes."""

    url: str
    prefix: str


class RedisIsolation:
    """Makes places on one server, through one connection of its own."""

    def __init__(
        self, url: str, *, owned: bool, worker: int = 0, may_hold_data: bool = False
    ) -> None:
        self.owned = owned
        self.exclusive = owned and worker < DATABASES
        """Whether nobody else uses the database: then it is emptied after each test."""
        self.url = with_database(url, worker) if self.exclusive else url
        if not owned and not may_hold_data:
            self._refuse_data()

    @cached_property
    def client(self) -> Any:
        """A client that gives bytes, and never tries again by itself."""
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis.from_url(
            self.url, socket_timeout=30, socket_connect_timeout=10, retry=Retry(NoBackoff(), 0)
        )

    def place(self) -> Place:
        """Return a new prefix; nothing is sent."""
        return Place(self.url, f"mm{run_token()}:{new_token(4)}:")

    def leave(self, place: Place) -> list[str]:
        """Empty the database where it is the worker's own; return the keys outside the test's prefix."""
        if not self.exclusive:
            return []
        own = place.prefix.encode()
        keys, _ = self.client.pipeline(transaction=False).keys("*").flushdb().execute()
        return sorted(
            key.decode(errors="backslashreplace") for key in keys if not key.startswith(own)
        )

    def clean(self) -> None:
        """Remove all keys that this run made on a server given by URL."""
        batch = []
        for key in self.client.scan_iter(match=f"mm{run_token()}:*", count=1000):
            batch.append(key)
            if len(batch) == 1000:
                self.client.unlink(*batch)
                batch = []
        if batch:
            self.client.unlink(*batch)

    def close(self) -> None:
        """Close the connection."""
        if "client" in self.__dict__:
            self.client.close()

    def _refuse_data(self) -> None:
        own = f"mm{run_token()}:".encode()
        foreign = next(
            (key for key in self.client.scan_iter(count=100) if not key.startswith(own)), None
        )
        if foreign is not None:
            raise UsageError(
                f"The Redis given by URL holds data, such as the key {foreign[:60]!r}: name a database that "
                "is empty, or say --redis-may-hold-data (tests then use a key prefix of their own; "
                "nothing is flushed)."
            )


def with_database(url: str, number: int) -> str:
    """Return `url` for the database `number` of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
