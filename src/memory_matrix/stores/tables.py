"""The rows of a store's tables, as adapters of libraries on Postgres show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory_matrix.stores.outside import execute
from memory_matrix.stores.protocol import RawRow, StoreEnv


def there(env: StoreEnv, tables: Iterable[str]) -> list[str]:
    """Return which of `tables` there are in the store's schema."""
    return [each for each in tables if execute(env, "SELECT to_regclass(%s)", each) != [(None,)]]


def rows(env: StoreEnv, table: str, wanted: Mapping[str, str]) -> list[RawRow]:
    """Return the rows of a table by what their columns should be; none if it is not there."""
    if not there(env, [table]):
        return []
    condition = " AND ".join(f"{column} = %s" for column in wanted)
    statement = f"SELECT to_jsonb(each)::text FROM {table} AS each WHERE {condition}"  # noqa: S608 - own names
    return [RawRow(table, row) for (row,) in execute(env, statement, *wanted.values())]
