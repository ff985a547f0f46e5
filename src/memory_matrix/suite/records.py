"""What several cases expect of records."""

from __future__ import annotations

from collections.abc import Sequence

from memory_matrix.stores.protocol import Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import plain, plains


def expect_record(memory: Memory, what: str, scope: Scope, wanted: Record) -> None:
    """Fail unless `get` gives the record, with all its text and metadata."""
    found = memory.get(scope, wanted.id)
    expect.equal(f"the record {wanted.id!r} {what}", found and plain(found), plain(wanted))


def expect_records(memory: Memory, what: str, scope: Scope, wanted: Sequence[Record]) -> None:
    """Fail unless the scope has just these records, in any order."""
    for each in wanted:
        expect_record(memory, what, scope, each)
    if memory.offers("list_records"):
        listed = plains(memory.all_records(scope))
        expect.contents(f"the records listed {what}", listed, plains(wanted))
