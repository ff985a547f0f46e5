"""Records: put, change, list, search, delete, and what expires."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memory_matrix.stores import Combine, Compare, Message, Record, Scope
from memory_matrix.stores.errors import (
    CorruptError,
    DimensionError,
    NotFoundError,
    RefusedError,
    SchemaError,
)
from memory_matrix.stores.redis import inspection
from support.tables import table

SCOPE = Scope()
NOW = dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.timezone.utc)
LATER = NOW + dt.timedelta(microseconds=1)


def ids(page: Any) -> list[str]:
    return [record.id for record in page.items]


@pytest.fixture
def three(open_store: Callable[..., Any]) -> Any:
    """A store with three records."""
    store = open_store(dimensions=2)
    store.put_many(
        SCOPE,
        [
            Record(name, f"text {name}", (float(number), 1.0), {"n": number})
            for number, name in enumerate("abc")
        ],
    )
    return store


def test_a_record_comes_back_as_it_was(open_store: Callable[..., Any]) -> None:
    store = open_store(dimensions=3, clock=lambda: LATER)
    record = Record("i: {*}", "a\0é", (0.1, -0.0, 3e38), {"n": 2**63, "x": None}, NOW)
    store.put(SCOPE, record)

    assert store.get(SCOPE, record.id) == replace(record, updated_at=LATER)
    assert store.get(SCOPE, "other") is None


def test_putting_again_replaces_all_but_the_time_of_creation(
    open_store: Callable[..., Any],
) -> None:
    times = iter([NOW, LATER, LATER])
    store = open_store(clock=lambda: next(times))
    store.put(SCOPE, Record("a", "old", (1.0,), {"old": 1}), ttl=10)
    store.put(SCOPE, Record("a", "new"))

    assert store.get(SCOPE, "a") == Record("a", "new", None, {}, NOW, LATER)
    assert ids(store.list_records(SCOPE)) == ["a"]


def test_of_one_id_twice_in_a_batch_the_last_is_kept(store: Any) -> None:
    store.put_many(SCOPE, [Record("a", "1"), Record("b", "2"), Record("a", "3")])

    assert [record.text for record in store.list_records(SCOPE).items] in (["3", "2"], ["2", "3"])
    assert store.get(SCOPE, "a").text == "3"


@table(
    "record",
    [
        Record("x", "\udfff"),
        Record("x", metadata={"a": float("inf")}),
        Record("x", vector=(1.0,)),
        Record("x", vector=(1.0, float("nan"))),
        Record("x", vector=(1.0, 1e39)),
        Record("x", vector="ab"),  # type: ignore[arg-type]
        Record("x", vector=(1.0, "1")),  # type: ignore[arg-type]
        Record("x", vector=(True, 1.0)),
        Record(None),  # type: ignore[arg-type]
        Record("x", created_at=dt.datetime(2026, 1, 1)),  # noqa: DTZ001
    ],
)
def test_a_batch_with_one_bad_record_leaves_all_as_it_was(three: Any, record: Record) -> None:
    before = three.list_records(SCOPE)
    with pytest.raises(RefusedError):
        three.put_many(SCOPE, [Record("a", "changed"), record, Record("z", "new")])

    assert three.list_records(SCOPE) == before


def test_a_vector_of_another_length_is_refused(three: Any) -> None:
    with pytest.raises(DimensionError, match="has 3 dimensions; this store's vectors have 2"):
        three.put(SCOPE, Record("d", vector=(1.0, 2.0, 3.0)))
    with pytest.raises(DimensionError):
        three.update(SCOPE, "a", vector=(1.0,))
    with pytest.raises(DimensionError):
        three.search(SCOPE, (1.0,), 1)


def test_an_update_changes_only_what_it_names(three: Any) -> None:
    before = three.get(SCOPE, "a")
    three.use_clock(lambda: LATER)
    three.update(SCOPE, "a", text="")
    three.update(SCOPE, "a", metadata={"m": [1]})
    three.update(SCOPE, "a", vector=None)

    after = replace(before, text="", metadata={"n": 0, "m": [1]}, vector=None, updated_at=LATER)
    assert three.get(SCOPE, "a") == after


def test_an_update_of_what_is_not_there_is_refused(three: Any) -> None:
    for changes in ({"text": "x"}, {"metadata": {"x": 1}}, {"ttl": 10}):
        with pytest.raises(NotFoundError, match="'gone' is not there"):
            three.update(SCOPE, "gone", **changes)
    with pytest.raises(RefusedError):
        three.update(SCOPE, "a", metadata={"x": {1}})
    with pytest.raises(RefusedError):
        three.update(SCOPE, "a", text=None)


def test_updates_that_meet_keep_each_others_keys(three: Any) -> None:
    """The other's update comes between reading the metadata and writing it."""
    plan = three.store.parts.records.update(SCOPE, "a", {"metadata": {"mine": 1}})
    read = three.run(_once(next(plan)))
    three.update(SCOPE, "a", metadata={"theirs": 1})
    three.run(_rest(plan, read))

    assert three.get(SCOPE, "a").metadata == {"n": 0, "mine": 1, "theirs": 1}


def test_an_update_that_is_sent_again_is_done_once(three: Any) -> None:
    plan = three.store.parts.records.update(SCOPE, "a", {"metadata": {"mine": 1}})
    call = plan.send(three.run(_once(next(plan))))
    three.run(_once(call))

    assert three.run(_once(call)) == [b"ok"]


def test_a_late_repetition_of_an_older_put_does_nothing(store: Any) -> None:
    store.put(SCOPE, Record("a", "first"), write_id="w")
    store.put(SCOPE, Record("a", "second"))
    store.put(SCOPE, Record("a", "first"), write_id="w")

    assert store.get(SCOPE, "a").text == "second"


def test_pages_hold_every_record_once_in_the_order_of_creation(store: Any) -> None:
    names = [f"r{number % 7}-{number}" for number in range(20)]
    for name in names:
        store.put(SCOPE, Record(name, metadata={"odd": len(name) % 2}))

    found, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = store.list_records(SCOPE, limit=7, cursor=cursor)
        found, cursor, pages = [*found, *ids(page)], page.cursor, pages + 1
    assert (found, pages) == (names, 3)
    odd = Compare("eq", "odd", 1)
    some = store.list_records(SCOPE, condition=odd, limit=3)
    rest = store.list_records(SCOPE, condition=odd, cursor=some.cursor)
    assert ids(some) + ids(rest) == [name for name in names if len(name) % 2]
    assert store.list_records(SCOPE, limit=20).cursor is None


def test_many_are_listed_from_several_round_trips(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_matrix.stores.redis.records._PAGE", 4)
    monkeypatch.setattr("memory_matrix.stores.redis.conversations._PAGE", 4)
    names = [f"{number:02}" for number in range(12)]
    for name in names:
        store.put(SCOPE, Record(name))
        store.append(replace(SCOPE, session=name), [Message("user", "x")])

    assert ids(store.list_records(SCOPE)) == names
    assert ids(store.list_records(SCOPE, limit=9)) == names[:9]
    assert store.list_sessions(SCOPE).items == tuple(names)
    assert store.list_sessions(SCOPE, limit=9).items == tuple(names[:9])


def test_search_gives_the_best_first_and_the_oldest_of_equals(store: Any) -> None:
    for name, vector in {"x": (1, 0), "y": (0, 1), "z": (1, 0), "-x": (-1, 0)}.items():
        store.put(SCOPE, Record(name, vector=vector))

    found = store.search(SCOPE, (2, 0), 10)
    assert found == [("x", 1.0), ("z", 1.0), ("y", 0.0), ("-x", -1.0)]
    assert store.search(SCOPE, (2, 0), 1) == [("x", 1.0)]
    assert store.search(SCOPE, (2, 0), 0) == []
    assert store.search(SCOPE, (2, 0), 10, threshold=0) == found[:3]
    assert store.search(Scope(user="other"), (2, 0), 10) == []


def test_search_looks_only_at_what_the_filter_matches(three: Any) -> None:
    condition = Combine("not", (Compare("eq", "n", 2),))

    assert [name for name, _ in three.search(SCOPE, (1, 0), 2, condition=condition)] == ["b", "a"]


@table("value", ["text", None, (1.0, None), 5])
def test_a_query_that_is_no_vector_is_refused(three: Any, value: Any) -> None:
    with pytest.raises(RefusedError, match="The query"):
        three.search(SCOPE, value, 1)


@table("options", [{"k": -1}, {"k": None}, {"k": 1, "threshold": float("nan")}])
def test_a_search_for_a_number_that_means_nothing_is_refused(three: Any, options: Any) -> None:
    with pytest.raises(RefusedError):
        three.search(SCOPE, (1.0, 0.0), **options)


def test_records_without_a_vector_are_not_found_by_one(store: Any) -> None:
    store.put(SCOPE, Record("none"))
    store.put(SCOPE, Record("zero", vector=(0.0, 0.0)))

    assert store.search(SCOPE, (1.0, 0.0), 5) == [("zero", 0.0)]
    assert store.search(SCOPE, (0.0, 0.0), 5) == [("zero", 0.0)]


def test_deleting_where_takes_what_matches_and_nothing_else(three: Any) -> None:
    assert three.delete_where(SCOPE, Compare("gte", "n", 1)) == 2
    assert ids(three.list_records(SCOPE)) == ["a"]
    assert three.delete_where(SCOPE, Compare("eq", "n", 1)) == 0


def test_deleting_where_looks_again_at_what_was_changed_meanwhile(three: Any) -> None:
    plan = three.store.parts.records.delete_where(SCOPE, Compare("eq", "n", 1))
    read = three.run(_once(next(plan)))
    three.update(SCOPE, "b", metadata={"n": 5})

    assert three.run(_rest(plan, read)) == 0
    assert ids(three.list_records(SCOPE)) == ["a", "b", "c"]


def test_deleting_leaves_no_key(three: Any, client: Any) -> None:
    three.put(SCOPE, Record("d"), ttl=100)
    for name in "abcd":
        three.delete(SCOPE, name)
        three.delete(SCOPE, name)

    assert client.keys() == []


def test_deleting_all_leaves_other_namespaces(three: Any, client: Any) -> None:
    other = replace(SCOPE, namespace=("memories", "more"))
    three.put(other, Record("a"))

    assert three.delete_all(SCOPE) == 3
    assert three.delete_all(SCOPE) == 0
    assert ids(three.list_records(other)) == ["a"]
    three.delete_all(other)
    assert client.keys() == []


def test_namespaces_are_listed_by_whole_parts(store: Any) -> None:
    names = [("a",), ("a", "b"), ("ab",), ("a/b",), (), ("",), ("a", "")]
    for namespace in names:
        store.put(replace(SCOPE, namespace=namespace), Record("r"))
    store.put(replace(SCOPE, user="other", namespace=("x",)), Record("r"))

    assert store.list_namespaces(SCOPE) == sorted(names)
    assert store.list_namespaces(SCOPE, ("a",)) == [("a",), ("a", ""), ("a", "b")]
    assert store.list_namespaces(SCOPE, ("b",)) == []


def test_what_expired_is_gone_from_every_read_and_from_the_indexes(three: Any, client: Any) -> None:
    three.put(SCOPE, Record("soon", vector=(1.0, 0.0)), ttl=100)
    three.put(SCOPE, Record("later", vector=(1.0, 0.0)), ttl=0.5)
    assert 99_000 < client.pttl("memory:{app:user}:record:memories/:soon") <= 100_000
    assert 0 < client.pttl("memory:{app:user}:record:memories/:later") <= 500
    three.run(inspection.expire_now(three.store.parts.keys, SCOPE))

    assert three.get(SCOPE, "soon") is None
    assert ids(three.list_records(SCOPE)) == ["a", "b", "c"]
    assert [name for name, _ in three.search(SCOPE, (1.0, 0.0), 9)] == ["c", "b", "a"]
    assert client.zcard("memory:{app:user}:records:memories/") == 3
    with pytest.raises(NotFoundError):
        three.update(SCOPE, "soon", text="x")


def test_a_namespace_whose_records_expired_is_not_listed(store: Any, client: Any) -> None:
    store.put(SCOPE, Record("a"), ttl=100)
    client.delete("memory:{app:user}:record:memories/:a")

    assert store.list_namespaces(SCOPE) == []
    assert client.keys() in ([], [b"memory:{app:user}:expiries:memories/"])


def test_an_update_keeps_the_time_to_live_unless_it_names_one(store: Any, client: Any) -> None:
    key = "memory:{app:user}:record:memories/:a"
    store.put(SCOPE, Record("a"), ttl=100)
    store.update(SCOPE, "a", text="x", metadata={"b": 1})
    assert 0 < client.pttl(key) <= 100_000
    store.update(SCOPE, "a", ttl=1000)
    assert 900_000 < client.pttl(key) <= 1_000_000
    assert client.pttl("memory:{app:user}:records:memories/") > 900_000
    store.update(SCOPE, "a", ttl=None)
    assert {client.pttl(each) for each in client.scan_iter()} == {-1}


def test_putting_without_a_time_to_live_ends_the_former_one(store: Any, client: Any) -> None:
    store.put(SCOPE, Record("a"), ttl=100)
    store.put(SCOPE, Record("a"))

    assert {client.pttl(each) for each in client.scan_iter()} == {-1}


@table("ttl", [0, -1, float("nan"), float("inf"), True, "1", 1e18])
def test_a_time_to_live_that_means_nothing_is_refused(store: Any, client: Any, ttl: Any) -> None:
    with pytest.raises(RefusedError, match="time to live"):
        store.put(SCOPE, Record("a"), ttl=ttl)
    assert client.keys() == []


def test_a_write_takes_expired_records_out_of_the_indexes(store: Any, client: Any) -> None:
    store.put(SCOPE, Record("old"), ttl=100)
    client.delete("memory:{app:user}:record:memories/:old")
    (member,) = client.zrange("memory:{app:user}:expiries:memories/", 0, -1)
    client.zadd("memory:{app:user}:expiries:memories/", {member: 1})
    store.put(SCOPE, Record("new"))

    assert client.zcard("memory:{app:user}:records:memories/") == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("metadata", b"{"),
        ("metadata", b"[]"),
        ("vector", b"abc"),
        ("updated", b"x"),
        ("text", b"\xff"),
    ],
)
def test_a_record_that_cannot_be_read_is_named(
    three: Any, client: Any, field: str, value: bytes
) -> None:
    client.hset("memory:{app:user}:record:memories/:b", field, value)

    for call in (lambda: three.get(SCOPE, "b"), lambda: three.list_records(SCOPE)):
        with pytest.raises(CorruptError, match="b'"):
            call()
    if field == "vector":
        with pytest.raises(CorruptError):
            three.search(SCOPE, (1.0, 0.0), 1)


def test_a_record_of_an_older_release_is_read_and_changed(open_store: Callable[..., Any]) -> None:
    store = open_store(dimensions=2)
    store.run(inspection.older(store.store.parts.keys, SCOPE, 2))
    assert store.get(SCOPE, "old").metadata == {"kind": "old"}
    assert store.search(SCOPE, (1.0, 1.0), 1) == [("old", pytest.approx(1.0))]

    store.update(SCOPE, "old", text="new")
    store.update(SCOPE, "old", metadata={"more": 1})
    assert store.get(SCOPE, "old").metadata == {"kind": "old", "more": 1}
    assert ids(store.list_records(SCOPE)) == ["old"]
    assert store.list_namespaces(SCOPE) == [("memories",)]


def test_a_record_of_a_newer_release_is_left_alone(three: Any, client: Any) -> None:
    client.hset("memory:{app:user}:record:memories/:b", "format", 3)

    for call in (lambda: three.get(SCOPE, "b"), lambda: three.update(SCOPE, "b", text="x")):
        with pytest.raises(SchemaError, match="later release"):
            call()


def _once(call: Any) -> Any:
    return (yield call)


def _rest(plan: Any, reply: Any) -> Any:
    """Go on with a plan whose first call was answered by `reply`."""
    try:
        call = plan.send(reply)
        while True:
            call = plan.send((yield call))
    except StopIteration as end:
        return end.value
