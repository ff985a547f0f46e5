"""Serve servers from this pytest process to itself and to its xdist workers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from memory_matrix.isolation.names import run_token
from memory_matrix.isolation.postgres import PostgresIsolation
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.servers.client import ADDRESS
from memory_matrix.suite.options import Options


@contextmanager
def serving() -> Iterator[None]:
    """Own the run's servers for the block; processes that are started in it find them."""
    from memory_matrix.environments.cache import default_cache
    from memory_matrix.runfolder import run_folder
    from memory_matrix.servers.service import serve

    run_token()
    with run_folder() as folder, serve(folder, default_cache()) as address:
        os.environ[ADDRESS] = address
        try:
            yield
        finally:
            os.environ.pop(ADDRESS, None)


def clean_addresses(options: Options) -> None:
    """Remove what this run made on servers that were given by URL, also what crashed workers made."""
    for source in options.postgres:
        if "://" in source:
            with closing(PostgresIsolation(source, owned=False)) as postgres:
                postgres.clean()
    for source in options.redis:
        if "://" in source:
            with closing(RedisIsolation(source, owned=False, may_hold_data=True)) as redis:
                redis.clean()
