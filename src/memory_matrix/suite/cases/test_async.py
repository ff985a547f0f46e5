"""Group M: event loops, tasks and threads that meet on one store object."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Semaphore
from typing import Any

from memory_matrix.stores.protocol import Message, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.bad import bad_messages, bad_records
from memory_matrix.suite.calling import LONGEST, Done, together
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.offered import fill, seen, works
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.parts import cover
from memory_matrix.suite.proxies import Proxy
from memory_matrix.suite.samples import messages, numbered, plain, record
from memory_matrix.suite.ways import Content, ways

GROUP = "M"

SCOPE = Scope()
MANY = 200
THREADS = 8
TICKS = 10
TRIES = 3
LONG = 0.25
"""Seconds for which a loop stands still when a call blocks it, and not by itself."""
SOON = 2.0
"""Seconds within which a loop that nothing blocks has come round some times."""
LET_GO = 5.0
"""Seconds within which a server has seen the end of a connection."""


def test_async_two_loops(memory: Memory) -> None:
    """One object used from two asyncio.run calls works, or says clearly that it does not; nothing is lost."""
    memory.require_async()
    cover(memory, {("append", "read"): _append_in_loops, ("put", "get"): _put_in_loops})


def test_async_cancel_mid_call(memory: Memory) -> None:
    """A cancelled call stops neither the calls beside it nor later ones, which get their own answers."""
    memory.require_async()
    cover(memory, {("append", "read"): _cancel_append, ("put", "get"): _cancel_get})


def test_async_gather_200(memory: Memory) -> None:
    """Of 200 calls at once on one object all are served, each with its own answer."""
    memory.require_async()
    cover(memory, {("append", "read"): _gather_appends, ("put", "get"): _gather_puts})


def test_async_close_no_pending_task(memory: Memory) -> None:
    """After close no task of the store is left on the loop, and no connection on the server."""
    memory.require_async()
    memory.require("close")
    before = memory.site.connections()
    works(memory)
    for done in memory.together([partial(seen, memory, SCOPE)] * 4):
        done.result()
    memory.close()
    tasks = memory.caller.pending()
    expect.true(not tasks, f"tasks that are left after close: {expect.shown(tasks)}")
    ends = time.monotonic() + LET_GO
    while left := memory.site.connections() - before:
        if time.monotonic() > ends:
            raise CaseFailed(f"connections that are left open after close: {len(left)}")


def test_async_loop_not_blocked(memory: Memory) -> None:
    """From before a call to its end, and while it waits for a slow server, the event loop goes on."""
    memory.require_async()
    fill(memory, SCOPE)
    other, proxy = memory.behind_proxy()
    calls = _slow_calls(other)
    for call in calls.values():
        call().result(LONGEST)
    for name, call in calls.items():
        gaps: list[float] = []
        while len(gaps) < TRIES and (not gaps or LONG < gaps[-1] < SOON):
            gaps.append(_longest_gap(_loop(other), proxy, call))
        if min(gaps) > LONG:  # a busy machine makes the loop wait too, now and then
            raise CaseFailed(
                f"the event loop stood still while {name} waited, for {gaps[-1]:.2f} s in "
                f"{len(gaps)} of {len(gaps)} calls"
            )


def test_async_sync_twin_same_result(memory: Memory) -> None:
    """The async and the plain store read the same, of what either wrote, and refuse the same."""
    memory.require_async()
    twin = memory.twin()
    written: dict[str, dict[str, Any]] = {}
    for name, writer in {"async": memory, "plain": twin}.items():
        scope = Scope(session=name, namespace=(name,))
        _write_much(writer, scope)
        wanted = written[name] = _read_much(memory, scope)
        for what, got in _read_much(twin, scope).items():
            sentence = f"{what} of what the {name} store wrote, by the plain one and the async one"
            expect.equal(sentence, got, wanted[what])
    for what, got in written["plain"].items():
        expect.equal(f"{what} of what both stores wrote alike", got, written["async"][what])
    refused = [_refuses(each) for each in (memory, twin)]
    expect.equal("what the plain store refuses, and the async one too", refused[1], refused[0])


def test_async_exception_in_batch_only_its_own(memory: Memory) -> None:
    """A bad call among good ones of the same moment fails alone."""
    memory.require_async()
    cover(memory, {("append", "read"): _bad_append, ("put", "get"): _bad_put})


def test_thread_shared_object(memory: Memory) -> None:
    """Eight threads may share one object, each with its own answers, or are refused as declared."""
    if memory.is_async and memory.policy.loops == "one":
        memory.not_offered("policy loops is one")
    cover(memory, {("append", "read"): _share_session, ("put", "get"): _share_records})


# ---- loops ------------------------------------------------------------------------------------


async def _awaited(call: Callable[..., Any], *arguments: Any) -> Any:
    result = call(*arguments)
    return await result if inspect.isawaitable(result) else result


@contextmanager
def _own_loop() -> Iterator[Callable[..., Any]]:
    """Yield what makes calls on an event loop of the block's own, which ends as that of asyncio.run does."""
    loop = asyncio.new_event_loop()

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        return loop.run_until_complete(_awaited(function, *arguments))

    try:
        yield call
    finally:
        loop.run_until_complete(_end_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _end_tasks() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _texts(found: Any) -> list[str]:
    """Return the texts of messages as an adapter gives them."""
    return [each["text"] if isinstance(each, Mapping) else each.text for each in found]


def _append_in_loops(memory: Memory) -> None:
    adapter = memory.adapter
    told: list[str] = []

    async def use(store: Any, text: str) -> None:
        await _awaited(adapter.append, store, SCOPE, messages([text]))
        told.append(text)
        found = await _awaited(adapter.read, store, SCOPE)
        expect.equal(f"the texts read in the loop of {text!r}", _texts(found), told)

    _in_three_loops(memory, use)
    expect.equal("the texts acknowledged in all loops", memory.texts(SCOPE), told)


def _put_in_loops(memory: Memory) -> None:
    adapter = memory.adapter
    told: list[str] = []

    async def use(store: Any, id_: str) -> None:
        await _awaited(adapter.put, store, SCOPE, record(memory, id_))
        told.append(id_)
        found = await _awaited(adapter.get, store, SCOPE, id_)
        expect.true(found is not None, f"the record put in the loop of {id_!r} is not there")

    _in_three_loops(memory, use)
    lost = [id_ for id_ in told if memory.get(SCOPE, id_) is None]
    expect.equal("records acknowledged in a loop and lost", lost, [])


def _in_three_loops(memory: Memory, use: Callable[[Any, str], Awaitable[None]]) -> None:
    """Open a store in one loop, and use it there and in two more; the last one closes it."""
    _ = memory.store  # makes the tables
    opened: list[Any] = []

    async def first() -> None:
        opened.append(await _awaited(memory.adapter.open, memory.env))
        await use(opened[0], "first")

    async def last() -> None:
        await use(opened[0], "third")
        if memory.offers("close"):
            await _awaited(memory.adapter.close, opened[0])

    asyncio.run(first())
    later = {"second": lambda: asyncio.run(_awaited(use, opened[0], "second"))}
    later["third"] = lambda: asyncio.run(last())
    for name, run in later.items():
        attempt = memory.attempt(run)
        if attempt.refused and memory.policy.loops == "any":
            raise CaseFailed(
                f"the {name} event loop: expected it to work, got {expect.shown(attempt.refusal)}"
            )


# ---- cancelled calls --------------------------------------------------------------------------


def _cancel_append(memory: Memory) -> None:
    own, beside = Scope(session="cancelled"), Scope(session="beside")
    for size in (1, 4):
        new = messages([f"beside with {size}"])
        other, _ = _cancelled(
            memory,
            size,
            partial(_submit, "append", own, messages(["cancelled"])),
            partial(_submit, "append", beside, new),
        )
        texts = other.texts(beside)
        expect.equal(
            "the newest text appended beside a cancelled call", texts[-1:], [f"beside with {size}"]
        )
        other.say(own, f"after with {size}")
        rest = [text for text in other.texts(own) if text != "cancelled"]
        expect.equal("the newest text after a cancelled call", rest[-1:], [f"after with {size}"])


def _cancel_get(memory: Memory) -> None:
    for id_ in ("cancelled", "beside", "later"):
        memory.put(SCOPE, record(memory, id_))
    for size in (1, 4):
        other, got = _cancelled(
            memory,
            size,
            partial(_submit, "get", SCOPE, "cancelled"),
            partial(_submit, "get", SCOPE, "beside"),
        )
        ids = [_id(got), *(_id(other.get(SCOPE, each)) for each in ("later", "beside"))]
        expect.equal(
            "the records read beside and after a cancelled get", ids, ["beside", "later", "beside"]
        )


def _id(found: Any) -> Any:
    return found["id"] if isinstance(found, Mapping) else found and found.id


def _submit(name: str, scope: Scope, argument: Any, memory: Memory) -> Future[Any]:
    future: Future[Any] = memory.submit(name, scope, argument)
    return future


def _cancelled(
    memory: Memory,
    pool_size: int,
    call: Callable[[Memory], Future[Any]],
    beside: Callable[[Memory], Future[Any]],
) -> tuple[Memory, Any]:
    """Cancel `call` while the server has yet to answer it; return the store, and what `beside` gives."""
    other, proxy = memory.behind_proxy(pool_size=pool_size)
    call(other).result(LONGEST)  # there is a connection that both calls want
    with proxy.holding():
        cancelled = call(other)
        proxy.wait_until_asked()
        waiting = beside(other)
        asyncio.run_coroutine_threadsafe(_tick(), _loop(other)).result(SOON)  # it has begun
        cancelled.cancel()
        asyncio.run_coroutine_threadsafe(_tick(), _loop(other)).result(SOON)
    try:
        return other, waiting.result(max(memory.policy.wait, other.env.wait) + SOON)
    except BaseException as error:
        raise CaseFailed(
            f"a call beside a cancelled one, in a pool of {pool_size}: expected its answer, got "
            f"{expect.shown(error)}"
        ) from error


# ---- many at once -----------------------------------------------------------------------------


def _gather(memory: Memory, call: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Return the answers to calls that are made at one moment on the store's loop."""
    store = memory.store
    function = getattr(memory.adapter, call)

    async def all_of_them() -> list[Any]:
        calls = [_awaited(function, store, *each) for each in arguments]
        return await asyncio.gather(*calls, return_exceptions=True)

    answers: list[Any] = memory.caller.call(all_of_them)
    return answers


def _expect_served(what: str, answers: list[Any]) -> None:
    errors = [each for each in answers if isinstance(each, BaseException)]
    expect.true(
        not errors,
        f"{what}: {len(errors)} of {len(answers)} failed, with {expect.shown(errors[:1])}",
    )


def _gather_appends(memory: Memory) -> None:
    scopes = [replace(SCOPE, session=f"session-{n}") for n in range(MANY)]
    writes = [(scope, messages([f"text of {scope.session}"])) for scope in scopes]
    _expect_served("appends at once", _gather(memory, "append", writes))
    answers = _gather(memory, "read", [(scope,) for scope in scopes])
    _expect_served("reads at once", answers)
    for scope, found in zip(scopes, answers, strict=True):
        expect.equal(f"the texts of {scope.session}", _texts(found), [f"text of {scope.session}"])


def _gather_puts(memory: Memory) -> None:
    ids = [f"id-{n}" for n in range(MANY)]
    writes = [(SCOPE, record(memory, id_)) for id_ in ids]
    _expect_served("puts at once", _gather(memory, "put", writes))
    answers = _gather(memory, "get", [(SCOPE, id_) for id_ in ids])
    _expect_served("gets at once", answers)
    expect.equal("the ids of records got at once", [_id(each) for each in answers], ids)


def _bad_append(memory: Memory) -> None:
    for number, (what, bad) in enumerate(bad_messages(memory).items()):
        scopes = [replace(SCOPE, session=f"{number}-{n}") for n in range(20)]
        batches = [messages(["good"]) for _ in scopes]
        batches[10] = [bad]
        answers = _gather(memory, "append", list(zip(scopes, batches, strict=True)))
        _expect_only(memory, f"an append with {what}", answers)
        there = [memory.texts(scope) for n, scope in enumerate(scopes) if n != 10]
        expect.equal(f"the texts of good appends beside one with {what}", there, [["good"]] * 19)


def _bad_put(memory: Memory) -> None:
    for what, bad in bad_records(memory).items():
        good = [record(memory, f"good-{n}", f"beside {what}") for n in range(20)]
        calls = [(SCOPE, each) for each in good]
        calls[10] = (SCOPE, bad)
        answers = _gather(memory, "put", calls)
        _expect_only(memory, f"a put with {what}", answers)
        found = [memory.get(SCOPE, each.id) for n, each in enumerate(good) if n != 10]
        texts = [each and each.text for each in found]
        expect.equal(
            f"the texts of good puts beside one with {what}", texts, [f"beside {what}"] * 19
        )


def _expect_only(memory: Memory, what: str, answers: list[Any]) -> None:
    """Fail unless the call in the middle was refused, and no other."""
    bad = answers[10]
    if isinstance(bad, BaseException) and not isinstance(bad, memory.refusals):
        raise bad
    expect.true(isinstance(bad, memory.refusals), f"{what} among good ones was not refused")
    _expect_served(f"good calls beside {what}", answers[:10] + answers[11:])


# ---- slow servers -----------------------------------------------------------------------------


def _loop(memory: Memory) -> asyncio.AbstractEventLoop:
    loop = memory.caller.loop
    assert loop is not None
    return loop


async def _tick() -> None:
    for _ in range(TICKS):
        await asyncio.sleep(0.001)


class _Ticker:
    """Ticks on an event loop, and knows the longest time between two ticks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.longest = 0.0
        self._ticks = Semaphore(0)
        self._stopped = False
        self._running = asyncio.run_coroutine_threadsafe(self._run(), loop)

    async def _run(self) -> None:
        last = time.monotonic()
        while not self._stopped:
            self._ticks.release()
            await asyncio.sleep(0.002)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            last = now

    def ticked(self, times: int) -> bool:
        """Wait until it has ticked as many times; return whether it has soon."""
        ends = time.monotonic() + SOON
        return all(
            self._ticks.acquire(timeout=max(0.0, ends - time.monotonic())) for _ in range(times)
        )

    def stop(self) -> None:
        """End the ticking."""
        self._stopped = True
        self._running.result(LONGEST)


def _longest_gap(
    loop: asyncio.AbstractEventLoop, proxy: Proxy, call: Callable[[], Future[Any]]
) -> float:
    """Return for how long the loop stood still from before a call to its end; at most about SOON."""
    ticker = _Ticker(loop)
    ticker.ticked(1)
    try:
        with proxy.holding():
            waiting = call()
            went_on = ticker.ticked(TICKS)
        waiting.result(LONGEST)
    finally:
        ticker.stop()
    return ticker.longest if went_on else max(SOON, ticker.longest)


def _slow_calls(memory: Memory) -> dict[str, Callable[[], Future[Any]]]:
    """Return what starts calls that wait for the server."""
    query = record(memory, "one").vector or ()
    calls: dict[str, tuple[Any, ...]] = {
        "read": (SCOPE,),
        "append": (SCOPE, messages(["more"])),
        "get": (SCOPE, "one"),
        "put": (SCOPE, record(memory, "more")),
        "search": (SCOPE, query, 1),
        "get_state": (SCOPE,),
    }
    return {
        name: partial(memory.submit, name, *arguments)
        for name, arguments in calls.items()
        if memory.offers(name) and (name != "search" or memory.policy.search_by == "vector")
    }


# ---- the twin ---------------------------------------------------------------------------------


def _write_much(memory: Memory, scope: Scope) -> None:
    metadata = {"number": 1, "float": 1.5, "text": "\u00e9", "list": [1, None, True], "empty": {}}
    if memory.tested.part("conversation"):
        kept = metadata if "metadata" in memory.policy.message_fields else {}
        memory.append(scope, [Message("user", "one", metadata=kept), Message("assistant", "two")])
        memory.say(scope, "", " three ")
    if memory.tested.part("records"):
        for text in ("one", "two", "three"):
            memory.put(scope, record(memory, text, metadata=metadata))
        if memory.offers("update"):
            memory.update(scope, "two", metadata={"number": 2})
        if memory.offers("delete"):
            memory.delete(scope, "three")
    if memory.tested.part("state"):
        handle = memory.load(scope) if memory.offers("load") else scope
        memory.set_state(handle, {"one": 1, "two": None})


def _read_much(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Return what a store reads, without what is of its own for each session: ids and times."""
    read = seen(memory, scope)
    read.pop("list_namespaces", None)
    if memory.tested.part("conversation"):
        found = memory.read(scope)
        read["messages"] = [(each.role, each.text, dict(each.metadata)) for each in found]
        if memory.offers("read", "limit"):
            read["the newest"] = memory.texts(scope, limit=1)
    if memory.offers("search"):
        query = record(memory, "one").vector or ()
        read["scores"] = [score for _, score in memory.search(scope, query, 2)]
    return read


def _refuses(memory: Memory) -> list[str]:
    """Return which odd texts the store refuses, by the call that writes them."""
    odd = {"a NUL": "a\0b", "a lone surrogate": "a\ud800b"}
    return [
        f"{way.name} of {what}"
        for what, text in odd.items()
        for way in ways(memory)
        if memory.attempt(partial(way.write, [Content(text)])).refused
    ]


# ---- threads ----------------------------------------------------------------------------------


def _in_threads(memory: Memory, work: Callable[[int, Callable[..., Any]], Any]) -> list[Done[Any]]:
    """Run `work` with a number and what makes calls, in threads; each with a loop for an async store."""
    store = memory.store

    def call(name: str, *arguments: Any) -> Any:
        return getattr(memory.adapter, name)(store, *arguments)

    def run(number: int) -> Any:
        if not memory.is_async:
            return work(number, call)
        with _own_loop() as run_there:
            return work(number, partial(run_there, call))

    return together([partial(run, number) for number in range(THREADS)])


def _expect_threads(memory: Memory, done: list[Done[Any]]) -> list[int]:
    """Return the numbers of the threads that were served, which are all unless that is declared."""
    served = []
    for number, each in enumerate(done):
        if not isinstance(each.error, memory.refusals):
            each.result()
            served.append(number)
        elif memory.policy.threads == "yes":
            raise CaseFailed(
                f"thread {number}: expected it to be served, got {expect.shown(each.error)}"
            )
    return served


def _share_session(memory: Memory) -> None:
    own = [numbered(f"thread-{n}", 5) for n in range(THREADS)]

    def work(number: int, call: Callable[..., Any]) -> None:
        scope = Scope(session=f"of-{number}")
        for text in own[number]:
            call("append", SCOPE, messages([text]))
            call("append", scope, messages([text]))
        found = call("read", scope)
        expect.equal(f"the texts that thread {number} reads", _texts(found), own[number])

    served = _expect_threads(memory, _in_threads(memory, work))
    texts = memory.texts(SCOPE)
    for number in served:
        found = [text for text in texts if text in own[number]]
        expect.equal(f"the texts of thread {number} among those of all", found, own[number])


def _share_records(memory: Memory) -> None:
    def work(number: int, call: Callable[..., Any]) -> None:
        for n in range(5):
            one: Record = record(memory, f"{number}-{n}")
            call("put", SCOPE, one)
            found = call("get", SCOPE, one.id)
            got = found and (found if isinstance(found, Record) else Record(**found))
            expect.equal(f"the record that thread {number} reads", got and plain(got), plain(one))

    _expect_threads(memory, _in_threads(memory, work))
