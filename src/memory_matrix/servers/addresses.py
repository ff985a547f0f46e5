"""Servers that are there already, given by URL: connected to, never started, flushed or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.asking import NotReadyError, ask
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.model import Server

_TIMEOUT = 10.0
"""Seconds at most that a server which is there already has to answer."""


@contextmanager
def open_address(launch: Launch) -> Iterator[Server]:
    """Connect to the server at a URL.

    Raises:
        UnavailableError: it cannot be reached, or refuses the client.
    """
    source = launch.source
    try:
        answer = ask(source.kind, source.value, timeout=min(launch.timeout, _TIMEOUT))
    except NotReadyError as error:
        what = "refuses its client" if error.refused else "cannot be reached"
        raise UnavailableError(f"{source.text} {what}: {error}.") from None
    yield Server(
        source=source,
        url=source.value,
        version=answer.version,
        flavour=answer.flavour,
        owned=False,
    )
