"""What is done with records, as calls and what their answers mean; nothing here speaks to a server."""

from __future__ import annotations

import heapq
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_matrix.stores.errors import DimensionError, NotFoundError, RefusedError, StoreError
from memory_matrix.stores.protocol import Filter, Page, Record, Scope
from memory_matrix.stores.redis.calls import Argument, Call, Plan, answer, script
from memory_matrix.stores.redis.conversations import begin
from memory_matrix.stores.redis.filters import compiled
from memory_matrix.stores.redis.keys import (
    Keys,
    RecordKeys,
    decoded,
    encoded,
    namespace_name,
    namespace_parts,
)
from memory_matrix.stores.redis.scoring import Metric, scorer
from memory_matrix.stores.redis.values import (
    LAYOUT,
    Shapes,
    digits,
    how_many,
    instances,
    number,
    text_bytes,
    ttl_bytes,
    utc,
    vector_floats,
    write_id_bytes,
)


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        """Return how it reads in a signature."""
        return "UNSET"


UNSET: Final = Unset()
"""What an update does not name."""

_FIELDS = (b"token", b"updated", b"text", b"metadata", b"vector", b"format")
_PAGE = 500
"""How many records a listing asks for at once, so that the server is free in between."""
_MOST = 100_000
"""How many records one call can put: what the server's protocol bears."""
_TRIES = 1000


@dataclass(frozen=True)
class _Found:
    """A record with its fields as the server holds them."""

    fields: Sequence[bytes]
    record: Record

    @property
    def member(self) -> bytes:
        return self.fields[0]

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """The encoded id, and the token of the record's latest change."""
        return self.fields[0][16:], self.fields[1]

    @property
    def vector(self) -> bytes:
        return self.fields[5]


@dataclass(frozen=True)
class Records:
    """The record part of one store."""

    keys: Keys
    shapes: Shapes
    metric: Metric

    def put(
        self,
        scope: Scope,
        records: Sequence[Record],
        ttl: float | None = None,
        write_id: str | None = None,
    ) -> Plan[None]:
        """Store records, all or none; an id that is there gets the new record."""
        keys = self.keys.records(scope)
        head = [
            *(keys.base, namespace_name(scope.namespace)),
            *(ttl_bytes(ttl), write_id_bytes(write_id)),
        ]
        each_of = instances(records, Record, _MOST)
        body = [field for record in each_of for field in self._fields(record)]
        if body:
            answer((yield Call(script("put"), keys.all, [*head, *body])), "A record")

    def get(self, scope: Scope, record_id: str) -> Plan[Record | None]:
        """Return a record, or None."""
        fields = yield from self._get(self.keys.records(scope), record_id)
        return None if fields[0] is None else self.shapes.record(record_id, fields)

    def update(self, scope: Scope, record_id: str, changes: Mapping[str, Any]) -> Plan[None]:
        """Change what `changes` names: text, vector, ttl, and single keys of metadata."""
        keys = self.keys.records(scope)
        fields = self._changed_fields(record_id, changes)
        ttl = ttl_bytes(changes["ttl"]) if "ttl" in changes else b"keep"
        token = _token()
        for _ in range(_TRIES):
            known, merged = b"", list[Argument]()
            if "metadata" in changes:
                found = yield from self._get(keys, record_id)
                if found[0] is None:
                    raise NotFoundError(f"Record {record_id!r} is not there.")
                known, merged = found[1], self._merged(record_id, found, changes["metadata"])
            arguments = [known, token, ttl, *fields, *merged]
            reply = yield Call(script("update"), [keys.record(record_id), *keys.all], arguments)
            if reply[0] != b"changed":
                answer(reply, f"Record {record_id!r}")
                return
        raise StoreError(f"Record {record_id!r} was changed by others {_TRIES} times meanwhile.")

    def delete(self, scope: Scope, record_id: str) -> Plan[None]:
        """Delete a record; it need not be there."""
        name = encoded(record_id, "A record id")
        yield from self._delete(scope, [name, b""])

    def delete_where(self, scope: Scope, condition: Filter) -> Plan[int]:
        """Delete the records that `condition` matches, and return how many they were."""
        test = compiled(condition)
        deleted = 0
        while True:
            found = yield from self._scan(scope, b"-", -1)
            pairs = [part for each in found if test(each.record) for part in each.pair]
            if not pairs:
                return deleted
            # Those that were changed since they were read are looked at again.
            deleted += yield from self._delete(scope, pairs[: 2 * _MOST], repeatable=False)

    def delete_all(self, scope: Scope) -> Plan[int]:
        """Delete all records of the namespace, and return how many they were."""
        keys = self.keys.records(scope)
        arguments = [keys.base, namespace_name(scope.namespace)]
        (deleted,) = answer((yield Call(script("delete_all"), keys.all, arguments)), "A record")
        return int(deleted)

    def list_records(
        self,
        scope: Scope,
        condition: Filter | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Plan[Page]:
        """Return a page of records in the order of their creation."""
        most, from_, test = how_many(limit), begin(cursor), compiled(condition)
        size = _PAGE if condition or most < 0 else min(most + 1, _PAGE)
        items: list[_Found] = []
        while most != 0:
            found = yield from self._scan(scope, from_, size)
            items += [each for each in found if test(each.record)]
            if len(found) < size or 0 <= most < len(items):
                break
            from_ = b"(" + found[-1].member
        shown = items if most < 0 else items[:most]
        cursor = shown[-1].member.decode() if len(shown) < len(items) else None
        return Page(tuple(each.record for each in shown), cursor)

    def list_namespaces(
        self, scope: Scope, prefix: tuple[str, ...] = ()
    ) -> Plan[list[tuple[str, ...]]]:
        """Return the namespaces that hold records and begin with the parts of `prefix`, sorted."""
        keys, name = self.keys.records(scope), namespace_name(prefix)
        bases = [self.keys.base(scope, kind) for kind in ("records", "expiries", "record")]
        arguments = [b"[" + name if name else b"-", b"(" + name + b"\xff", *bases]
        call = Call(script("list_namespaces"), [keys.namespaces], arguments)
        (names,) = answer((yield call), "The index of namespaces")
        return sorted(map(namespace_parts, names))

    def search(
        self,
        scope: Scope,
        query: Sequence[float],
        k: int,
        condition: Filter | None = None,
        threshold: float | None = None,
    ) -> Plan[list[tuple[str, float]]]:
        """Return the ids and scores of the `k` records most like `query`, best first."""
        most = how_many(k, "k")
        floats, test = self.shapes.floats(query, "The query"), compiled(condition)
        least = -math.inf if threshold is None else number(threshold, "threshold")
        if most < 0:
            raise RefusedError("k is None; say how many records are wanted.")
        if most == 0:
            return []
        if condition is None:
            found = yield from self._vectors(scope)
        else:
            scanned = yield from self._scan(scope, b"-", -1)
            found = [(each.member, each.vector) for each in scanned if test(each.record)]
        return _best(self._scores(floats, found, least), most)

    def _scores(
        self, query: Sequence[float], found: Iterable[tuple[bytes, bytes]], least: float
    ) -> Iterable[tuple[str, float]]:
        score = scorer(self.metric, query)
        for member, data in found:
            record_id = decoded(member[16:])
            vector = vector_floats(data, f"record {record_id!r}")
            if vector and len(vector) != len(query):
                raise DimensionError(
                    f"The query has {len(query)} dimensions; record {record_id!r} has {len(vector)}."
                )
            if vector and (value := score(vector)) >= least:
                yield record_id, value

    def _fields(self, record: Record) -> list[Argument]:
        now = self.shapes.now()
        what = f"record {record.id!r}"
        created = utc(record.created_at or now, f"created_at of {what}")
        vector = b""
        if record.vector is not None:
            vector = self.shapes.vector_bytes(record.vector, f"The vector of {what}")
        return [
            encoded(record.id, "A record id"),
            digits(created),
            b"given" if record.created_at else b"",
            _token(),
            digits(now),
            text_bytes(record.text, f"The text of {what}"),
            self.shapes.metadata_bytes(record.metadata, record.id),
            vector,
        ]

    def _changed_fields(self, record_id: str, changes: Mapping[str, Any]) -> list[Argument]:
        fields: list[Argument] = [b"updated", digits(self.shapes.now())]
        what = f"record {record_id!r}"
        if "text" in changes:
            fields += [b"text", text_bytes(changes["text"], f"The text of {what}")]
        if "vector" in changes:
            vector = changes["vector"]
            data = (
                b"" if vector is None else self.shapes.vector_bytes(vector, f"The vector of {what}")
            )
            fields += [b"vector", data]
        if "metadata" in changes:
            self.shapes.metadata_bytes(changes["metadata"], record_id)
        return fields

    def _merged(
        self, record_id: str, fields: Sequence[Any], metadata: Mapping[str, Any]
    ) -> list[Argument]:
        """Return a record's metadata with `metadata` merged in, as a field to be set."""
        old = self.shapes.record(record_id, fields).metadata
        return [
            *(b"metadata", self.shapes.metadata_bytes({**old, **metadata}, record_id)),
            *(b"format", LAYOUT),
        ]

    def _get(self, keys: RecordKeys, record_id: str) -> Plan[Sequence[Any]]:
        (fields,) = answer((yield Call(script("get"), [keys.record(record_id)])), "A record")
        return list(fields)

    def _scan(self, scope: Scope, from_: bytes, most: int) -> Plan[list[_Found]]:
        call = self._scan_call(scope, from_, most, _FIELDS)
        (rows,) = answer((yield call), "The index of records")
        return [_Found(row, self.shapes.record(decoded(row[0][16:]), row)) for row in rows]

    def _vectors(self, scope: Scope) -> Plan[list[tuple[bytes, bytes]]]:
        """Return the member and the vector of every record."""
        call = self._scan_call(scope, b"-", -1, (b"vector",))
        (rows,) = answer((yield call), "The index of records")
        return [(row[0], row[1]) for row in rows]

    def _scan_call(self, scope: Scope, from_: bytes, most: int, fields: tuple[bytes, ...]) -> Call:
        keys = self.keys.records(scope)
        return Call(script("scan"), keys.all, [keys.base, from_, most, *fields])

    def _delete(
        self, scope: Scope, pairs: Sequence[bytes], *, repeatable: bool = True
    ) -> Plan[int]:
        keys = self.keys.records(scope)
        arguments = [keys.base, namespace_name(scope.namespace), *pairs]
        call = Call(script("delete"), keys.all, arguments, repeatable)
        (deleted,) = answer((yield call), "A record")
        return int(deleted)


def _token() -> bytes:
    return secrets.token_hex(8).encode()


def _best(scores: Iterable[tuple[str, float]], most: int) -> list[tuple[str, float]]:
    """Return the `most` best, and of equal ones the oldest."""
    return heapq.nsmallest(most, scores, key=lambda each: -each[1])
