"""Postgres and Redis servers from images, wheels, binaries and URLs behind one interface."""
