"""What can stop a run. One class per exit code; the text tells the user what to change."""

from __future__ import annotations

from typing import ClassVar

NO_ENGINE = "No Docker engine answers"
"""What the reason says where a machine has no Docker engine at all."""


class MemoryMatrixError(Exception):
    """The tool itself could not do its work (a full disk, a worker that will not start).

    Printed as one paragraph without a traceback; never counted as a finding.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, text: str, *, place: str | None = None) -> None:
        super().__init__(text)
        self.place = place
        """Where in the user's files that is, such as `payloads.py:3`; None where nobody knows."""


class UsageError(MemoryMatrixError):
    """The matrix file, a file it names, or the command line is wrong."""

    exit_code: ClassVar[int] = 2


class UnavailableError(MemoryMatrixError):
    """An environment or a server that the matrix requires could not be had."""

    exit_code: ClassVar[int] = 3
