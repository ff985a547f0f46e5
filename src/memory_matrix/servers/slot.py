"""One place in a server that keeps blobs."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from memory_matrix.errors import UnavailableError
from memory_matrix.report.model import Error
from memory_matrix.servers.asking import NotReadyError, ask
from memory_matrix.servers.model import Server

if TYPE_CHECKING:
    from typing_extensions import Self

SlotName = Literal["string", "bytea", "jsonb"]

TIMEOUT = 60.0
"""Seconds without an answer after which a server counts as hung."""
ASK_TIMEOUT = 10.0
"""Seconds that it has to say who it is."""
_RECOVERY = 20.0
"""Seconds that a server which turns clients away (it recovers from a crash) has to take them again."""
_POLL = 0.05


class FailedError(Exception):
    """A whole batch failed: the server refused one of its blobs, or hung up."""

    def __init__(self, error: Error, *, lost: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.lost = lost
        """Whether the connection is gone."""


class Slot(ABC):
    """A slot of a server, with a connection to it while the block is entered."""

    name: ClassVar[SlotName]

    def __init__(self, server: Server) -> None:
        self.server = server

    @abstractmethod
    def connect(self) -> None:
        """Connect anew, and make what the blobs go into.

        Raises:
            FailedError: the server does not let it.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the connection up, and all that `connect` made."""

    @abstractmethod
    def carry(self, blobs: Sequence[bytes]) -> list[bytes]:
        """Store `blobs`, fetch and remove them; return each as it came back.

        Raises:
            FailedError: one of them made the server refuse all, or hang up.
        """

    def recover(self, failure: FailedError) -> None:
        """Bring the server back to where it takes blobs, after `failure`.

        What one blob did to it must not be held against the next one.

        Raises:
            UnavailableError: it is gone, or takes no writes any more.
        """
        if failure.lost:
            self._reconnect()
        deadline = time.monotonic() + _RECOVERY
        while True:
            try:
                self.carry([b"1"])
            except FailedError as error:
                if error.lost or time.monotonic() > deadline:
                    raise self._takes_nothing(error) from None
                time.sleep(_POLL)
            else:
                return

    def __enter__(self) -> Self:
        """Connect, and see whether the server takes anything at all."""
        try:
            self._reconnect()
            self.carry([b"1"])
        except FailedError as failure:
            self.close()
            raise self._takes_nothing(failure) from None
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reconnect(self) -> None:
        self.close()
        deadline = time.monotonic() + _RECOVERY
        while True:
            try:
                ask(self.server.source.kind, self.server.url, timeout=ASK_TIMEOUT)
            except NotReadyError as error:
                if not error.recovers or time.monotonic() > deadline:
                    raise self._unavailable(f"does not answer any more: {error}") from None
                time.sleep(_POLL)
            else:
                break
        try:
            self.connect()
        except FailedError as failure:
            raise self._takes_nothing(failure) from None

    def _takes_nothing(self, failure: FailedError) -> UnavailableError:
        error = failure.error
        return self._unavailable(f"takes no writes: {error.type}: {error.message}")

    def _unavailable(self, reason: str) -> UnavailableError:
        source = self.server.source
        return UnavailableError(f"{source.name} ({source.text}) {reason}.")
