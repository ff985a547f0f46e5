"""Group J: indexes are there once, are used, and show what is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from memory_matrix.stores.policy import METRICS
from memory_matrix.stores.protocol import Compare, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import HarnessError
from memory_matrix.suite.parts import cover
from memory_matrix.suite.samples import numbered
from memory_matrix.suite.vectors import (
    as_when_large,
    axis,
    embedded,
    expect_nearest,
    measured,
    moved,
    queries,
    scattered,
)

GROUP = "J"

SCOPE = Scope()
_MANY = 300
"""More records than any other table of a store has rows."""
_LONGEST_ENDING = 10.0
"""Seconds within which a server has ended connections."""
_COUNTS_AT_ONCE = 150_000
"""The first version of Postgres whose counts are there as soon as a connection has ended."""
_COUNTING, _LONGEST_COUNTING = 0.6, 6.0
"""Seconds after which an older one tells other counts, if there are any, and to wait for them."""


def test_idx_used_for_search(memory: Memory) -> None:
    """The store's own search goes by its vector index, and goes through no large table from end to end."""
    memory.require_kind("postgres")
    memory.require("search", "indexes", "close")
    memory.require_policy(index=("hnsw", "ivfflat"))
    store = measured(memory).another()
    records = scattered(store, "r", _MANY)
    store.put_all(SCOPE, records)
    names = [str(name) for name in store.call("indexes")]
    query = queries(store, "queries", 1)[0]
    _end(store)
    reader = as_when_large(store)
    used = _used(reader, lambda: reader.search(SCOPE, query, 10))
    scans = sum(used.index_scans.get(name, 0) for name in names)
    expect.true(scans, f"a search used none of its vector indexes, {', '.join(names)}")
    gone_through = {table: rows for table, rows in used.gone_through.items() if rows}
    expect.true(
        sum(gone_through.values()) < _MANY / 3,  # of small tables, which have no need of an index
        f"the rows that a search of {_MANY} records read by going through tables: expected far fewer, "
        f"got {gone_through}",
    )


def test_idx_used_for_session_read(memory: Memory) -> None:
    """Reading one session, or one record, of many looks at no more rows than there are of it."""
    memory.require_kind("postgres")
    memory.require("close")
    cover(memory, {("append", "read"): _session_reads, ("put", "get"): _record_reads})


def test_idx_created_once(memory: Memory) -> None:
    """Opening the store three times leaves one vector index, of the declared kind and the metric's own."""
    memory.require("search")
    memory.require_policy(index=("hnsw", "ivfflat"))
    if "postgres" not in memory.tested.needs:
        memory.require("indexes")
    store = measured(memory)
    store.put(SCOPE, embedded("first", axis(store, 1.0)))
    named = store.call("indexes") if store.offers("indexes") else []
    for number in range(3):
        other = store.another()
        other.put(SCOPE, embedded(f"r{number}", axis(store, 1.0)))
        other.setup()
        if store.offers("indexes"):
            again = other.call("indexes")
            expect.contents("its vector indexes after it was opened again", again, named)
    if "postgres" in memory.tested.needs:
        _expect_one_index(store)


def test_idx_search_returns_updated_fields(memory: Memory) -> None:
    """After an update, get, list and search show the same record: text, metadata, vector and times."""
    memory.require("search", "put", "get", "update", "list_records")
    store = measured(memory)
    store.put_all(SCOPE, scattered(store, "other", 5))
    store.put(SCOPE, embedded("mine", axis(store, 1.0), {"state": "old", "kept": [1]}))
    _expect_alike(store, "after a put")
    _expect_filtered(store, "old", "new")
    store.update(SCOPE, "mine", metadata={"state": "new", "kept": [2]})
    _expect_alike(store, "after an update of its metadata")
    _expect_filtered(store, "new", "old")
    if store.policy.search_by == "vector":
        store.update(SCOPE, "mine", text="another text")
        _expect_alike(store, "after an update of its text")
    there = axis(store, -1.0, 2.0)
    store.update(SCOPE, "mine", **moved(store, there))
    _expect_alike(store, "after an update of its vector")
    expect.equal("what is found at its new vector", store.found(SCOPE, there, 1), ["mine"])


# ---- what a call uses -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Used:
    """What was read on the server."""

    rows: int
    """By index or by going through tables."""
    gone_through: dict[str, int]
    """By going through tables, of each."""
    index_scans: dict[str, int]


def _used(reader: Memory, call: Callable[[], Any]) -> _Used:
    """Return what a call makes the server read; the reader is closed, for only then all is counted."""
    _ = reader.store
    before = _settled(reader)
    call()
    _end(reader)
    after = _settled(reader, before)
    return _Used(
        after.rows - before.rows,
        _since(before.gone_through, after.gone_through),
        _since(before.index_scans, after.index_scans),
    )


def _since(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: number - before.get(name, 0) for name, number in after.items()}


def _settled(memory: Memory, before: _Used | None = None) -> _Used:
    """Return what was read so far, other than `before`.

    Servers before Postgres 15 tell it as it was up to half a second ago.
    """
    ((version,),) = memory.site.sql("SELECT current_setting('server_version_num')::int")
    found = _counted(memory)
    if version >= _COUNTS_AT_ONCE:
        return found
    ends = time.monotonic() + _LONGEST_COUNTING
    while time.monotonic() < ends:
        time.sleep(_COUNTING)
        last, found = found, _counted(memory)
        if found == last != before:
            break
    return found


def _counted(memory: Memory) -> _Used:
    schema = memory.env.schema
    rows = memory.site.sql(
        "SELECT relname, coalesce(seq_tup_read, 0), coalesce(idx_tup_fetch, 0)"
        " FROM pg_stat_user_tables WHERE schemaname = %s",
        schema,
    )
    scans = memory.site.sql(
        "SELECT indexrelname, coalesce(idx_scan, 0) FROM pg_stat_user_indexes WHERE schemaname = %s",
        schema,
    )
    gone_through = {table: read for table, read, _ in rows}
    return _Used(sum(read + fetched for _, read, fetched in rows), gone_through, dict(scans))


def _end(memory: Memory) -> None:
    """Close the store, and return when the server has ended its connections and counted all."""
    memory.close()
    ends = time.monotonic() + _LONGEST_ENDING
    while memory.site.kill_connections():
        if time.monotonic() > ends:
            raise HarnessError("the server does not end the store's connections")


def _session_reads(memory: Memory) -> None:
    store = memory.another()
    for number in range(40):
        store.say(Scope(session=f"s{number}"), *numbered(f"s{number}", 20))
    _end(store)
    scope = Scope(session="s17")
    _expect_few_rows(memory, "read", 20, lambda reader: reader.read(scope))
    if memory.offers("read", "limit"):
        _expect_few_rows(
            memory, "read with a limit", 20, lambda reader: reader.read(scope, limit=5)
        )
    if memory.offers("count"):
        _expect_few_rows(memory, "count", 20, lambda reader: reader.count(scope))


def _record_reads(memory: Memory) -> None:
    store = memory.another()
    for number in range(10):
        records = [_small(store, f"r{n}", number) for n in range(50)]
        store.put_all(Scope(namespace=(f"n{number}",)), records)
    _end(store)
    scope = Scope(namespace=("n7",))
    _expect_few_rows(memory, "get", 1, lambda reader: reader.get(scope, "r17"))
    if memory.offers("list_records"):
        _expect_few_rows(memory, "list_records", 50, lambda reader: reader.list_records(scope))


def _small(memory: Memory, name: str, number: int) -> Record:
    return embedded(name, axis(memory, 1.0, number / 8), {"number": number})


def _expect_few_rows(memory: Memory, name: str, own: int, call: Callable[[Memory], Any]) -> None:
    """Fail if a call that is about `own` rows looks at many more of those that are there."""
    reader = as_when_large(memory, {"enable_seqscan": "off"})
    used = _used(reader, partial(call, reader))
    expect.true(
        used.rows <= 3 * own + 20, f"{name}, which is about {own} rows, looked at {used.rows}"
    )


# ---- indexes ----------------------------------------------------------------------------------


def _expect_one_index(memory: Memory) -> None:
    found = memory.site.sql(
        "SELECT a.amname, o.opcname FROM pg_index AS x"
        " JOIN pg_class AS i ON i.oid = x.indexrelid"
        " JOIN pg_am AS a ON a.oid = i.relam"
        " JOIN pg_opclass AS o ON o.oid = x.indclass[0]"
        " WHERE i.relnamespace = %s::regnamespace AND a.amname IN ('hnsw', 'ivfflat')"
        " AND x.indisvalid",
        f'"{memory.env.schema}"',
    )
    kinds = [(kind, _metric_of(operators)) for kind, operators in found]
    wanted = [(memory.policy.index, memory.env.metric)]
    expect.equal("the kind and the metric of its vector indexes", kinds, wanted)


def _metric_of(operators: str) -> str:
    """Return the metric of an operator class such as `vector_cosine_ops`."""
    return next((metric for metric in METRICS if f"_{metric}_" in operators), operators)


# ---- what is shown ----------------------------------------------------------------------------


def _expect_alike(memory: Memory, when: str) -> None:
    """Fail unless list shows the record as get does, and a search finds it by the vector it has."""
    got = memory.get(SCOPE, "mine")
    listed = [each for each in memory.all_records(SCOPE) if each.id == "mine"]
    expect.equal(f"how often the record is listed {when}", len(listed), 1)
    if got is None:
        expect.equal(f"the record by get {when}", got, "the record")
        return
    for name in ("text", "metadata", "vector", "created_at", "updated_at"):
        shown = getattr(listed[0], name)
        expect.equal(
            f"{name} of the listed record, as get shows it, {when}", shown, getattr(got, name)
        )
    if got.vector is not None:
        found = memory.search(SCOPE, got.vector, 1)
        expect_nearest(
            memory, f"a search for the vector that get shows {when}", found, [got], got.vector, 1
        )


def _expect_filtered(memory: Memory, state: str, other: str) -> None:
    """Fail unless filters find the record by the state that it has, and not by the other."""
    if "eq" not in memory.policy.filters:
        return
    for value, wanted in ((state, ["mine"]), (other, [])):
        same = Compare("eq", "state", value)
        if memory.offers("search", "filter"):
            found = memory.found(SCOPE, axis(memory, 1.0), 10, filter=same)
            expect.equal(f"what a search finds by the state {value!r}", found, wanted)
        if memory.offers("list_records", "filter"):
            listed = [each.id for each in memory.all_records(SCOPE, filter=same)]
            expect.equal(f"what is listed by the state {value!r}", listed, wanted)
