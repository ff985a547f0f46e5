"""A transaction pool before a Postgres: what its clients take for a session is another one in each transaction.

As behind any such pool, nothing that a session keeps from one transaction to the next can be relied
on: prepared statements, settings, locks, temporary tables. Here they are never where they were left.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memory_matrix.suite.background import Background, stop_listening
from memory_matrix.suite.outcomes import CaseSkipped

_LOOPBACK = "127.0.0.1"
_SESSIONS = 3
_PATIENCE = 5.0
_TOLD = (
    *("server_version", "server_encoding", "client_encoding", "application_name"),
    *("session_authorization", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes"),
    *("standard_conforming_strings",),
)
"""The settings that a server tells a new client."""
_ENCRYPTION_WANTED = frozenset({80877103, 80877104})
_CANCEL = 80877102
_COPIED = b"dcf"
"""Messages of a copy under way, which needs no Sync of its own."""


@contextmanager
def transaction_pool(dsn: str) -> Iterator[str]:
    """Yield the URL of a transaction pool before the server of `dsn`.

    Raises:
        CaseSkipped: the server takes encrypted connections only.
    """
    background = Background()
    pool = _Pool(dsn, background)
    try:
        port = background.run(pool.start())
        parts = urlsplit(dsn)
        login, at, _ = parts.netloc.rpartition("@")
        yield urlunsplit(parts._replace(netloc=f"{login}{at}{_LOOPBACK}:{port}"))
    finally:
        background.run(pool.end())
        background.close()


@dataclass(eq=False)
class _Session:
    """A session on the server, whose login psycopg has done; the rest is bytes."""

    connection: Any
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def close(self) -> None:
        self.writer.close()
        self.connection.close()


class _Pool:
    def __init__(self, dsn: str, background: Background) -> None:
        self._dsn = dsn
        self._background = background
        self._server: asyncio.Server | None = None
        self._clients: dict[tuple[int, int], _Client] = {}
        self._all: list[_Session] = []
        self._ends = False
        self.free: asyncio.Queue[_Session]
        self.told: list[tuple[str, str]] = []

    async def start(self) -> int:
        """Open the sessions, and listen; return the port."""
        self.free = asyncio.Queue()  # takes turns: the one that was used longest ago comes next
        for _ in range(_SESSIONS):
            await self.add()
        self._server = await asyncio.start_server(
            self._background.attending(self._serve), _LOOPBACK, 0
        )
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def add(self) -> None:
        """Open one more session, unless the pool is about to end."""
        if self._ends:
            return
        session = await _session(self._dsn)
        self._all.append(session)
        self._background.keep(session.writer)
        self.free.put_nowait(session)
        values = [(name, session.connection.info.parameter_status(name)) for name in _TOLD]
        self.told = [(name, value) for name, value in values if value is not None]

    async def end(self) -> None:
        """Close everything."""
        self._ends = True
        if self._server is not None:
            await stop_listening(self._server)
        for client in self._clients.values():
            client.hang_up()
        if clients := self._background.clients:
            # Not cancelled, for one of them may be about to open a session.
            await asyncio.wait(clients, timeout=_PATIENCE)
        for session in self._all:
            session.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await self._greet(reader, writer)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            size, code = struct.unpack("!II", await reader.readexactly(8))
            body = await reader.readexactly(size - 8)
            if code not in _ENCRYPTION_WANTED:
                break
            writer.write(b"N")
        if code == _CANCEL:
            await self._cancel(struct.unpack("!II", body))
            return
        key = (secrets.randbits(31), secrets.randbits(31))
        writer.write(_message(b"R", struct.pack("!I", 0)))
        for name, value in self.told:
            writer.write(_message(b"S", f"{name}\0{value}\0".encode()))
        writer.write(_message(b"K", struct.pack("!II", *key)) + _message(b"Z", b"I"))
        self._clients[key] = _Client(self, reader, writer)
        try:
            await self._clients[key].serve()
        finally:
            del self._clients[key]

    async def _cancel(self, key: tuple[int, ...]) -> None:
        client = self._clients.get((key[0], key[1]))
        if client is not None and client.session is not None:
            await asyncio.to_thread(client.session.connection.cancel)


class _Client:
    """A client, which has a session as long as a transaction goes on."""

    def __init__(
        self, pool: _Pool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.session: _Session | None = None
        self._pool = pool
        self._reader = reader
        self._writer = writer
        self._expected = 0
        """How often the server has yet to say that it is ready."""
        self._open = False
        """Whether something was sent that no Sync has followed yet."""
        self._answers: asyncio.Task[None] | None = None

    async def serve(self) -> None:
        """Pass messages on until the client says goodbye."""
        try:
            while (message := await _read(self._reader))[:1] != b"X":
                if self.session is None:
                    self.session = await self._pool.free.get()
                    self._answers = asyncio.create_task(self._answer(self.session))
                self._note(message[:1])
                self.session.writer.write(message)
                await self.session.writer.drain()
        finally:
            await self._leave()

    def hang_up(self) -> None:
        """End the connection, and with it `serve`."""
        self._writer.transport.abort()

    def _note(self, kind: bytes) -> None:
        if kind in {b"Q", b"S", b"F"}:
            self._expected += 1
            self._open = False
        elif kind not in _COPIED:
            self._open = True

    async def _answer(self, session: _Session) -> None:
        """Pass answers on until the transaction is over; then others may have the session."""
        while True:
            message = await _read(session.reader)
            ready = message[:1] == b"Z"
            self._expected -= ready
            over = ready and message[-1:] == b"I" and not self._expected and not self._open
            if over:
                self.session = None
                self._pool.free.put_nowait(session)
            self._writer.write(message)
            await self._writer.drain()
            if over:
                return

    async def _leave(self) -> None:
        """Give up a session in the middle of a transaction: nobody else may go on with it."""
        if self._answers is not None:
            self._answers.cancel()
            await asyncio.gather(self._answers, return_exceptions=True)
        if self.session is not None:
            self.session.close()
            await self._pool.add()


async def _session(dsn: str) -> _Session:
    connection = await asyncio.to_thread(_login, dsn)
    own = socket.socket(fileno=os.dup(connection.fileno()))
    reader, writer = await asyncio.open_connection(sock=own)
    return _Session(connection, reader, writer)


def _login(dsn: str) -> Any:
    import psycopg

    try:
        return psycopg.connect(dsn, autocommit=True, sslmode="disable", gssencmode="disable")
    except psycopg.OperationalError as error:
        raise CaseSkipped(f"no pool can stand before the server: {error}") from None


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


async def _read(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(5)
    (size,) = struct.unpack("!I", head[1:])
    return head + await reader.readexactly(size - 4)
