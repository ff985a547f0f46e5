"""Group G: what is deleted is gone, and what is done twice is done once."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memory_matrix.stores.protocol import Combine, Compare, Filter, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.parts import cover
from memory_matrix.suite.records import expect_record, expect_records
from memory_matrix.suite.samples import many_records, messages, numbered, plain, record
from memory_matrix.suite.sessions import delete_at, expect_session, require_deleting, say_with_ids

GROUP = "G"

Checks = dict[tuple[str, ...], Callable[[Memory], None]]

SCOPE = Scope()
OTHER = Scope(session="other", namespace=("other",))
_LONGEST_TICK = 2.5
"""Seconds within which a store's clock moves, that of one which counts whole seconds too."""


def test_del_then_get_list_search_count(memory: Memory) -> None:
    """What is deleted is gone from every read path, and what is not is still there."""
    by_filter: Checks = {("put", "delete_where"): _matching_gone}
    cover(
        memory,
        {
            ("append", "delete_message"): _message_gone,
            ("append", "clear"): _session_gone,
            ("put", "delete"): _record_gone,
            ("put", "delete_all"): _records_gone,
            **(by_filter if "eq" in memory.policy.filters else {}),
        },
    )


def test_del_leaves_no_keys(memory: Memory) -> None:
    """After a delete no row and no key of what was deleted is left, in side tables and indexes neither."""
    if not memory.offers("raw_keys") and not memory.offers("raw_rows"):
        memory.not_offered("the adapter has neither raw_keys nor raw_rows")
    cover(
        memory,
        {
            ("append", "clear"): _clear_leaves_nothing,
            ("put", "delete"): _delete_leaves_nothing,
            ("put", "delete_all"): _delete_all_leaves_nothing,
        },
    )


def test_del_missing_is_quiet(memory: Memory) -> None:
    """Deleting what is not there is quiet or refused, as declared, and twice the same."""
    cover(
        memory,
        {
            ("delete_message",): _delete_missing_message,
            ("clear",): _clear_missing_session,
            ("delete",): _delete_missing_record,
            ("delete_all",): _delete_all_of_nothing,
        },
    )


def test_del_more_than_one_page(memory: Memory) -> None:
    """Of 150 and of 1,001 records, or messages, all are deleted, and no other."""
    cover(
        memory,
        {
            ("append", "clear"): _clear_many,
            ("put", "delete_all", "list_records"): _delete_all_of_many,
            ("put", "delete_where", "list_records"): _delete_where_of_many,
        },
    )


def test_del_by_filter_exact(memory: Memory) -> None:
    """A delete by filter deletes just the records that match, and says how many if it says it."""
    memory.require("put", "delete_where", "list_records")
    usable = [each for each in FILTERS if set(each[0]) <= set(memory.policy.filters)]
    if not usable:
        memory.not_offered("policy filters has no eq")
    records = [record(memory, f"id-{n}", metadata=_metadata(n)) for n in range(24)]
    for number, (operators, filter_, matches) in enumerate(usable):
        scope = replace(SCOPE, namespace=(f"filter-{number}",))
        memory.put_all(scope, records)
        what = f"a delete by {' and '.join(operators)}"
        deleted = memory.delete_where(scope, filter_)
        left = [each for each in records if not matches(each.metadata)]
        expect.contents(f"the records left by {what}", _ids(memory, scope), _ids_of(left))
        _expect_not_found(memory, scope, [each for each in records if each not in left])
        expect.true(
            deleted in {None, len(records) - len(left)},
            f"{what} deleted {len(records) - len(left)}, and says {deleted}",
        )


def test_del_in_other_schema_and_prefix(memory: Memory) -> None:
    """Deletes work in another schema and under another prefix, and only there."""
    place = memory.next_door() if "postgres" in memory.tested.needs else memory
    other = place.another(prefix=f"{memory.env.prefix}other:")
    cover(
        memory,
        {
            ("append", "clear"): partial(_clear_elsewhere, other),
            ("append", "delete_message"): partial(_delete_message_elsewhere, other),
            ("append", "pop"): partial(_pop_elsewhere, other),
            ("put", "delete"): partial(_delete_elsewhere, other),
            ("put", "delete_all"): partial(_delete_all_elsewhere, other),
        },
    )


def test_del_then_readd_same_id(memory: Memory) -> None:
    """After a delete the same id is a new one, without the old one's messages, metadata or state."""
    cover(memory, {("append", "clear"): _session_anew, ("put", "delete", "get"): _record_anew})


def test_idem_same_id_twice(memory: Memory) -> None:
    """Putting one id twice gives one record with the second content, or is refused, as declared."""
    memory.require("put", "get")
    first = record(memory, "same", "first", {"only-first": 1})
    second = record(memory, "same", "second", {"only-second": 2})
    memory.put(SCOPE, first)
    again = partial(memory.put, SCOPE, second)
    if memory.policy.same_id == "refuse":
        memory.refused("putting an id that is there", again)
        expect_records(memory, "after an id was put twice", SCOPE, [first])
    else:
        again()
        expect_records(memory, "after an id was put twice", SCOPE, [second])


def test_idem_retry_after_lost_reply(memory: Memory) -> None:
    """A write sent again with its write_id, after the connection was cut, is done once."""
    memory.require_policy(idempotent_by="id")
    if not memory.offers("append", "write_id") and not memory.offers("put", "write_id"):
        memory.not_offered("neither append nor put takes a write_id")
    if memory.offers("append", "write_id"):
        memory.rounds(3, partial(_retry_append, memory))
    if memory.offers("put", "write_id"):
        _retry_put(memory)


def test_idem_setup_twice(memory: Memory) -> None:
    """Setting up again, from the same object and from another, is no error and changes nothing."""
    memory.require("setup")
    before = _all_there(memory, write=True)
    for other in (memory, memory, memory.another()):
        other.setup()
        expect.equal("what is there after another setup", _all_there(other), before)
    expect.equal("what is there after three setups", _all_there(memory), before)


def test_idem_writes_same_task(memory: Memory) -> None:
    """A batch that is replayed with the same keys is not doubled."""
    replays: Checks = {}
    if memory.offers("append", "write_id") and memory.policy.idempotent_by == "id":
        replays["append",] = _replay_append
    cover(memory, {**replays, ("put_many", "list_records"): _replay_put})


def test_update_keeps_created_changes_updated(memory: Memory) -> None:
    """An update keeps created_at and moves updated_at, on every read path alike."""
    memory.require("put", "get", "update")
    memory.put(SCOPE, record(memory, "one", metadata={"key": 1}))
    before = _times(memory)
    if None in before:
        memory.not_offered("records are read without created_at and updated_at")
    changes: list[dict[str, Any]] = [{"text": "changed"}, {"metadata": {"key": 2}}]
    for change in changes:
        after = _moved_times(memory, before, change)
        expect.equal(f"created_at after an update of {[*change]}", after[0], before[0])
        before = after


# ---- gone -------------------------------------------------------------------------------------


NAMES = ("kept", "gone", "gone too")


def _message_gone(memory: Memory) -> None:
    require_deleting(memory)
    scope = replace(SCOPE, session="message")
    texts = numbered("gone", 4)
    say_with_ids(memory, scope, texts)
    for index in (1, 2, 0):
        delete_at(memory, scope, index)
        del texts[index]
        expect_session(memory, "after a message was deleted", scope, texts)
        if memory.offers("read", "limit"):
            newest = memory.texts(scope, limit=1)
            expect.equal("the newest text after a message was deleted", newest, texts[-1:])


def _session_gone(memory: Memory) -> None:
    for scope in (SCOPE, OTHER):
        memory.say(scope, "one", "two")
    memory.clear(SCOPE)
    expect_session(memory, "of a cleared session", SCOPE, [])
    expect_session(memory, "of the session beside it", OTHER, ["one", "two"])
    if memory.offers("read", "limit"):
        expect.equal("the newest text of it", memory.texts(SCOPE, limit=1), [])
    if memory.offers("pop"):
        expect.equal("a pop of it", memory.pop(SCOPE), None)
    if memory.offers("list_sessions"):
        listed = memory.all_sessions(SCOPE)
        expect.true(SCOPE.session not in listed, "a cleared session is still listed")
        expect.true(OTHER.session in listed, "the session beside a cleared one is not listed")
    if memory.offers("get_state") and memory.offers("set_state"):
        expect.equal("the state of a cleared session", memory.get_state(SCOPE), {})


def _record_gone(memory: Memory) -> None:
    kept, gone = record(memory, "kept"), record(memory, "gone")
    memory.put(SCOPE, kept)
    memory.put(SCOPE, gone)
    memory.delete(SCOPE, "gone")
    _expect_gone(memory, SCOPE, gone)
    expect_record(memory, "beside a deleted one", SCOPE, kept)


def _records_gone(memory: Memory) -> None:
    scope, beside = replace(SCOPE, namespace=("all",)), replace(SCOPE, namespace=("beside",))
    records = [record(memory, name) for name in ("one", "two")]
    for where in (scope, beside):
        memory.put_all(where, records)
    memory.delete_all(scope)
    for each in records:
        _expect_gone(memory, scope, each)
        expect_record(memory, "beside deleted ones", beside, each)


def _matching_gone(memory: Memory) -> None:
    scope = replace(SCOPE, namespace=("matching",))
    kept, *gone = (record(memory, name, metadata={"kind": name[:4]}) for name in NAMES)
    memory.put_all(scope, [kept, *gone])
    matching = Compare("eq", "kind", "gone")
    memory.delete_where(scope, matching)
    for each in gone:
        _expect_gone(memory, scope, each)
    _expect_not_found(memory, scope, gone, filter=matching)
    expect_record(memory, "beside those that a filter deleted", scope, kept)


def _expect_gone(memory: Memory, scope: Scope, gone: Record) -> None:
    expect.equal("what get gives of a deleted record", memory.get(scope, gone.id), None)
    if memory.offers("list_records"):
        listed = _ids(memory, scope)
        expect.true(gone.id not in listed, f"a deleted record is still listed in {listed}")
    _expect_not_found(memory, scope, [gone])


def _expect_not_found(memory: Memory, scope: Scope, gone: Sequence[Record], **options: Any) -> None:
    """Fail if a search for where they were finds one of the deleted records."""
    if not gone or gone[0].vector is None or not memory.offers("search", *options):
        return
    found = memory.found(scope, gone[0].vector, 10 + len(gone), **options)
    still = [each.id for each in gone if each.id in found]
    expect.true(not still, f"a deleted record, {still}, is still found in {found}")


# ---- nothing left -----------------------------------------------------------------------------


def _clear_leaves_nothing(memory: Memory) -> None:
    # What a first session and a first clear leave for all that follow is no key of SCOPE's.
    warm = replace(SCOPE, session="warm")
    for scope in (OTHER, warm):
        memory.say(scope, *numbered("left", 3))
    memory.clear(warm)
    before = sorted(memory.traces(OTHER)), _held(memory)
    memory.say(SCOPE, *numbered("left", 3))
    if memory.offers("set_state"):
        memory.set_state(memory.load(SCOPE) if memory.offers("load") else SCOPE, {"key": 1})
    if memory.offers("pop"):
        memory.pop(SCOPE)
    expect.true(
        memory.traces(SCOPE), "the adapter names no key and no row of a session of messages"
    )
    memory.clear(SCOPE)
    expect.equal("the keys and rows of a cleared session", sorted(memory.traces(SCOPE)), [])
    after = sorted(memory.traces(OTHER)), _held(memory)
    expect.equal("those of the session beside it, and all there are", after, before)


def _delete_leaves_nothing(memory: Memory) -> None:
    scope = replace(SCOPE, session="records", namespace=("one by one",))
    _warm_records(memory, memory.delete, "warm")
    before, names = _held(memory), ("one", "two")
    for name in names:
        memory.put(scope, record(memory, name, metadata={"key": name}))
    expect.true(memory.traces(scope), "the adapter names no key and no row of records")
    for name in names:
        memory.delete(scope, name)
    expect.equal("the keys and rows of deleted records", sorted(memory.traces(scope)), [])
    expect.equal("all keys and rows after deletes", _held(memory), before)


def _delete_all_leaves_nothing(memory: Memory) -> None:
    scope = replace(SCOPE, session="records", namespace=("all at once",))
    _warm_records(memory, memory.delete_all)
    before = _held(memory)
    memory.put_all(scope, [record(memory, name, metadata={"key": name}) for name in "abc"])
    memory.delete_all(scope)
    expect.equal("the keys and rows of all deleted", sorted(memory.traces(scope)), [])
    expect.equal("all keys and rows after deleting all", _held(memory), before)


def _warm_records(memory: Memory, delete: Callable[..., Any], *names: str) -> None:
    """Put and delete, so that what a store makes once for all that follows is there."""
    scope = replace(SCOPE, session="warm", namespace=("warm",))
    memory.put_all(scope, [record(memory, "warm", metadata={"key": "warm"})])
    delete(scope, *names)


def _held(memory: Memory) -> list[tuple[str, int]]:
    """Return all that the server holds of the store: tables and keys, with how many rows or elements."""
    held: list[tuple[str, int]] = []
    if memory.offers("tables"):
        held += [(table, _rows(memory, table)) for table in sorted(memory.call("tables"))]
    return [*held, *memory.site.redis_sizes().items()]


def _rows(memory: Memory, table: str) -> int:
    rows = memory.site.sql(f'SELECT count(*) FROM "{table}"')  # noqa: S608 - the name of a table
    return int(rows[0][0])


# ---- what is not there ------------------------------------------------------------------------


def _delete_missing_message(memory: Memory) -> None:
    require_deleting(memory)
    scope = replace(SCOPE, session="messages")
    say_with_ids(memory, scope, ["only"])
    missing: str | int = 5 if memory.policy.delete_by == "index" else "no-such-id"
    if memory.policy.delete_by == "id" and memory.policy.message_ids == "store":
        memory.say(scope, "deleted")
        missing = str(memory.read(scope)[1].id)
        delete_at(memory, scope, 1)
    _expect_missing(memory, "a message that is not there", memory.delete_message, scope, missing)
    expect_session(memory, "after a missing one was deleted", scope, ["only"])


def _delete_missing_record(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "there"))
    _expect_missing(memory, "a record that is not there", memory.delete, SCOPE, "missing")
    expect.true(memory.get(SCOPE, "there"), "deleting a missing record deleted another")


def _clear_missing_session(memory: Memory) -> None:
    scope = replace(SCOPE, session="missing")
    _expect_alike(memory, "clearing a session that is not there", memory.clear, scope)


def _delete_all_of_nothing(memory: Memory) -> None:
    scope = replace(SCOPE, namespace=("missing",))
    _expect_alike(memory, "deleting all of nothing", memory.delete_all, scope)


def _expect_missing(memory: Memory, what: str, call: Callable[..., Any], *arguments: Any) -> None:
    for _ in range(2):
        if memory.policy.delete_missing == "refuse":
            memory.refused(f"deleting {what}", partial(call, *arguments))
        else:
            memory.accepted(f"deleting {what}", partial(call, *arguments))


def _expect_alike(memory: Memory, what: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Both tries are quiet; or both are refused, where the policy is so."""
    tries = [memory.attempt(partial(call, *arguments)) for _ in range(2)]
    told = [type(each.refusal).__name__ for each in tries if each.refused]
    quiet = memory.policy.delete_missing == "quiet"
    expect.true(not (quiet and told), f"{what} is declared to be quiet, and raised {told}")
    expect.true(len(told) != 1, f"{what} twice is refused once: {told}")


# ---- many -------------------------------------------------------------------------------------

MANY = (150, 1001)


def _clear_many(memory: Memory) -> None:
    memory.say(OTHER, "beside")
    for count in MANY:
        memory.say(SCOPE, *numbered("many", count))
        memory.clear(SCOPE)
        expect_session(memory, f"of a cleared session of {count}", SCOPE, [])
        if memory.offers("raw_keys") or memory.offers("raw_rows"):
            left = len(memory.traces(SCOPE))
            expect.equal(f"the keys and rows left of {count} messages", left, 0)
    expect_session(memory, "of the session beside it", OTHER, ["beside"])


def _delete_all_of_many(memory: Memory) -> None:
    memory.put(OTHER, record(memory, "beside"))
    for count in MANY:
        memory.put_all(SCOPE, many_records(memory, "id", count, kind="gone"))
        memory.delete_all(SCOPE)
        expect.equal(f"the records left of {count}", _ids(memory, SCOPE), [])
    expect.equal("the records beside them", _ids(memory, OTHER), ["beside"])


def _delete_where_of_many(memory: Memory) -> None:
    if "eq" not in memory.policy.filters:
        return
    memory.put(SCOPE, record(memory, "beside", metadata={"kind": "kept"}))
    for count in MANY:
        memory.put_all(SCOPE, many_records(memory, "id", count, kind="gone"))
        memory.delete_where(SCOPE, Compare("eq", "kind", "gone"))
        expect.equal(f"the records left of {count} that match", _ids(memory, SCOPE), ["beside"])


# ---- by filter --------------------------------------------------------------------------------


def _metadata(number: int) -> dict[str, Any]:
    """Return metadata whose kinds are prefixes of each other, and whose numbers look like texts."""
    kind = ("a", "ab", "a_", "A", "a%", "")[number % 6]
    return {"kind": kind, "number": number, **({"rare": str(number)} if number < 3 else {})}


_A = Compare("eq", "kind", "a")
_TEN = Compare("gte", "number", 10)

FILTERS: tuple[tuple[tuple[str, ...], Filter, Callable[[Any], bool]], ...] = (
    (("eq",), _A, lambda found: found["kind"] == "a"),
    (("eq",), Compare("eq", "kind", "a_"), lambda found: found["kind"] == "a_"),
    (("eq",), Compare("eq", "kind", ""), lambda found: found["kind"] == ""),
    (("eq",), Compare("eq", "number", 0), lambda found: found["number"] == 0),
    (("eq",), Compare("eq", "rare", "2"), lambda found: found.get("rare") == "2"),
    (("eq",), Compare("eq", "kind", "none such"), lambda _: False),
    (("gte",), _TEN, lambda found: found["number"] >= 10),
    (("in",), Compare("in", "number", [3, 5]), lambda found: found["number"] in {3, 5}),
    (("in",), Compare("in", "number", []), lambda _: False),
    (
        ("eq", "gte", "and"),
        Combine("and", (_A, _TEN)),
        lambda found: found["kind"] == "a" and found["number"] >= 10,
    ),
    (
        ("eq", "gte", "or"),
        Combine("or", (_A, _TEN)),
        lambda found: found["kind"] == "a" or found["number"] >= 10,
    ),
    (("eq", "not"), Combine("not", (_A,)), lambda found: found["kind"] != "a"),
)


# ---- elsewhere --------------------------------------------------------------------------------


def _clear_elsewhere(other: Memory, memory: Memory) -> None:
    _both_say(memory, other, "cleared", ["one", "two"])
    scope = replace(SCOPE, session="cleared")
    other.clear(scope)
    expect_session(other, "cleared in another place", scope, [])
    expect_session(memory, "of the same name", scope, ["one", "two"])


def _delete_message_elsewhere(other: Memory, memory: Memory) -> None:
    require_deleting(memory)
    _both_say(memory, other, "deleted", ["one", "two"])
    scope = replace(SCOPE, session="deleted")
    delete_at(other, scope, 0)
    expect_session(other, "in another place after a delete", scope, ["two"])
    expect_session(memory, "of the same name", scope, ["one", "two"])


def _pop_elsewhere(other: Memory, memory: Memory) -> None:
    _both_say(memory, other, "popped", ["one", "two"])
    scope = replace(SCOPE, session="popped")
    other.pop(scope)
    expect_session(other, "in another place after a pop", scope, ["one"])
    expect_session(memory, "of the same name", scope, ["one", "two"])


def _both_say(memory: Memory, other: Memory, session: str, texts: Sequence[str]) -> None:
    for each in (memory, other):
        say_with_ids(each, replace(SCOPE, session=session), texts)


def _delete_elsewhere(other: Memory, memory: Memory) -> None:
    for each in (memory, other):
        each.put(SCOPE, record(each, "gone"))
    other.delete(SCOPE, "gone")
    _expect_gone(other, SCOPE, record(other, "gone"))
    expect.true(memory.get(SCOPE, "gone"), "a delete in another place deleted the record here")


def _delete_all_elsewhere(other: Memory, memory: Memory) -> None:
    scope = replace(SCOPE, namespace=("all",))
    for each in (memory, other):
        each.put(scope, record(each, "gone"))
    other.delete_all(scope)
    _expect_gone(other, scope, record(other, "gone"))
    expect.true(memory.get(scope, "gone"), "a delete_all in another place deleted the record here")


# ---- again ------------------------------------------------------------------------------------


def _session_anew(memory: Memory) -> None:
    texts = numbered("old", 3)
    memory.say(SCOPE, *texts)
    if memory.offers("set_state"):
        memory.set_state(memory.load(SCOPE) if memory.offers("load") else SCOPE, {"old": 1})
    memory.clear(SCOPE)
    memory.say(SCOPE, *texts[:2])
    expect_session(memory, "of the session made anew", SCOPE, texts[:2])
    if memory.offers("get_state") and memory.offers("set_state"):
        expect.equal("the state of the session made anew", memory.get_state(SCOPE), {})


def _record_anew(memory: Memory) -> None:
    memory.put(SCOPE, record(memory, "same", "old text", {"old": 1}))
    memory.delete(SCOPE, "same")
    new = record(memory, "same", "new text", {"new": 2})
    memory.put(SCOPE, new)
    expect_records(memory, "put again after a delete", SCOPE, [new])
    if memory.offers("search") and new.vector is not None:
        expect.equal("what a search finds of it", memory.found(SCOPE, new.vector, 5), ["same"])


def _retry_append(memory: Memory, round_: int) -> str | None:
    """Send a write again: after its answer came, after it may have been lost, and from another object."""
    scope = replace(SCOPE, session=f"retry-{round_}")
    again = partial(memory.append, scope, messages(["one", "two"]), write_id="write-1")
    if round_ == 0:
        again()
        memory.kill_connections()
    else:
        calls: list[Callable[[], Any]] = [partial(memory.attempt, again), memory.kill_connections]
        memory.together(calls)
    _until_done(memory, again)
    memory.another().append(scope, messages(["one", "two"]), write_id="write-1")
    memory.append(scope, messages(["three"]), write_id="write-2")
    texts = memory.texts(scope)
    return None if texts == ["one", "two", "three"] else f"a write sent again gave {texts}"


def _retry_put(memory: Memory) -> None:
    again = partial(memory.put, SCOPE, record(memory, "same", "first"), write_id="write-1")
    again()
    memory.kill_connections()
    _until_done(memory, partial(memory.get, SCOPE, "same"))
    changed = record(memory, "same", "changed since")
    if memory.policy.same_id == "last-wins":
        memory.put(SCOPE, changed, write_id="write-2")
        again()
        expect_records(memory, "after a late repetition of an older write", SCOPE, [changed])
    else:
        again()
        expect_records(memory, "after a repeated write", SCOPE, [record(memory, "same", "first")])


def _until_done(memory: Memory, call: Callable[[], Any]) -> None:
    """Call again as often as calls may fail after a cut, as declared, and once more."""
    for _ in range(memory.policy.reconnect_calls):
        if not memory.attempt(call).refused:
            return
    call()


def _all_there(memory: Memory, *, write: bool = False) -> dict[str, Any]:
    if write and memory.offers("append"):
        memory.say(SCOPE, *numbered("there", 3))
    if write and memory.offers("put"):
        memory.put(SCOPE, record(memory, "there", metadata={"key": 1}))
    found: dict[str, Any] = {}
    if memory.offers("append"):
        found["texts"] = memory.texts(SCOPE)
    if memory.offers("put"):
        there = memory.get(SCOPE, "there")
        found["record"] = there and plain(there)
    for call in ("tables", "indexes"):
        if memory.offers(call):
            found[call] = sorted(memory.call(call))
    return found


def _replay_append(memory: Memory) -> None:
    for _ in range(2):
        memory.append(SCOPE, messages(["one", "two"]), write_id="task-1")
    memory.append(SCOPE, messages(["one"]), write_id="task-2")
    expect_session(memory, "after a replayed batch", SCOPE, ["one", "two", "one"])


def _replay_put(memory: Memory) -> None:
    batch = [record(memory, f"id-{n}") for n in range(5)]
    memory.put_many(SCOPE, batch)
    again = partial(memory.put_many, SCOPE, batch)
    if memory.policy.same_id == "refuse":
        memory.refused("a replayed batch of ids that are there", again)
    else:
        again()
    expect_records(memory, "after a replayed batch", SCOPE, batch)


# ---- times ------------------------------------------------------------------------------------

Times = tuple[dt.datetime | None, dt.datetime | None]


def _times(memory: Memory) -> Times:
    """Return created_at and updated_at, after checking that all read paths give the same."""
    found = memory.get(SCOPE, "one")
    expect.true(found, "the record is not there")
    assert found is not None
    times = found.created_at, found.updated_at
    if memory.offers("list_records"):
        listed = [(each.created_at, each.updated_at) for each in memory.all_records(SCOPE)]
        expect.equal("created_at and updated_at as listed, against get", listed, [times])
    return times


def _moved_times(memory: Memory, before: Times, change: dict[str, Any]) -> Times:
    """Update until the store's clock has moved on, however coarse it is, and return the times then."""
    ends = time.monotonic() + _LONGEST_TICK
    while True:
        memory.update(SCOPE, "one", **change)
        after = _times(memory)
        if after[1] != before[1] or time.monotonic() > ends:
            break
    moved = before[1] is not None and after[1] is not None and after[1] > before[1]
    expect.true(moved, f"updated_at after updates of {[*change]} is {after[1]}, before {before[1]}")
    return after


def _ids(memory: Memory, scope: Scope) -> list[str]:
    return [each.id for each in memory.all_records(scope)]


def _ids_of(records: Sequence[Record]) -> list[str]:
    return [each.id for each in records]
