"""Ask another process of this machine, which owns them, for servers. Standard library only."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from typing_extensions import Self

    from memory_matrix.matrix.model import ServerKind

ADDRESS = "MEMORY_MATRIX_SERVERS"
"""The environment variable that hands an address of the service on."""

SERVICE_NAME = "mymaster"
"""What the sentinels of a private server call its primary."""

Topology = Literal["single", "sentinel", "cluster"]

_NONE: Mapping[str, str] = MappingProxyType({})


class ServerError(Exception):
    """A server could not be had, or did not do what was asked. Its text is a sentence for the user."""

    def __init__(self, sentence: str, *, refused: bool = False) -> None:
        super().__init__(sentence)
        self.refused = refused
        """Whether the request itself is wrong, so that no machine could have done it."""


class _GoneError(ServerError):
    """The process that owns the servers has ended."""


@dataclass(frozen=True)
class ServerInfo:
    """A running server."""

    name: str
    """Short, for people: `pg17`, `redis:8.0`."""
    kind: ServerKind
    source: str
    """As the matrix file writes it, with `***` for a password in a URL."""
    url: str
    version: str
    """As the server itself says it."""
    flavour: str
    """`PostgreSQL`, `Redis` or `Valkey`."""
    owned: bool
    """Whether the service started it. What was given by URL is not to be flushed or dropped."""


@dataclass(frozen=True)
class ServerNode:
    """One server process of a private server."""

    url: str
    role: str
    """`primary`, `replica` or `sentinel`."""


class Servers:
    """The servers that a service owns. For any number of threads, and for processes forked later."""

    def __init__(self, address: str) -> None:
        key, _, path = address.partition(":")
        try:
            self._key = bytes.fromhex(key)
        except ValueError:
            path = ""
        if not path:
            raise ServerError(f"{ADDRESS} holds no address of a server service.", refused=True)
        self._path = path
        self._shared: dict[tuple[str, str], ServerInfo] = {}
        self._private: set[PrivateServer] = set()

    @classmethod
    def at(cls, address: str) -> Self:
        """Return the servers of the service at `address`, which is asked only when one is wanted.

        Raises:
            ServerError: it is no address.
        """
        return cls(address)

    def shared(self, kind: ServerKind, source: str = "") -> ServerInfo:
        """Return the server of `source` that all share; the first who asks has it started.

        `source` is written as in the matrix file; empty is the embedded default.

        Raises:
            ServerError: it cannot be had; the same sentence each time.
        """
        known = self._shared.get((kind, source))
        if known is None:
            with self._connected() as line:
                known = ServerInfo(**line.ask(do="shared", kind=kind, source=source)["server"])
            self._shared[kind, source] = known
        return known

    def private(
        self,
        kind: ServerKind,
        source: str = "",
        *,
        topology: Topology = "single",
        settings: Mapping[str, str] = _NONE,
    ) -> PrivateServer:
        """Start a server of the caller's own. It goes when it is closed, and with this process.

        `settings` are the server's own: `{"max_connections": "10"}`, `{"appendonly": "yes"}`.

        Raises:
            ServerError: it cannot be had, or cannot be private.
        """
        line = self._connected()
        try:
            reply = line.ask(
                do="private", kind=kind, source=source, topology=topology, settings=dict(settings)
            )
        except BaseException:
            line.close()
            raise
        server = PrivateServer(line, ServerInfo(**reply["server"]), self._private.discard)
        self._private.add(server)
        return server

    def close(self) -> None:
        """Close the private servers that are still open. Shared ones stay, for others."""
        with ExitStack() as stack:
            for server in list(self._private):
                stack.callback(server.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connected(self) -> _Line:
        from multiprocessing import AuthenticationError
        from multiprocessing.connection import Client

        try:
            return _Line(Client(self._path, family="AF_UNIX", authkey=self._key))
        except (OSError, EOFError, AuthenticationError) as error:
            raise ServerError(
                f"The process that owns the servers cannot be reached ({str(error) or 'it hung up'}): "
                f"it has ended, or {ADDRESS} is of another run."
            ) from None


class PrivateServer:
    """A server of one process's own, at the same URL after whatever is done to it.

    For several threads. What is done to it takes the index of one of `nodes`; without one it goes
    to the node that matters: the only one, the current primary of a sentinel topology, or all of a
    cluster; `start` and `resume` go to every node that needs it.
    """

    def __init__(self, line: _Line, info: ServerInfo, forget: Callable[[PrivateServer], None]):
        self.info = info
        self._line = line
        self._forget = forget

    @property
    def url(self) -> str:
        """Where it answers: the URL of the first node."""
        return self.info.url

    @property
    def nodes(self) -> tuple[ServerNode, ...]:
        """Its server processes, with the roles that they have now."""
        return tuple(ServerNode(**node) for node in self._line.ask(do="nodes")["nodes"])

    def stop(self, node: int | None = None) -> None:
        """Shut it down in an orderly way. Redis forgets its data unless its settings say otherwise.

        Raises:
            ServerError: it cannot be done; so do all that follow.
        """
        self._do("stop", node)

    def start(self, node: int | None = None) -> None:
        """Start it where it is down, let it go on where it is paused, and wait until it answers."""
        self._do("start", node)

    def restart(self, node: int | None = None) -> None:
        """Stop it and start it."""
        self._do("restart", node)

    def kill(self, node: int | None = None) -> None:
        """Kill it with SIGKILL, and all that it started."""
        self._do("kill", node)

    def pause(self, node: int | None = None) -> None:
        """Freeze it: it accepts connections and never answers."""
        self._do("pause", node)

    def resume(self, node: int | None = None) -> None:
        """Let it go on after `pause`."""
        self._do("resume", node)

    def close(self) -> None:
        """End it and remove all that it left. Nothing where that is done already, or in a fork."""
        self._forget(self)
        self._line.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _do(self, action: str, node: int | None) -> None:
        self._line.ask(do=action, node=node)


class _Line:
    """A conversation with the service: one question at a time, each with its answer."""

    def __init__(self, connection: Connection[bytes, bytes]) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def ask(self, **request: object) -> dict[str, Any]:
        """Return the answer to `request`.

        Raises:
            ServerError: the service says no, or is gone.
        """
        if os.getpid() != self._pid:
            raise ServerError("This private server belongs to the parent process.", refused=True)
        with self._lock:
            reply = self._exchange(json.dumps(request).encode())
        if "error" in reply:
            raise ServerError(reply["error"], refused=reply["refused"])
        return reply

    def finish(self) -> None:
        """Say goodbye, wait until the service has put all away, and hang up."""
        if self._connection.closed:
            return
        try:
            if os.getpid() == self._pid:
                self.ask(do="close")
        except _GoneError:
            pass  # And the server with it.
        finally:
            self.close()

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, request: bytes) -> dict[str, Any]:
        if self._connection.closed:
            raise ServerError("This private server is closed.", refused=True)
        try:
            self._connection.send_bytes(request)
            reply: dict[str, Any] = json.loads(self._connection.recv_bytes())
        except (OSError, EOFError):
            self.close()
            raise _GoneError("The process that owns the servers has ended.") from None
        except BaseException:
            self.close()  # The answer to this question must not be taken for that to the next.
            raise
        return reply
