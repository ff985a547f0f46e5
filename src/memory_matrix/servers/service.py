"""Own servers for other processes, which ask for them through `memory_matrix.servers.client`.

A client connects once for each private server, so that the end of the connection is the end of the
server: whether the client closed it, ended, or was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_matrix.errors import MemoryMatrixError, UnavailableError, UsageError
from memory_matrix.matrix.model import ServerKind, ServerSource, SourceForm
from memory_matrix.matrix.problems import listed
from memory_matrix.matrix.sources import EMBEDDED, problems, sources
from memory_matrix.servers.asking import NotReadyError, ask
from memory_matrix.servers.launch import Launch, ReleasedError
from memory_matrix.servers.model import Server
from memory_matrix.servers.private import Private, open_private
from memory_matrix.servers.processes import Supervised, supervised
from memory_matrix.servers.starting import Starting, no_place, prepare, stop_all, unavailable
from memory_matrix.servers.templates import Templates

if TYPE_CHECKING:
    from typing_extensions import Self

Reply = Mapping[str, Any]

_START_TIMEOUT = 60.0
_LONGEST_PATH = 100
"""Bytes of a socket's path that every system takes."""
_LONGEST_REQUEST = 2**20
_BACKLOG = 128
_PAUSE = 0.1
_PATIENCE = 30.0
"""Seconds that clients' servers have to stop when the service ends."""


@contextmanager
def serve(folder: Path, cache: Path) -> Iterator[str]:
    """Own servers for other processes; yield the address to hand on in the variable `ADDRESS`.

    The servers' folders are made in `folder`, downloads go to `cache`. When the block is left, or
    this process is killed, every server, container, process and folder is gone. The address is a
    secret: who has it can use the servers.

    Raises:
        UnavailableError: the machine has no place for it.
        MemoryMatrixError: a server could not be stopped.
    """
    with ExitStack() as stack:
        try:
            prepare(folder)
            sockets, holder = stack.enter_context(_socket_folder(folder))
            path = sockets / "socket"
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(path))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise no_place(error) from None
        service = _Service(folder, cache, os.urandom(16))
        stack.callback(service.close)
        stack.callback(holder.leave)  # so that all that has to end does so side by side
        stack.enter_context(_accepting(listener, service.admit))
        yield f"{service.key.hex()}:{path}"


@contextmanager
def _socket_folder(folder: Path) -> Iterator[tuple[Path, Supervised]]:
    """Make a folder that nobody else can enter, with a short path; remove it, also after a kill.

    Yields the process that removes it, too.
    """
    parents = (folder.absolute(), Path(tempfile.gettempdir()), Path("/tmp"))  # noqa: S108
    parent = next(each for each in parents if len(os.fsencode(each)) < _LONGEST_PATH - 30)
    new = Path(tempfile.mkdtemp(prefix="memory-matrix-", dir=parent))
    with supervised(new) as holder:
        yield new, holder


@contextmanager
def _accepting(listener: socket.socket, admit: Callable[[socket.socket], None]) -> Iterator[None]:
    """Admit each client, until the block is left."""
    ended, end = os.pipe()

    def accept() -> None:
        while ended not in wait([listener, ended]):
            try:
                admit(listener.accept()[0])
            except OSError:  # It hung up already, or this process has too many files open.
                wait([ended], _PAUSE)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(end)
        thread.join()
        os.close(ended)


class _Service:
    """The servers, and who asks for them."""

    def __init__(self, folder: Path, cache: Path, key: bytes) -> None:
        self.key = key
        self._folder = folder
        self._cache = cache
        self._lock = threading.Lock()
        self._shared: dict[tuple[ServerKind, SourceForm, str], Starting] = {}
        self._visits: dict[threading.Thread, socket.socket] = {}
        self._released = threading.Event()
        self._templates = Templates()
        self._left: list[str] = []

    def admit(self, client: socket.socket) -> None:
        """Attend to a client in a thread of its own."""
        thread = threading.Thread(target=self._attend, args=[client], daemon=True)
        with self._lock:
            self._visits[thread] = client
        thread.start()

    def close(self) -> None:
        """Hang up on all clients, and stop all servers.

        Raises:
            MemoryMatrixError: a server could not be stopped.
        """
        with self._lock:
            self._released.set()
            visits, starts = dict(self._visits), list(self._shared.values())
            for client in visits.values():
                with contextlib.suppress(OSError):  # It hung up already.
                    client.shutdown(socket.SHUT_RDWR)
        self._templates.leave()
        left = stop_all(starts)
        deadline = time.monotonic() + _PATIENCE
        for thread in visits:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._templates.close()
        slow = ["a private server (it takes too long)" for each in visits if each.is_alive()]
        if left := [*left, *self._left, *slow]:
            raise MemoryMatrixError(f"These servers could not be stopped: {'; '.join(left)}.")

    def _attend(self, client: socket.socket) -> None:
        try:
            with _Line(client) as line:
                line.shake_hands(self.key)
                for request in line.requests():
                    self._answer(request, line)
        except (AuthenticationError, EOFError, OSError, ValueError):
            pass  # It hung up, or is no client of ours.
        finally:
            with self._lock:
                del self._visits[threading.current_thread()]
                client.close()

    def _answer(self, request: Reply, line: _Line) -> None:
        if request["do"] == "private":
            self._lend(request, line)
            return
        try:
            reply: Reply = {"server": _described(self._shared_server(_source(request)))}
        except Exception as error:  # noqa: BLE001 - the client is told
            reply = _refusal(error)
        line.reply(reply)

    def _shared_server(self, source: ServerSource) -> Server:
        key = (source.kind, source.form, source.value)
        with self._lock:
            known = self._shared.get(key)
            start = known or Starting(self._launch(source))
            if known is None:
                self._shared[key] = start
                start.begin()
        server = start.result(strict=True)
        assert isinstance(server, Server)
        if known is not None:
            _see_alive(server)
        return server

    def _launch(self, source: ServerSource) -> Launch:
        if self._released.is_set():
            raise ReleasedError
        return Launch(source, self._folder, self._cache, _START_TIMEOUT, templates=self._templates)

    def _lend(self, request: Reply, line: _Line) -> None:
        """Run a private server until its client is done with it."""
        lent = ""
        try:
            source = _source(request)
            launch = replace(
                self._launch(source), released=self._released, abandoned=line.is_abandoned
            )
            topology, settings = request["topology"], request["settings"]
            with _naming(source), open_private(launch, topology, settings) as private:
                lent = source.name
                line.reply({"server": _described(private.server)})
                _obey(private, line)
        except EOFError:
            raise
        except Exception as error:  # noqa: BLE001 - the client is told
            if lent:
                self._left.append(f"{lent} ({error})")
            line.reply(_refusal(error))
        else:
            line.reply({})


def _obey(private: Private, line: _Line) -> None:
    """Do to a private server what its client wants, until that has enough of it."""
    for request in line.requests():
        if request["do"] == "close":
            return
        try:
            reply = _obeyed(private, request)
        except Exception as error:  # noqa: BLE001 - the client is told
            reply = _refusal(error)
        line.reply(reply)


def _obeyed(private: Private, request: Reply) -> Reply:
    if request["do"] == "nodes":
        return {"nodes": [{"url": each.node.url, "role": each.role} for each in private.members()]}
    with _naming(private.server.source):
        private.do(request["do"], request["node"])
    return {}


class _Line:
    """A client's connection, while the block is entered."""

    def __init__(self, client: socket.socket) -> None:
        self._connection = Connection(os.dup(client.fileno()))
        self._process = _process_behind(client)
        self._ends: list[Any] = [] if self._process is None else [self._process]

    def shake_hands(self, key: bytes) -> None:
        """See that both sides know `key`, as `multiprocessing` does it.

        Raises:
            AuthenticationError: the client does not.
            EOFError, OSError: it hung up.
        """
        deliver_challenge(self._connection, key)
        answer_challenge(self._connection, key)

    def requests(self) -> Iterator[Reply]:
        """Yield what the client asks for, until it is gone; each wants a reply.

        Raises:
            EOFError: it hung up.
        """
        while self._connection in wait([self._connection, *self._ends]):
            try:
                request: Reply = json.loads(self._connection.recv_bytes(_LONGEST_REQUEST))
            except (EOFError, OSError):
                return
            yield request

    def reply(self, reply: Reply) -> None:
        """Answer the last request.

        Raises:
            EOFError: the client is gone.
        """
        try:
            self._connection.send_bytes(json.dumps(reply).encode())
        except OSError:
            raise EOFError from None

    def is_abandoned(self) -> bool:
        """Return whether the client, who waits for a reply, is gone."""
        return bool(wait([self._connection, *self._ends], 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        if self._process is not None:
            os.close(self._process)


def _process_behind(client: socket.socket) -> int | None:
    """Return what is ready to read from when the client's process ends.

    The connection alone would live on in a fork of it. None where the system does not have that.
    """
    if sys.platform != "linux":
        return None
    size = struct.calcsize("3i")
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    with contextlib.suppress(OSError):  # It is gone already, or out of sight.
        return os.pidfd_open(struct.unpack("3i", credentials)[0])
    return None


def _source(request: Reply) -> ServerSource:
    """Return the source that a request names.

    Raises:
        UsageError: it is none.
    """
    kind, text = request["kind"], request["source"]
    if kind not in EMBEDDED:
        raise UsageError(f"There is no {kind!r} server: it must be one of {listed(EMBEDDED)}.")
    text = text or EMBEDDED[kind][0]
    for sentence in problems(kind, text, Path.cwd()):
        raise UsageError(f"The {kind} server {sentence}")
    return sources({kind: [text]}, Path.cwd())[0]


def _see_alive(server: Server) -> None:
    """See that a server which was started earlier still answers.

    Raises:
        UnavailableError: it does not.
    """
    try:
        ask(server.source.kind, server.url)
    except NotReadyError as error:
        if not error.refused and not error.recovers:
            source = server.source
            raise UnavailableError(
                f"{source.name} ({source.text}) was there, but does not answer any more: {error}."
            ) from None


@contextmanager
def _naming(source: ServerSource) -> Iterator[None]:
    """Say in an error which server could not be had."""
    try:
        yield
    except UnavailableError as error:
        raise unavailable(source, error) from None
    except OSError as error:
        raise unavailable(source, no_place(error)) from None


def _described(server: Server) -> Reply:
    source = server.source
    return {
        "name": source.name,
        "kind": source.kind,
        "source": source.text,
        "url": server.url,
        "version": server.version,
        "flavour": server.flavour,
        "owned": server.owned,
    }


def _refusal(error: Exception) -> Reply:
    """Return what the client is told of an error."""
    if isinstance(error, MemoryMatrixError):
        sentence = str(error)
    elif isinstance(error, ReleasedError):
        sentence = "The process that owns the servers is ending."
    else:
        sentence = f"The process that owns the servers failed: {type(error).__name__}: {error}."
    return {"error": sentence, "refused": isinstance(error, UsageError)}
