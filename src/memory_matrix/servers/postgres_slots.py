"""The `bytea` and `jsonb` slots of Postgres."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from memory_matrix.report.model import Error
from memory_matrix.servers import slot
from memory_matrix.servers.asking import shortened, without_secrets
from memory_matrix.servers.model import Server
from memory_matrix.servers.slot import FailedError, Slot, SlotName

if TYPE_CHECKING:
    import psycopg

_CONNECT_TIMEOUT = 10
_BYTES_PER_SECOND = 2**20
"""A server that is slower than this counts as hung."""


class _PostgresSlot(Slot):
    """A column of a temporary table: it is gone with the connection, whatever happens."""

    create: ClassVar[str]
    store: ClassVar[str]
    fetch: ClassVar[str]

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self._connection: psycopg.Connection | None = None

    def connect(self) -> None:
        """Connect and make the table.

        Raises:
            FailedError: the server does not let it.
        """
        import psycopg

        with self._failures():
            self._connection = psycopg.connect(
                self.server.url,
                autocommit=True,
                connect_timeout=_CONNECT_TIMEOUT,
                prepare_threshold=None,
            )
            self._connection.execute(self.create)

    def close(self) -> None:
        """Close the connection, and with it remove the table."""
        if self._connection is not None:
            self._connection.close()

    def carry(self, blobs: Sequence[bytes]) -> list[bytes]:
        """Store and fetch `blobs` in one statement each.

        Raises:
            FailedError: the server refused one of them and so all, or the connection is lost.
        """
        connection = self._connection
        assert connection is not None
        seconds = slot.TIMEOUT + math.fsum(map(len, blobs)) / _BYTES_PER_SECOND
        with self._failures(), _hung_up_after(seconds, connection):
            connection.execute(self.store, [list(blobs)])
            rows = connection.execute(self.fetch, binary=True).fetchall()
            connection.execute("TRUNCATE pg_temp.memory_matrix_blob")
        return [bytes(value) for (value,) in rows]

    @contextmanager
    def _failures(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except (psycopg.Error, OSError, OverflowError) as error:
            lost = self._connection is None or self._connection.closed
            raise FailedError(self._error(error), lost=lost) from None

    def _error(self, error: Exception) -> Error:
        diagnosis = getattr(error, "diag", None)
        parts = (diagnosis.message_primary, diagnosis.message_detail) if diagnosis else (None,)
        said = ": ".join(part for part in parts if part)
        message = shortened(said) if said else without_secrets(error, self.server.url)
        return Error("store", type(error).__name__, message)


class PostgresBytea(_PostgresSlot):
    """A `bytea` column."""

    name: ClassVar[SlotName] = "bytea"
    create = "CREATE TEMPORARY TABLE memory_matrix_blob (n bigint, payload bytea)"
    store = (
        "INSERT INTO pg_temp.memory_matrix_blob SELECT n, blob "
        "FROM unnest(%b::bytea[]) WITH ORDINALITY AS given (blob, n)"
    )
    fetch = "SELECT payload FROM pg_temp.memory_matrix_blob ORDER BY n"


class PostgresJsonb(_PostgresSlot):
    """A `jsonb` column: what comes back is the server's own text of the value."""

    name: ClassVar[SlotName] = "jsonb"
    create = "CREATE TEMPORARY TABLE memory_matrix_blob (n bigint, payload jsonb)"
    store = (
        "INSERT INTO pg_temp.memory_matrix_blob SELECT n, convert_from(blob, 'UTF8')::jsonb "
        "FROM unnest(%b::bytea[]) WITH ORDINALITY AS given (blob, n)"
    )
    fetch = "SELECT convert_to(payload::text, 'UTF8') FROM pg_temp.memory_matrix_blob ORDER BY n"


@contextmanager
def _hung_up_after(seconds: float, connection: psycopg.Connection) -> Iterator[None]:
    """Cut the connection to a server that does not answer: the client would wait for ever."""
    timer = threading.Timer(seconds, _hang_up, [connection.fileno()])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _hang_up(descriptor: int) -> None:
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
        connection.shutdown(socket.SHUT_RDWR)
