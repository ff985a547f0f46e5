"""Adapters for the sessions of Google's Agent Development Kit."""

from __future__ import annotations

from memory_matrix.stores.google_adk.session_service import (
    DatabaseSessionService,
    DatabaseSessionState,
)

__all__ = ["DatabaseSessionService", "DatabaseSessionState"]
