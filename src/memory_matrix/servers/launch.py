"""What every form of source is given to start its server with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.matrix.model import ServerSource


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

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`.

        Raises:
            ReleasedError: the server is not wanted any more.
        """
        if self.released.wait(seconds) or self.abandoned():
            raise ReleasedError
