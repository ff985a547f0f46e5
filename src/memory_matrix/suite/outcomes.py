"""What can become of a case, and the exceptions that say so from inside it."""

from __future__ import annotations

from typing import Literal

from memory_matrix.stores.protocol import NotOffered

__all__ = ["CaseFailed", "CaseOutcome", "CaseSkipped", "HarnessError", "NotOffered"]

CaseOutcome = Literal["passed", "failed", "error", "not-offered", "waived", "skipped"]


class CaseSkipped(Exception):  # noqa: N818 - no error: something that the case needs is not here
    """What the case needs cannot be had here, such as a server of its own; the text says what."""


class CaseFailed(AssertionError):  # noqa: N818 - a finding, as an assertion is
    """The store did not do what the case expects; the text says what was expected and what came."""


class HarnessError(Exception):
    """The suite itself, a server or a child process failed: nothing can be said of the store."""
