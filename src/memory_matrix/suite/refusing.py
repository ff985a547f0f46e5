"""Let a server refuse a store's writes for a while, whatever the store checks before it sends them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from memory_matrix.stores.protocol import Scope
from memory_matrix.suite.memory import Memory

_FUNCTION = """
    CREATE OR REPLACE FUNCTION memory_matrix_refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN {body}; END $$
"""
_REFUSE = "RAISE EXCEPTION 'refused by a trigger of the suite'"
_ALLOW = "RETURN coalesce(NEW, OLD)"
_TRIGGER = """
    SET lock_timeout = '5s';
    DROP TRIGGER IF EXISTS memory_matrix_refuse ON {table};
    CREATE TRIGGER memory_matrix_refuse BEFORE {statements} ON {table}
    FOR EACH ROW EXECUTE FUNCTION memory_matrix_refuse();
    RESET lock_timeout
"""
ADDING = ("INSERT", "UPDATE")
EVERY = (*ADDING, "DELETE")


@contextmanager
def refusing(memory: Memory, scope: Scope, statements: Sequence[str] = EVERY) -> Iterator[None]:
    """Refuse `statements` on the store's tables, and all use of the Redis keys that `scope` has now.

    Does nothing where the adapter names neither.
    """
    with ExitStack() as stack:
        if memory.offers("tables"):
            stack.enter_context(_refused_rows(memory, statements))
        if memory.offers("raw_keys"):
            stack.enter_context(_wrong_types(memory, memory.raw_keys(scope)))
        yield


@contextmanager
def _refused_rows(memory: Memory, statements: Sequence[str]) -> Iterator[None]:
    site = memory.site
    assert site.postgres is not None
    schema = site.postgres.schema
    site.sql(_FUNCTION.format(body=_REFUSE))
    for table in memory.call("tables"):
        site.sql(_TRIGGER.format(table=f'"{schema}"."{table}"', statements=" OR ".join(statements)))
    try:
        yield
    finally:
        # Not dropped: that would wait for every transaction that the store left open.
        site.sql(_FUNCTION.format(body=_ALLOW))


@contextmanager
def _wrong_types(memory: Memory, keys: list[str]) -> Iterator[None]:
    client = memory.site.redis_client
    saved = [(key, client.dump(key), max(client.pttl(key), 0)) for key in keys]
    planted = {}
    for key in keys:
        kind = client.type(key)
        client.delete(key)
        if kind == b"string":
            client.rpush(key, "of another type")
        else:
            client.set(key, "of another type")
        planted[key] = client.dump(key)
    try:
        yield
    finally:
        for key, data, left in saved:
            # What the store has put in its place meanwhile is the store's.
            if data is not None and client.dump(key) == planted[key]:
                client.restore(key, left, data, replace=True)
