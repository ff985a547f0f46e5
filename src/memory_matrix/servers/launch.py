"""What every form of source is given to start its server with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers.asking import Answer
from memory_matrix.servers.model import Server

if TYPE_CHECKING:
    from memory_matrix.servers.templates import Templates


class ReleasedError(Exception):
    """Nobody wants the server any more that is still starting."""


@dataclass(frozen=True)
class Launch:
    """One server to start."""

    source: ServerSource
    folder: Path
    """The run's own folder: the server's folder is made in it."""
    cache: Path
    timeout: float
    """Seconds from the server's start, without downloads, until it answers."""
    released: threading.Event = field(default_factory=threading.Event)
    """Set when the server is not wanted any more."""
    abandoned: Callable[[], bool] = bool
    """Says whether who asked for the server is gone; never, by default."""
    templates: Templates | None = None
    """Data folders to start a Postgres from; without them each makes its own."""

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`.

        Raises:
            ReleasedError: the server is not wanted any more.
        """
        if self.released.wait(seconds) or self.abandoned():
            raise ReleasedError


def served(launch: Launch, url: str, answer: Answer) -> Server:
    """Return the server that the run started and that gave `answer`."""
    return Server(
        source=launch.source, url=url, version=answer.version, flavour=answer.flavour, owned=True
    )
