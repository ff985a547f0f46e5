"""A key prefix of its own for each test on one Redis server, and a database of its own per worker.

A server of the run's own gets its database emptied after each test. One given by URL is never flushed:
what the run made there has its prefix, and goes by `clean`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memory_matrix.errors import UnavailableError, UsageError
from memory_matrix.isolation.names import new_token

_CLAIM = "memory-matrix:database:"
"""In database 0: which of the others somebody uses."""
_BATCH = 1000

_FIRST_LOOK = """
if redis.call('EXISTS', KEYS[1]) == 1 then return '' end
local cursor, foreign = '0', ''
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if not string.match(key, '^mm%x%x%x%x%x%x%x%x%x%x%x%x:') then foreign = key end
  end
until cursor == '0' or foreign ~= ''
if foreign == '' then redis.call('SET', KEYS[1], '') end
return foreign
"""
"""Finds a key that is of no run. Once for each run that may go on, before its first test writes any."""


@dataclass(frozen=True)
class Place:
    """Where one test may do what it likes."""

    url: str
    prefix: str


class RedisIsolation:
    """Makes places on one server, through one connection of its own.

    `shared` says that other workers use the server too. What is made has the run's `token` in its name.

    Raises:
        UsageError: the server was given by URL and holds data, and nobody said that it may.
        UnavailableError: the server is gone, or refuses what it is asked.
    """

    def __init__(
        self,
        url: str,
        *,
        owned: bool,
        shared: bool = False,
        token: str | None = None,
        may_hold_data: bool = False,
    ) -> None:
        self.owned = owned
        self.url = url
        self._token = token or new_token()
        self._server = url
        self._claimed: str | None = None
        self.exclusive = owned
        """Whether nobody else uses the database: then it is emptied after each test."""
        with _told():
            if owned and shared:
                self._claim_database()
            elif not owned and not may_hold_data:
                self._refuse_data()

    @cached_property
    def client(self) -> Any:
        """A client that gives bytes, and never tries again by itself."""
        return _client(self.url)

    def place(self) -> Place:
        """Return a new prefix; nothing is sent."""
        return Place(self.url, f"mm{self._token}:{new_token(4)}:")

    def leave(self, place: Place) -> list[str]:
        """Remove what the test made; return what is outside its prefix, if nobody else can have made it.

        That is keys, and search indexes by their names.

        Raises:
            UnavailableError: the server is gone.
        """
        own = place.prefix.encode()
        with _told():
            if not self.exclusive:
                if self.owned:
                    self._remove(place.prefix)
                return []
            indexes = self._indexes()  # which go with the keys that they are of
            keys, _ = self.client.pipeline(transaction=False).keys("*").flushdb().execute()
        foreign = [key for key in keys if not key.startswith(own)]
        foreign += [b"the index " + name for name in indexes if not name.startswith(own)]
        return sorted(each.decode(errors="backslashreplace") for each in foreign)

    def clean(self) -> None:
        """Remove all keys and search indexes that this run made on a server given by URL.

        Also those of stores that take the colons out of their prefix.
        """
        self._remove(f"mm{self._token}")

    def close(self) -> None:
        """Let others have the database, and close the connection. Nothing where the server is gone."""
        from redis.exceptions import RedisError

        if "client" in self.__dict__:
            self.client.close()
        if self._claimed is not None:
            with contextlib.suppress(RedisError), _client(self._server) as client:
                client.delete(self._claimed)

    def _claim_database(self) -> None:
        """Take a database that nobody has; the last one is for those who come when all are taken."""
        with _client(self._server) as client:
            last = int(client.config_get("databases")["databases"]) - 1
            for number in range(1, last):
                if client.set(f"{_CLAIM}{number}", self._token, nx=True):
                    self._claimed = f"{_CLAIM}{number}"
                    self.url = with_database(self._server, number)
                    return
        self.exclusive = False
        self.url = with_database(self._server, last)

    def _remove(self, prefix: str) -> None:
        for name in self._indexes():
            if name.startswith(prefix.encode()):
                self.client.execute_command("FT.DROPINDEX", name)
        found = self.client.scan_iter(match=f"{prefix}*", count=_BATCH)
        while batch := list(islice(found, _BATCH)):
            self.client.unlink(*batch)

    def _indexes(self) -> list[bytes]:
        """Return the names of all search indexes."""
        return list(self.client.execute_command("FT._LIST")) if self._searches else []

    @cached_property
    def _searches(self) -> bool:
        """Whether the server has search indexes, and lets them be seen."""
        from redis.exceptions import ResponseError

        try:
            self.client.execute_command("FT._LIST")
        except ResponseError:
            return False
        return True

    def _refuse_data(self) -> None:
        foreign = self.client.eval(_FIRST_LOOK, 1, f"mm{self._token}:looked")
        if foreign:
            raise UsageError(
                f"The Redis given by URL holds data, such as the key {foreign[:60].decode(errors='backslashreplace')!r}: "
                "name a database that is empty, or say --redis-may-hold-data (tests then use a key "
                "prefix of their own; nothing is flushed)."
            )


def _client(url: str) -> Any:
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(
        url, socket_timeout=30, socket_connect_timeout=10, retry=Retry(NoBackoff(), 0)
    )


@contextmanager
def _told() -> Iterator[None]:
    """Say in a sentence what the server refuses."""
    from redis.exceptions import ConnectionError as GoneError
    from redis.exceptions import RedisError
    from redis.exceptions import TimeoutError as SilentError

    try:
        yield
    except (GoneError, SilentError) as error:
        raise UnavailableError(f"The Redis does not answer: {_said(error)}.") from error
    except RedisError as error:
        raise UnavailableError(f"The Redis refuses what a test needs: {_said(error)}.") from error


def _said(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def with_database(url: str, number: int) -> str:
    """Return `url` for the database `number` of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
