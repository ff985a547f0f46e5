"""Group E: batches, transactions and the connections that they run on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any, TypeVar

from memory_matrix.stores.protocol import Compare, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.bad import bad_messages, bad_records, unwritable
from memory_matrix.suite.calling import LONGEST, within
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.offered import reads
from memory_matrix.suite.parts import cover
from memory_matrix.suite.records import expect_record, expect_records
from memory_matrix.suite.refusing import ADDING, EVERY, refusing
from memory_matrix.suite.samples import many_records, messages, numbered, plain, record
from memory_matrix.suite.sessions import expect_session, say_with_ids

T = TypeVar("T")

GROUP = "E"

SCOPE = Scope()
ELSEWHERE = Scope(session="elsewhere", namespace=("elsewhere",))
MANY_MESSAGES = 8_200
"""As many as need more than 65,535 bind values at eight to a message."""
MANY_RECORDS = 5_000
"""As many as need more than 65,535 bind values at fourteen to a record."""
_BAD = 2
"""The position of what is bad in a batch."""
SOON = 5.0
"""Seconds within which a call has to come back that nothing holds up."""


def test_batch_all_or_nothing_bad_middle(memory: Memory) -> None:
    """With one bad item in the middle none of the batch is there, or the error's `stored` says which are."""
    memory.require_policy(batch=("atomic", "reports"))
    cover(memory, {("append",): _append_bad_middle, ("put_many", "get"): _put_bad_middle})


def test_batch_all_or_nothing_kill(memory: Memory) -> None:
    """When the connection is cut in the middle of a batch, none or all of it is there afterwards."""
    memory.require_policy(batch=("atomic", "reports"))
    cover(memory, {("append",): _append_cut, ("put_many", "list_records"): _put_cut})


def test_replace_history_atomic(memory: Memory) -> None:
    """A replace that fails, for a bad message or on the server, keeps the former history."""
    memory.require("replace")
    texts = numbered("former", 5)
    memory.say(SCOPE, *texts)
    taken = _replaced_by_what_is_unwritable(memory, texts)
    required = taken and not _can_refuse(memory)
    for what, bad in bad_messages(memory, required=required).items():
        batch = [*messages(["good", "good"]), bad, *messages(["good"])]
        memory.refused(f"a replace with {what}", partial(memory.replace, SCOPE, batch))
        expect_session(memory, f"after a replace with {what}", SCOPE, texts)
    for number, statements in enumerate((EVERY, ADDING, ("DELETE",))):
        new = numbered(f"new-{number}", 2)
        with refusing(memory, SCOPE, statements), suppress(Exception):
            memory.replace(SCOPE, messages(new))
            texts = new  # it found a way round
        expect_session(memory, "after a replace that the server refused", SCOPE, texts)
    memory.replace(SCOPE, messages(["new"]))
    expect_session(memory, "after a good replace", SCOPE, ["new"])


def _replaced_by_what_is_unwritable(memory: Memory, former: Sequence[str]) -> bool:
    """Return whether a replace took a message that is none; where it fails the former history is kept."""
    taken = False
    with suppress(Exception):  # by which error is not the question
        memory.replace(SCOPE, [*messages(["good"]), unwritable(), *messages(["good"])])
        taken = True
    if taken:
        memory.replace(SCOPE, messages(former))
    what = "after a replace with a message whose text is no text"
    expect_session(memory, what, SCOPE, former)
    return taken


def test_batch_empty(memory: Memory) -> None:
    """A batch of nothing is no error and has no effect; it makes a session only if that is declared."""
    cover(memory, {("append",): _append_nothing, ("put_many", "list_records"): _put_nothing})


def test_batch_5000(memory: Memory) -> None:
    """One batch of 5,000 items or more, beyond what one statement may hold, is stored whole."""
    memory.require_policy(batch=("atomic", "reports"))
    cover(memory, {("append",): _append_5000, ("put_many", "list_records"): _put_5000})


def test_batch_duplicate_ids_inside(memory: Memory) -> None:
    """Of one id twice in a batch the last wins, or the batch is refused, as declared."""
    memory.require("put_many", "get")
    first = record(memory, "twice", "first", {"only-first": 1})
    other = record(memory, "other")
    last = record(memory, "twice", "last", {"only-last": 2})
    write = partial(memory.put_many, SCOPE, [first, other, last])
    if memory.policy.duplicate_ids == "refuse":
        memory.refused("one id twice in a batch", write)
        expect_records(memory, "after a refused batch", SCOPE, [])
    else:
        write()
        expect_records(memory, "after a batch with one id twice", SCOPE, [last, other])


def test_pool_after_failing_batch(memory: Memory) -> None:
    """After three times as many failing batches as connections a good one works within 5 s."""
    _fail_then_work(memory.another(pool_size=2, wait=1.0), times=6)


def test_pool_after_failing_single_connection(memory: Memory) -> None:
    """A store on one given connection is usable after an error."""
    memory.require("client", "open_with")
    _fail_then_work(memory.another(client=memory.client(single=True), wait=1.0), times=2)


def test_pool_after_empty_read(memory: Memory) -> None:
    """Reads that find nothing give their connection back, with no transaction left open."""
    memory.require_kind("postgres")
    reader = memory.another(pool_size=2, wait=1.0)
    for number in range(6):
        nowhere = Scope(session=f"nowhere-{number}", namespace=(f"nowhere-{number}",))
        for name, read in reads(reader, nowhere).items():
            _soon(reader, f"{name} of nothing", read)
            _expect_no_transaction(reader, f"after {name} of nothing")


def test_pool_after_cancelled_call(memory: Memory) -> None:
    """A cancelled call gives its connection back, and leaves no answer in it for the next call."""
    memory.require_async()
    few = memory.another(pool_size=2)
    cover(few, {("append",): _cancel_appends, ("put", "get"): _cancel_gets})


def test_pool_size_plus_n_parallel(memory: Memory) -> None:
    """More callers at once than connections are all served, each with its own answer."""
    if memory.policy.threads == "refuse" and not memory.is_async:
        memory.not_offered("policy threads is refuse")
    shared = memory.another(pool_size=2)
    cover(shared, {("append",): _append_parallel, ("put", "get"): _put_parallel})


def test_no_idle_in_transaction_left(memory: Memory) -> None:
    """After calls of all kinds, good and refused, no connection of the store is idle in a transaction."""
    memory.require_kind("postgres")
    calls = [*_writes(memory), *reads(memory, SCOPE).items(), *_refusals(memory)]
    for name, call in [*calls, *_deletes(memory)]:
        call()
        _expect_no_transaction(memory, f"after {name}")


def test_close_then_use(memory: Memory) -> None:
    """A call after close gets a clear error, and close may be called twice."""
    memory.require("close")
    calls = [*_writes(memory), *reads(memory, SCOPE).items(), *_deletes(memory)]
    for _, call in calls:
        call()
    memory.close()
    memory.close()
    for name, call in calls:
        memory.refused(f"{name} after close", call)


def test_close_leaves_given_client_open(memory: Memory) -> None:
    """A client that the caller gave is still open after the store is closed."""
    memory.require("close", "open_with", "client_works")
    client = memory.client()
    other = memory.another(client=client)
    for _, call in [*_writes(other), *reads(other, SCOPE).items()]:
        call()
    other.close()
    expect.true(
        memory.client_works(client), "closing the store closed the client that it was given"
    )
    again = memory.another(client=client)
    for call in reads(again, SCOPE).values():
        call()


# ---- all or nothing ---------------------------------------------------------------------------


def _append_bad_middle(memory: Memory) -> None:
    texts = ["before"]
    memory.say(SCOPE, *texts)
    for what, bad in bad_messages(memory).items():
        batch = _around(bad, messages(["one", "two", "three", "four"]))
        write = partial(memory.append, SCOPE, batch)
        told = _told(memory, what, write, [each.text for each in batch])
        expect.equal(
            f"what is there after a batch with {what}", memory.texts(SCOPE), [*texts, *told]
        )
        texts += [*told, f"after {what}"]
        memory.say(SCOPE, texts[-1])
        expect_session(memory, f"after a good batch that followed {what}", SCOPE, texts)


def _put_bad_middle(memory: Memory) -> None:
    for number, (what, bad) in enumerate(bad_records(memory).items()):
        good = [record(memory, f"{number}-{name}") for name in ("one", "two", "three", "four")]
        batch = _around(replace(bad, id=f"{number}-bad"), good)
        ids = [each.id for each in batch]
        told = _told(memory, what, partial(memory.put_many, SCOPE, batch), ids)
        there = [id_ for id_ in ids if memory.get(SCOPE, id_) is not None]
        expect.equal(f"what is there after a batch with {what}", there, told)
        memory.put_many(ELSEWHERE, good)
        expect.true(
            memory.get(ELSEWHERE, good[-1].id), f"a good batch that followed {what} is not there"
        )


def _around(bad: T, good: Sequence[T]) -> list[T]:
    return [*good[:_BAD], bad, *good[_BAD:]]


def _told(memory: Memory, what: str, write: Callable[[], Any], batch: Sequence[str]) -> list[str]:
    """Return those of a batch with a bad one that are stored by what its refusal says: mostly none."""
    refusal = memory.refused(f"a batch with {what}", write)
    if memory.policy.batch == "atomic":
        return []
    stored = getattr(refusal, "stored", None)
    good = [at for at in range(len(batch)) if at != _BAD]
    expect.true(
        isinstance(stored, Iterable) and all(at in good for at in stored),
        f"the error of a batch with {what}: expected `stored` on it, which names by their positions "
        f"those of {good} that are stored, got {expect.shown(stored)} on {expect.shown(refusal)}",
    )
    return [batch[at] for at in sorted(stored or ())]


class _Watched(list[T]):
    """A batch that calls a hook when it has been walked through to its middle."""

    def __init__(self, items: Iterable[T], hook: Callable[[], Any]) -> None:
        super().__init__(items)
        self._hook = hook

    def __iter__(self) -> Iterator[T]:
        for index in range(len(self)):
            if index == len(self) // 2:
                self._hook()
            yield self[index]


def _append_cut(memory: Memory) -> None:
    batch = messages(numbered("cut", 300))

    def there(reader: Memory, scope: Scope) -> list[str]:
        return reader.texts(scope)

    _expect_whole(memory, batch, "append", there, [message.text for message in batch])


def _put_cut(memory: Memory) -> None:
    batch = [record(memory, f"cut-{n:03}") for n in range(200)]

    def there(reader: Memory, scope: Scope) -> list[str]:
        return sorted(found.id for found in _listed(reader, scope))

    _expect_whole(memory, batch, "put_many", there, [each.id for each in batch])


def _expect_whole(
    memory: Memory,
    batch: Sequence[Any],
    call: str,
    read: Callable[[Memory, Scope], list[str]],
    whole: list[str],
) -> None:
    """Cut the connection: as `batch` is walked through, as it is sent, and once a part of it is there."""

    def problem(round_: int) -> str | None:
        scope = Scope(session=f"{call}-{round_}", namespace=(f"{call}-{round_}",))
        writer = memory.another()
        writer.expect_broken()
        _ = writer.store
        cut = (_cut_on_the_way, _cut_beside, _cut_beside, partial(_cut_when_seen, read))[round_]
        written = cut(writer, call, scope, batch)
        found = read(memory.another(), scope)
        if found == whole or (not written and not found):
            return None
        told = "was told to be done" if written else "was refused"
        return f"of a batch of {len(whole)} that {told}, {len(found)} are there after the cut"

    memory.rounds(4, problem)


def _cut_on_the_way(writer: Memory, call: str, scope: Scope, batch: Sequence[Any]) -> bool:
    return _written(writer, call, scope, _Watched(batch, writer.kill_connections))


def _cut_beside(writer: Memory, call: str, scope: Scope, batch: Sequence[Any]) -> bool:
    under_way = Event()
    watched = _Watched(batch, under_way.set)

    def write() -> bool:
        try:
            return _written(writer, call, scope, watched)
        finally:
            under_way.set()

    def cut() -> bool:
        under_way.wait()
        return bool(writer.kill_connections())

    return writer.together([write, cut])[0].result()


def _cut_when_seen(
    read: Callable[[Memory, Scope], list[str]],
    writer: Memory,
    call: str,
    scope: Scope,
    batch: Sequence[Any],
) -> bool:
    written = Event()
    reader = writer.another()
    reader.expect_broken()
    _ = reader.store

    def write() -> bool:
        try:
            return _written(writer, call, scope, batch)
        finally:
            written.set()

    def cut() -> bool:
        while not written.is_set() and not read(reader, scope):
            pass
        cuts = 0
        while not written.is_set():
            cuts += writer.kill_connections()
        return cuts > 0

    return writer.together([write, cut])[0].result()


def _written(writer: Memory, call: str, scope: Scope, batch: Sequence[Any]) -> bool:
    return not writer.attempt(partial(writer.call, call, scope, batch)).refused


# ---- nothing, and very much -------------------------------------------------------------------


def _append_nothing(memory: Memory) -> None:
    made = memory.policy.empty_session == "made"
    memory.append(SCOPE, [])
    expect_session(memory, "after a batch of nothing", SCOPE, [])
    if memory.offers("list_sessions"):
        wanted = [SCOPE.session] if made else []
        expect.equal("the sessions after a batch of nothing", memory.all_sessions(SCOPE), wanted)
    if not made and (memory.offers("raw_keys") or memory.offers("raw_rows")):
        expect.equal("the keys and rows of nothing", sorted(memory.traces(SCOPE)), [])
    memory.say(SCOPE, "there")
    memory.append(SCOPE, [])
    expect_session(memory, "after a batch of nothing on a session", SCOPE, ["there"])
    if memory.offers("replace"):
        memory.replace(SCOPE, [])
        expect_session(memory, "after a replace by nothing", SCOPE, [])


def _put_nothing(memory: Memory) -> None:
    memory.put_many(SCOPE, [])
    expect_records(memory, "after a batch of nothing", SCOPE, [])
    there = record(memory, "there")
    memory.put(SCOPE, there)
    memory.put_many(SCOPE, [])
    expect_records(memory, "after a batch of nothing", SCOPE, [there])


def _append_5000(memory: Memory) -> None:
    texts = numbered("many", MANY_MESSAGES)
    memory.append(SCOPE, messages(texts))
    expect_session(memory, f"of a batch of {MANY_MESSAGES}", SCOPE, texts)


def _put_5000(memory: Memory) -> None:
    batch = many_records(memory, "many", MANY_RECORDS)
    memory.put_many(SCOPE, batch)
    found = {each.id for each in _listed(memory, SCOPE)}
    expect.true(
        found == {each.id for each in batch},
        f"the records of a batch of {len(batch)}: expected each once, got {len(found)} different ids",
    )


def _listed(memory: Memory, scope: Scope) -> list[Record]:
    """Return the records, in one page where that can be: whether pages hold each once is not the question."""
    limit = MANY_RECORDS + 1 if memory.offers("list_records", "limit") else None
    return memory.all_records(scope, limit=limit)


# ---- connections ------------------------------------------------------------------------------


def _fail_then_work(memory: Memory, times: int) -> None:
    cover(
        memory,
        {
            ("append",): partial(_append_fails_then_works, times),
            ("put_many", "get"): partial(_put_fails_then_works, times),
        },
    )


def _append_fails_then_works(times: int, memory: Memory) -> None:
    memory.say(SCOPE, "before")
    good = messages(["good"])
    for bad in bad_messages(memory, required=not _can_refuse(memory)).values():
        _fail(partial(memory.append, SCOPE, [*good, bad, *good]), times)
    _fail_on_the_server(memory, times, partial(memory.append, SCOPE, good))
    texts = _soon(memory, "a read after failing batches", partial(memory.texts, SCOPE))
    _soon(memory, "a good batch after failing ones", lambda: memory.say(SCOPE, "after"))
    expect_session(memory, "after failing batches", SCOPE, [*texts, "after"])


def _put_fails_then_works(times: int, memory: Memory) -> None:
    good = record(memory, "good")
    for bad in bad_records(memory, required=not _can_refuse(memory)).values():
        _fail(partial(memory.put_many, SCOPE, [good, bad]), times)
    _fail_on_the_server(memory, times, partial(memory.put_many, SCOPE, [good]))
    _soon(memory, "a good batch after failing ones", lambda: memory.put_many(SCOPE, [good]))
    expect_record(memory, "put after failing batches", SCOPE, good)


def _soon(memory: Memory, what: str, call: Callable[[], T]) -> T:
    return within(SOON, what, lambda: memory.accepted(what, call))


def _fail_on_the_server(memory: Memory, times: int, write: Callable[[], Any]) -> None:
    with refusing(memory, SCOPE):
        _fail(write, times if _can_refuse(memory) else 0)


def _fail(write: Callable[[], Any], times: int = 1) -> None:
    """Make a write that fails; in what manner is the question of other cases."""
    for _ in range(times):
        with suppress(Exception):
            write()


def _can_refuse(memory: Memory) -> bool:
    return memory.offers("tables") or memory.offers("raw_keys")


def _cancel_appends(memory: Memory) -> None:
    _cancel_often(memory, "append", SCOPE, messages(["left", "right"]))
    texts = _soon(memory, "a read after cancelled calls", partial(memory.texts, SCOPE))
    if memory.policy.batch != "single":
        whole = ["left", "right"] * (len(texts) // 2)
        expect.equal("the texts of cancelled appends", texts, whole)
    _expect_answers(memory, {"one": "first", "two": "second"})
    if memory.policy.batch != "single":
        _expect_cancelled_whole(memory)
    _cancel_often(memory, "read", SCOPE)
    _expect_answers(memory, {"one": "first", "two": "second"})


def _cancel_gets(memory: Memory) -> None:
    first, second = record(memory, "first"), record(memory, "second")
    memory.put(SCOPE, first)
    memory.put(SCOPE, second)
    _cancel_often(memory, "get", SCOPE, "first")
    for wanted in (second, first) * 2:
        found = _soon(memory, "a get after cancelled ones", partial(memory.get, SCOPE, wanted.id))
        expect.equal("the record read after cancelled gets", found and plain(found), plain(wanted))


def _cancel_often(memory: Memory, call: str, *arguments: Any) -> None:
    """Cancel calls after ever more turns of the event loop: on the way out, waiting, on the way back."""
    for turns in range(0, 60, 3):
        future = memory.submit(call, *arguments)
        memory.caller.call(_turns, turns)
        future.cancel()


def _expect_cancelled_whole(memory: Memory) -> None:
    """Cancel an append when it has come to the middle of its batch."""
    scope, whole = replace(SCOPE, session="middle"), numbered("cancelled", 6)
    watched = _Watched(messages(whole), _cancel_this_call)
    with suppress(CancelledError):
        memory.submit("append", scope, watched).result(LONGEST)
    texts = memory.texts(scope)
    expect.true(
        texts in ([], whole), f"of a batch of 6 that was cancelled {len(texts)} messages are there"
    )


def _cancel_this_call() -> None:
    with suppress(RuntimeError):  # there is no loop in a thread that an adapter may use
        task = asyncio.current_task()
        if task is not None:
            task.cancel()


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def _expect_answers(memory: Memory, wanted: dict[str, str]) -> None:
    for name, text in wanted.items():
        scope = replace(SCOPE, session=name)
        if not memory.texts(scope):
            memory.say(scope, text)
    for name, text in [*wanted.items()] * 2:
        read = partial(memory.texts, replace(SCOPE, session=name))
        texts = _soon(memory, "a read after cancelled calls", read)
        expect.equal("the texts read after cancelled calls", texts, [text])


def _append_parallel(memory: Memory) -> None:
    def write_and_read(number: int) -> list[str]:
        scope = replace(SCOPE, session=f"parallel-{number}")
        memory.say(scope, f"text-{number}")
        return memory.texts(scope)

    _expect_own_answers(memory, write_and_read, lambda number: [f"text-{number}"])


def _put_parallel(memory: Memory) -> None:
    def put_and_get(number: int) -> str | None:
        memory.put(SCOPE, record(memory, f"id-{number}", f"text-{number}"))
        found = memory.get(SCOPE, f"id-{number}")
        return None if found is None else found.text

    _expect_own_answers(memory, put_and_get, lambda number: f"text-{number}")


def _expect_own_answers(
    memory: Memory, call: Callable[[int], Any], wanted: Callable[[int], Any]
) -> None:
    race = memory.together([partial(call, number) for number in range(12)])
    for number, done in enumerate(race):
        answer = memory.accepted(f"caller {number} of {len(race)}", done.result)
        expect.equal(f"the answer of caller {number}", answer, wanted(number))


# ---- all kinds of calls -----------------------------------------------------------------------

Named = tuple[str, Callable[[], Any]]


def _writes(memory: Memory) -> list[Named]:
    one, two = record(memory, "one"), record(memory, "two")
    calls: list[Named] = [
        ("append", lambda: memory.say(SCOPE, "text", "more", "last")),
        ("replace", lambda: memory.replace(SCOPE, messages(["new", "newer", "newest"]))),
        ("pop", lambda: memory.pop(SCOPE)),
        ("put", lambda: memory.put(ELSEWHERE, one)),
        ("put_many", lambda: memory.put_many(ELSEWHERE, [two])),
        ("update", lambda: memory.update(ELSEWHERE, "one", metadata={"new": 1})),
        ("set_state", lambda: memory.set_state(_handle(memory), {"key": 1})),
        ("append_with", lambda: memory.append_with(_handle(memory), messages(["with"]))),
    ]
    return [(name, call) for name, call in calls if memory.offers(name)]


def _deletes(memory: Memory) -> list[Named]:
    """Return what deletes, of each kind one, something that is there."""
    calls: list[Named] = [
        ("delete", lambda: memory.delete(ELSEWHERE, "two")),
        ("delete_all", lambda: memory.delete_all(ELSEWHERE)),
        ("clear", lambda: memory.clear(SCOPE)),
    ]
    if "eq" in memory.policy.filters:
        new = Compare("eq", "new", 1)
        calls.insert(0, ("delete_where", lambda: memory.delete_where(ELSEWHERE, new)))
    if memory.offers("delete_message") and _deletes_by_what_it_has(memory):
        scope = replace(SCOPE, session="of one message")
        say_with_ids(memory, scope, ["deleted"])
        which = 0 if memory.policy.delete_by == "index" else str(memory.read(scope)[0].id)
        calls.insert(0, ("delete_message", lambda: memory.delete_message(scope, which)))
    return [(name, call) for name, call in calls if memory.offers(name)]


def _deletes_by_what_it_has(memory: Memory) -> bool:
    return memory.policy.delete_by == "index" or "id" in memory.policy.message_fields


def _refusals(memory: Memory) -> list[Named]:
    calls: list[Named] = []
    if memory.offers("append"):
        for what, message in bad_messages(memory, required=False).items():
            append = partial(memory.append, SCOPE, [message])
            calls.append((f"an append with {what}", partial(_fail, append)))
    if memory.offers("put"):
        for what, bad in bad_records(memory, required=False).items():
            put = partial(memory.put, SCOPE, bad)
            calls.append((f"a put with {what}", partial(_fail, put)))
    return [*calls, ("writes that the server refused", partial(_refused_by_server, memory))]


def _refused_by_server(memory: Memory) -> None:
    with refusing(memory, SCOPE):
        for _, call in _writes(memory):
            _fail(call)


def _handle(memory: Memory) -> Any:
    return memory.load(SCOPE) if memory.offers("load") else SCOPE


def _expect_no_transaction(memory: Memory, when: str) -> None:
    idle = memory.site.idle_transactions()
    expect.true(idle == 0, f"{idle} connections are idle in a transaction {when}")
