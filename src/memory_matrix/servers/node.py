"""One server process of a private server, whatever it came from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memory_matrix.servers.asking import Answer
from memory_matrix.servers.recipes import Part


class Address(NamedTuple):
    """Where a node is reached, by clients and by the nodes of its server."""

    host: str
    port: int


class Node(Protocol):
    """A server that is stopped and started again at the same address, with what it keeps on disk."""

    @property
    def url(self) -> str:
        """Where it answers while it runs."""

    def begin(self) -> None:
        """Start it, without waiting for it to answer."""

    def answer(self) -> Answer:
        """Wait until it answers.

        Raises:
            UnavailableError: it ended, or keeps silent.
            ReleasedError: it is not wanted any more.
        """

    def ended(self) -> str | None:
        """Return what it last wrote once it has ended, None while it runs."""

    def stop(self) -> None:
        """End it in an orderly way, also when it is paused."""

    def kill(self) -> None:
        """End it, and all that it started, without a chance to put things in order."""

    def pause(self) -> None:
        """Let it take connections and never answer."""

    def is_paused(self) -> bool:
        """Return whether `pause` was the last thing done to it."""

    def resume(self) -> None:
        """Let it go on after `pause`; nothing where it is not paused."""


@dataclass(frozen=True)
class Maker:
    """Prepares the nodes of a server."""

    host: str
    """Where clients, and the nodes among each other, reach all of them."""
    node: Callable[[int, Part], AbstractContextManager[Node]]
    """Prepares the node that listens on a port; ends it and removes all it made afterwards."""
