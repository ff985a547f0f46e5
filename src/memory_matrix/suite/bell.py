"""Let the workers of pytest-xdist ask the controller for what a run has one of.

The controller only listens: who runs no test that needs a server pays for no more.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from memory_matrix.servers.client import ServerError

if TYPE_CHECKING:
    from memory_matrix.suite.serving import Host

_LOOPBACK = "127.0.0.1"
_PATIENCE = 10.0
"""Seconds that who rings gets to say what it wants."""
_LONGEST = 2**16


@contextmanager
def bell(host: Host) -> Iterator[dict[str, Any]]:
    """Do for the block what workers ask of `host`; yield what they need to ring, which is a secret."""
    key = os.urandom(16).hex()
    with socket.create_server((_LOOPBACK, 0)) as listener:
        ended = threading.Event()
        port = listener.getsockname()[1]
        thread = threading.Thread(
            target=_listen,
            args=(listener, ended, key, host),
            name="memory-matrix-bell",
            daemon=True,
        )
        thread.start()
        try:
            yield {"port": port, "key": key, "token": host.token}
        finally:
            ended.set()
            with suppress(OSError):
                socket.create_connection((_LOOPBACK, port)).close()
            thread.join()


class RemoteHost:
    """The host of a run, for a worker."""

    def __init__(self, bell: Mapping[str, Any]) -> None:
        self.token: str = bell["token"]
        self._bell = bell

    def address(self) -> str:
        """Return the address of the service that owns the run's servers.

        Raises:
            ServerError: it cannot be had.
        """
        return self._ring("address")

    def sweep(self, kind: str, url: str) -> None:
        """Have what this run makes on a server given by URL removed in the end.

        Raises:
            ServerError: that cannot be done.
        """
        self._ring("sweep", kind, url, os.getpid())

    def close(self) -> None:
        """Do nothing: the controller closes."""

    def _ring(self, do: str, *arguments: str | int) -> str:
        request = {"key": self._bell["key"], "do": do, "arguments": arguments}
        try:
            with socket.create_connection((_LOOPBACK, self._bell["port"])) as line:
                line.sendall(json.dumps(request).encode() + b"\n")
                with line.makefile("rb") as answers:
                    answer = json.loads(answers.readline(_LONGEST))
        except (OSError, ValueError):
            raise ServerError("The controller of this run has ended.") from None
        if "error" in answer:
            raise ServerError(answer["error"])
        return str(answer["value"])


def _listen(listener: socket.socket, ended: threading.Event, key: str, host: Host) -> None:
    while True:
        line, _ = listener.accept()
        with line, suppress(OSError, ValueError, KeyError):  # it hung up, or is no worker of ours
            if ended.is_set():
                return
            line.settimeout(_PATIENCE)
            _answer(line, key, host)


def _answer(line: socket.socket, key: str, host: Host) -> None:
    with line.makefile("rb") as requests:
        request = json.loads(requests.readline(_LONGEST))
    if not hmac.compare_digest(str(request["key"]), key):
        return
    try:
        answer = {"value": _done(host, request["do"], request["arguments"])}
    except Exception as error:  # noqa: BLE001 - the worker is told
        answer = {"error": str(error)}
    line.sendall(json.dumps(answer).encode() + b"\n")


def _done(host: Host, do: str, arguments: Sequence[Any]) -> str | None:
    if do == "address":
        return host.address()
    kind, url, worker = arguments
    host.mind(worker)
    host.sweep(kind, url)
    return None
