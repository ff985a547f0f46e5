"""Stand between a store and its servers: hold replies back, lose one, or be gone, with no server broken."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from memory_matrix.suite.background import Background, stop_listening
from memory_matrix.suite.outcomes import CaseSkipped

T = TypeVar("T")
Kind = Literal["postgres", "redis"]

_LOOPBACK = "127.0.0.1"
_CHUNK = 65536
_PORTS: Mapping[str, tuple[Kind, int]] = {
    "postgres": ("postgres", 5432),
    "postgresql": ("postgres", 5432),
    "redis": ("redis", 6379),
}


@dataclass(frozen=True)
class Target:
    """A server that a proxy stands before."""

    kind: Kind
    host: str
    port: int


@dataclass(eq=False)
class _Link:
    """One connection of a store, on to its server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server_reader: asyncio.StreamReader
    server_writer: asyncio.StreamWriter
    asked: bool = False
    """Whether something was asked that was not answered yet."""
    unsent: bytearray = field(default_factory=bytearray)

    def cut(self) -> None:
        """Let both ends find the connection broken."""
        for each in (self.writer, self.server_writer):
            each.transport.abort()

    def end(self) -> None:
        """Close both ends once they have all that was said."""
        for each in (self.writer, self.server_writer):
            each.close()


class Proxy:
    """What a store connects to in the place of its servers.

    Everything happens on an event loop in a thread of its own, so that no caller of the store can stop it.
    """

    def __init__(self, targets: Mapping[Kind, Target]) -> None:
        self.ports: dict[Kind, int] = dict.fromkeys(targets, 0)
        self._targets = targets
        self._servers: list[asyncio.Server] = []
        self._bound: dict[Kind, socket.socket] = {}
        self._links: set[_Link] = set()
        self._to_lose = 0
        self._starting = False
        self._background = Background()
        self._open, self._asked = self._run(_events())
        self._run(self._listen())

    # ---- what a case does to the connections --------------------------------------------------

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Pass requests on, and keep all replies back until the block is left."""
        self._run(self._hold())
        try:
            yield
        finally:
            self._run(self._release())

    def wait_until_asked(self, seconds: float = 5.0) -> bool:
        """Return, once a request has been passed on since the replies are held back, whether one was."""
        with suppress(asyncio.TimeoutError):
            self._run(asyncio.wait_for(self._asked.wait(), seconds))
            return True
        return False

    def lose_reply(self, number: int) -> None:
        """Cut the connection instead of passing on the reply `number` from now, counted from 1."""
        self._run(self._set(to_lose=number))

    def cut(self) -> int:
        """Cut all connections, and return how many there were."""
        return self._run(self._cut())

    @contextmanager
    def down(self) -> Iterator[None]:
        """Cut all connections and refuse new ones until the block is left, as where no server runs."""
        self._run(self._go_down())
        try:
            yield
        finally:
            self._run(self._listen())

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Answer as servers do that run but are not ready, until the block is left.

        Redis says LOADING to all but the commands of a new connection; Postgres takes no new ones.
        """
        self._run(self._set(starting=True))
        self._run(self._cut())
        try:
            yield
        finally:
            self._run(self._set(starting=False))

    def close(self) -> None:
        """End all connections and the thread."""
        self._run(self._go_down())
        self._background.close()
        for bound in self._bound.values():
            bound.close()

    # ---- on the loop ----------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._background.run(work)

    async def _listen(self) -> None:
        for target in self._targets.values():
            serve = self._background.attending(partial(self._serve, target))
            bound = self._bound.pop(target.kind, None) or _bound(0)
            self.ports[target.kind] = bound.getsockname()[1]
            self._servers.append(await asyncio.start_server(serve, sock=bound))

    async def _hold(self) -> None:
        self._open.clear()
        self._asked.clear()

    async def _release(self) -> None:
        self._open.set()

    async def _set(self, *, to_lose: int | None = None, starting: bool | None = None) -> None:
        if to_lose is not None:
            self._to_lose = to_lose
        if starting is not None:
            self._starting = starting

    async def _cut(self) -> int:
        links, self._links = self._links, set()
        for link in links:
            link.cut()
        return len(links)

    async def _go_down(self) -> None:
        while self._servers:
            await stop_listening(self._servers.pop())
        # Held without listening on them, or somebody else might get the ports: a client by itself, even.
        self._bound = {kind: _bound(port) for kind, port in self.ports.items()}
        await self._cut()

    async def _serve(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if self._starting and target.kind == "postgres":
                await _say_starting(reader, writer)
            else:
                await self._pass_on(target, reader, writer)

    async def _pass_on(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        link = _Link(reader, writer, *await asyncio.open_connection(target.host, target.port))
        self._links.add(link)
        self._background.keep(link.server_writer)
        ways = [
            asyncio.create_task(self._requests(link, target.kind)),
            asyncio.create_task(self._replies(link)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._links.discard(link)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            link.end()

    async def _requests(self, link: _Link, kind: Kind) -> None:
        while data := await link.reader.read(_CHUNK):
            link.unsent += data
            if kind == "redis" and self._starting:
                sent = _without_commands(link.unsent)
            else:
                sent = bytes(link.unsent)
                link.unsent.clear()
            link.asked = True
            link.server_writer.write(sent)
            await link.server_writer.drain()
            self._asked.set()

    async def _replies(self, link: _Link) -> None:
        while data := await link.server_reader.read(_CHUNK):
            await self._open.wait()
            if link.asked and self._to_lose:
                self._to_lose -= 1
                if not self._to_lose:
                    link.cut()
                    return
            link.asked = False
            link.writer.write(data)
            await link.writer.drain()


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((_LOOPBACK, port))
    return bound


def targets_of(*urls: str | None) -> dict[Kind, Target]:
    """Return the servers that `urls` name.

    Raises:
        CaseSkipped: no proxy can stand before one of them.
    """
    targets = [_target(url) for url in urls if url is not None]
    return {target.kind: target for target in targets}


def through(proxy: Proxy, url: str | None) -> str | None:
    """Return `url` with the proxy in the place of the server."""
    if url is None:
        return None
    parts = urlsplit(url)
    login, at, _ = parts.netloc.rpartition("@")
    port = proxy.ports[_PORTS[parts.scheme][0]]
    return urlunsplit(parts._replace(netloc=f"{login}{at}{_LOOPBACK}:{port}"))


async def _events() -> tuple[asyncio.Event, asyncio.Event]:
    """Return the event that replies may pass, and that something was asked; made on the loop."""
    may_pass, asked = asyncio.Event(), asyncio.Event()
    may_pass.set()
    return may_pass, asked


def _target(url: str) -> Target:
    parts = urlsplit(url)
    settings = dict(parse_qsl(parts.query))
    plain = parts.scheme in _PORTS and settings.get("sslmode") != "verify-full"
    try:
        host, port = parts.hostname, parts.port
    except ValueError:  # several hosts
        host = port = None
    if not plain or not host or "," in host or "host" in settings:
        raise CaseSkipped("no proxy can stand before the server, by the URL that it has")
    kind, usual = _PORTS[parts.scheme]
    return Target(kind, host, port or usual)


# ---- servers that are not ready -----------------------------------------------------------------

_NEW_CONNECTION = frozenset({b"AUTH", b"HELLO", b"CLIENT", b"SELECT"})
"""Commands that Redis answers while it loads its data."""
_LOADING = b"return redis.error_reply('LOADING Redis is loading the dataset in memory')"
_ENCRYPTION_WANTED = frozenset({80877103, 80877104})
_CANCEL = 80877102


def _without_commands(requests: bytearray) -> bytes:
    """Take all whole commands away; return them with most replaced by one that says LOADING."""
    sent = b""
    while (command := _command(requests)) is not None:
        parts, length = command
        sent += (
            bytes(requests[:length])
            if parts[0].upper() in _NEW_CONNECTION
            else _packed(b"EVAL", _LOADING, b"0")
        )
        del requests[:length]
    return sent


def _command(requests: bytearray) -> tuple[list[bytes], int] | None:
    """Return the first command, and how many bytes it has; None where it is not whole."""
    lines = bytes(requests)
    try:
        head, _, _ = lines.partition(b"\r\n")
        at, parts = len(head) + 2, []
        for _ in range(int(head[1:])):
            end = lines.index(b"\r\n", at)
            size = int(lines[at + 1 : end])
            parts.append(lines[end + 2 : end + 2 + size])
            at = end + 2 + size + 2
    except ValueError:
        return None
    return (parts, at) if parts and at <= len(lines) else None


def _packed(*parts: bytes) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(
        b"$%d\r\n%b\r\n" % (len(each), each) for each in parts
    )


async def _say_starting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Refuse a new connection as a Postgres does that is starting up."""
    while True:
        size, code = struct.unpack("!II", await reader.readexactly(8))
        await reader.readexactly(size - 8)
        if code == _CANCEL:
            return
        if code not in _ENCRYPTION_WANTED:
            break
        writer.write(b"N")
    said = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
    writer.write(b"E" + struct.pack("!I", len(said) + 4) + said)
    await writer.drain()
