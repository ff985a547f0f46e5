"""Hold locks that a store's writes have to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from memory_matrix.suite.site import Site


@contextmanager
def locked(site: Site, tables: Iterable[str]) -> Iterator[Callable[[], None]]:
    """Let a transaction of somebody else's block all writes to `tables`; yields what ends it early."""
    import psycopg

    assert site.postgres is not None
    place = site.postgres
    with psycopg.connect(place.dsn, application_name="memory-matrix-lock") as connection:
        for table in tables:
            connection.execute(f'LOCK TABLE "{place.schema}"."{table}" IN EXCLUSIVE MODE'.encode())
        try:
            yield connection.rollback
        finally:
            connection.rollback()
