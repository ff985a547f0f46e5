"""Postgres and Redis servers from images, wheels, binaries and URLs behind one interface."""

from memory_matrix.servers.model import Server, Unavailable
from memory_matrix.servers.slots import Stored, round_trip
from memory_matrix.servers.starting import start, start_all

__all__ = ["Server", "Stored", "Unavailable", "round_trip", "start", "start_all"]
