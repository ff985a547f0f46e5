"""Move what a store holds to other places on its server, as vacuums, restores and resizes do."""

from __future__ import annotations

from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.site import Site

_COLUMN = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = %s AND table_name = %s AND is_generated = 'NEVER'
    AND coalesce(identity_generation, '') <> 'ALWAYS' ORDER BY ordinal_position LIMIT 1
"""


def move_rows(memory: Memory) -> None:
    """Let each table's first half of rows come after the second half, then write the tables anew."""
    idle = memory.site.idle_transactions()
    expect.true(idle == 0, f"{idle} connections hold their locks on the tables between two calls")
    for table in memory.call("tables"):
        _move_table(memory.site, table)


def rewrite_keys(memory: Memory, keys: list[str]) -> None:
    """Delete the keys and restore them in the opposite order, with the time that each has left."""
    client = memory.site.redis_client
    saved = [(key, client.dump(key), max(client.pttl(key), 0)) for key in keys]
    client.delete(*keys)
    for key, data, left in reversed(saved):
        if data is not None:
            client.restore(key, left, data)


def _move_table(site: Site, table: str) -> None:
    assert site.postgres is not None
    assert site.facilities.postgres is not None
    place = f'"{site.postgres.schema}"."{table}"'
    if not site.sql(f"SELECT 1 FROM {place} LIMIT 1"):  # noqa: S608 - names of tables
        return
    columns = site.sql(_COLUMN, site.postgres.schema, table)
    if columns:
        column = columns[0][0]
        site.sql(
            f'UPDATE {place} SET "{column}" = "{column}" WHERE ctid IN'  # noqa: S608 - as above
            f" (SELECT ctid FROM {place} ORDER BY ctid LIMIT (SELECT count(*) / 2 FROM {place}))"
        )
    site.facilities.postgres.execute(f"VACUUM FULL {place}")  # alone: in no transaction
