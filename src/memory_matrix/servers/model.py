"""What the servers module hands on: one running server, whatever it came from."""

from __future__ import annotations

from dataclasses import dataclass

from memory_matrix.matrix.model import ServerSource


@dataclass(frozen=True)
class Server:
    """One running Postgres or Redis that has answered a real client."""

    source: ServerSource
    url: str
    """A libpq URL for Postgres (superuser of a database of the run's own where the run started the
    server), a `redis://` URL for Redis. May hold a password: show `source.text` instead."""
    version: str
    """As the server itself says it: `17.2`, `8.0.2`."""
    flavour: str
    """`PostgreSQL`, `Redis` or `Valkey`."""
    owned: bool
    """Whether the run started it. A server that was given by URL is never flushed or dropped."""


@dataclass(frozen=True)
class Unavailable:
    """A server that could not be had, with one sentence that says why and what to do."""

    source: ServerSource
    reason: str
