"""Ports of the loopback interface that stay a server's own while it does not run."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from memory_matrix.errors import UnavailableError

LOOPBACK = "127.0.0.1"
BUS_OFFSET = 10_000
"""What the nodes of a Redis cluster add to their port to get the one that they talk to each other on."""
_ATTEMPTS = 200
_HOLDS = sys.platform == "linux"
"""Whether a server can listen on a port to which this process has bound a socket that does not."""


@contextmanager
def reserved_port(*, bus: bool = False) -> Iterator[int]:
    """Yield a port that, on Linux, nobody else is given in the block; with `bus`, its bus port too.

    A server that stops and starts again thus finds its port free. Elsewhere the port is only likely
    to stay free.

    Raises:
        UnavailableError: there is no such port.
    """
    with ExitStack() as stack:
        port = _reserve(stack, bus=bus)
        if not _HOLDS:
            stack.close()
        yield port


def _reserve(stack: ExitStack, *, bus: bool) -> int:
    for _ in range(_ATTEMPTS):
        with ExitStack() as attempt:
            port = _bound(attempt, 0)
            if bus and port + BUS_OFFSET > 65_535:
                continue
            try:
                if bus:
                    _bound(attempt, port + BUS_OFFSET)
            except OSError:
                continue
            stack.push(attempt.pop_all())
            return port
    raise UnavailableError(f"There is no free port on {LOOPBACK}: end what holds so many of them.")


def _bound(stack: ExitStack, port: int) -> int:
    """Bind a socket that others may listen beside, and return its port.

    Raises:
        OSError: somebody has it, be it only as a reservation: so it is not yet to be shared when it is bound.
    """
    holder = stack.enter_context(socket.socket())
    holder.bind((LOOPBACK, port))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound: int = holder.getsockname()[1]
    return bound
