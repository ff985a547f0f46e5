"""Group D: what happens when writers and readers meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from threading import Event, Timer
from typing import Any, TypeVar

from memory_matrix.stores.protocol import Level, Record, Scope
from memory_matrix.suite import calling, expect
from memory_matrix.suite.calling import Done
from memory_matrix.suite.elsewhere import (
    User,
    append_each,
    at_once,
    env_sent,
    pop_some,
    processes,
    sent,
    use_first,
    users,
    workers_of,
)
from memory_matrix.suite.locking import locked
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.parts import cover
from memory_matrix.suite.samples import messages, numbered, plain, plains, record

T = TypeVar("T")

GROUP = "D"

SCOPE = Scope()
WORKERS = 8


def test_conc_append_8_workers(memory: Memory) -> None:
    """Of 8 x 50 appends to one session all 400 messages are there, each once, each worker's in order."""
    memory.require("append")
    own = [numbered(f"w{n}", 50) for n in range(WORKERS)]
    append_each(memory, SCOPE, own)
    problem = _not_kept(memory.texts(SCOPE), [], own)
    expect.true(problem is None, str(problem))


def test_conc_append_two_store_objects(memory: Memory) -> None:
    """Two processes append to one session at once, each by a store of its own: each message is there once."""
    memory.require("append")
    with users(memory, 2) as both:
        memory.rounds(3, partial(_lost_between, memory, both))


def _lost_between(memory: Memory, both: Sequence[User], round_: int) -> str | None:
    """Return what is lost of what two users of the store append, each in two threads."""
    scope = replace(SCOPE, session=f"both-{round_}")
    for user in both:
        user.do("append", scope=sent(scope), own=[["before"]])
        if not user.do("texts", scope=sent(scope)):
            return "an object does not read what it wrote itself"
    own = [[numbered(f"of-{user}-{n}", 10) for n in range(2)] for user in range(len(both))]
    pairs = zip(both, own, strict=True)
    at_once([partial(user.do, "append", scope=sent(scope), own=texts) for user, texts in pairs])
    texts = memory.texts(scope)
    for user in both:
        seen = user.do("texts", scope=sent(scope))
        if seen != texts:
            return f"one object reads {expect.shown(seen)}, another {expect.shown(texts)}"
    return _not_kept(texts, ["before"] * len(both), [*chain.from_iterable(own)])


def test_conc_append_stale_handle(memory: Memory) -> None:
    """An append through a handle loaded before another's append is kept or refused, as declared."""
    memory.require("load", "append_with")
    memory.say(SCOPE, "first")
    handle = memory.load(SCOPE)
    memory.another().say(SCOPE, "second")
    write = partial(memory.append_with, handle, messages(["third"]))
    if memory.policy.conflict == "refuse":
        memory.refused("an append through a stale handle", write)
        expect.equal("the texts after a refusal", memory.texts(SCOPE), ["first", "second"])
        memory.append_with(memory.load(SCOPE), messages(["third"]))
    else:
        write()
    texts = memory.texts(SCOPE)
    if memory.policy.conflict == "last-wins":
        expect.equal("the texts but the other's", _without(texts, "second"), ["first", "third"])
    else:
        expect.equal("the texts of both writers", texts, ["first", "second", "third"])


def test_conc_pop_once(memory: Memory) -> None:
    """24 pops by 8 workers, or by two processes, give 24 different messages, and leave the others."""
    memory.require("pop")

    def by_workers(round_: int) -> str | None:
        scope = replace(SCOPE, session=f"pops-{round_}")
        workers = workers_of(memory, WORKERS)
        return _not_popped_once(memory, scope, [partial(pop_some, w, scope, 3) for w in workers])

    memory.rounds(24, by_workers)  # the race of a library that is known for it is rare
    with users(memory, 2) as both:

        def by_both(round_: int) -> str | None:
            scope = replace(SCOPE, session=f"pops-of-both-{round_}")
            pops = [partial(user.do, "pop", scope=sent(scope), count=12) for user in both]
            return _not_popped_once(memory, scope, pops)

        memory.rounds(3, by_both)


def _not_popped_once(
    memory: Memory, scope: Scope, pops: Sequence[Callable[[], list[str]]]
) -> str | None:
    """Return what is wrong with 24 pops of 40 messages, made at once."""
    texts = numbered("pop", 40)
    memory.say(scope, *texts)
    given = [text for some in _values(memory.together(pops)) for text in some]
    if _different(given, texts[16:]):
        return f"pops gave {expect.shown(sorted(given))}, not each of the newest 24 once"
    left = memory.texts(scope)
    return None if left == texts[:16] else f"the pops left {expect.shown(left)}"


def test_conc_upsert_same_key(memory: Memory) -> None:
    """Of writers of one record one wins whole: no reader ever sees a mix of two."""
    memory.require("put", "get")
    writers = workers_of(memory, WORKERS)
    records = [record(memory, "same", f"by-{n}", {"by": n, f"only-{n}": n}) for n in range(WORKERS)]
    whole = plains(records)

    def problem(round_: int) -> str | None:
        scope = replace(SCOPE, namespace=(f"round-{round_}",))
        pairs = zip(writers, records, strict=True)
        race = memory.together([partial(_put_and_get, each, scope, own) for each, own in pairs])
        if memory.policy.same_id == "refuse":
            told = sum(_refused(memory, done) for done in race)
            if told != WORKERS - 1:
                return f"{told} of {WORKERS} writers of one new id were refused"
            race = [done for done in race if done.error is None]
        seen = [*_values(race), memory.get(scope, "same")]
        mixed = [each for each in seen if each is None or plain(each) not in whole]
        if mixed:
            return f"what was read is no writer's whole record: {expect.shown(mixed[0])}"
        return _not_once(memory, scope)

    memory.rounds(5, problem)
    if memory.offers("update", "metadata") and memory.policy.partial_update == "merge":
        memory.rounds(5, partial(_lost_updates, memory, writers))


def _lost_updates(memory: Memory, writers: Sequence[Memory], round_: int) -> str | None:
    """Return what of one record's metadata is lost, of which every writer updates a key of its own."""
    scope = replace(SCOPE, namespace=(f"updates-{round_}",))
    memory.put(scope, record(memory, "same", "text", {"first": True}))
    race = memory.together(
        [
            partial(writer.update, scope, "same", metadata={f"key-{number}": number})
            for number, writer in enumerate(writers)
        ]
    )
    told = {f"key-{number}" for number, done in enumerate(race) if not _refused(memory, done)}
    found = memory.get(scope, "same")
    lost = sorted({"first", *told} - set(found.metadata if found else ()))
    return f"of {len(told)} updates that were done, {', '.join(lost)} are lost" if lost else None


def test_conc_state_keys_parallel_sessions(memory: Memory) -> None:
    """Parallel sessions that write different keys of the user's or the app's state keep all of them."""
    memory.require("set_state", "get_state")
    parts = memory.policy.scope_parts
    shared: list[Level] = [
        level for level in ("user", "app") if level in parts and memory.offers("set_state", "level")
    ]
    if not shared:
        memory.not_offered("no state is shared between sessions")
    writers = workers_of(memory, WORKERS)
    for level in shared:
        memory.rounds(3, partial(_lost_keys, memory, writers, level))


def _lost_keys(memory: Memory, writers: Sequence[Memory], level: Level, round_: int) -> str | None:
    """Return which keys are lost of a state that sixteen sessions write to at once, each a key of its own."""
    place = replace(SCOPE, user=f"{level}-{round_}", app=f"{level}-{round_}")
    scopes = [replace(place, session=f"session-{n}") for n in range(16)]
    calls = []
    for n, scope in enumerate(scopes):
        writer = writers[n % WORKERS]
        handle = _state_handle(writer, scope)
        calls.append(partial(writer.set_state, handle, {f"{level}-{n}": n}, level))
    _values(memory.together(calls))
    found = memory.get_state(scopes[0], level)
    wanted = {f"{level}-{n}": n for n in range(len(scopes))}
    if expect.same(found, wanted):
        return None
    kept = sum(found.get(key) == n for key, n in wanted.items())
    return f"the keys of the {level}'s state: {kept} of {len(wanted)} were kept, got {expect.shown(found)}"


def test_conc_first_use_8_workers(memory: Memory) -> None:
    """Eight workers, or two processes, open the store, make its tables and write, at once: none fails."""

    def by_workers(round_: int) -> str | None:
        workers = _on_new_ground(memory, f"{round_}:", WORKERS)
        for worker in workers:
            worker.open()
        uses = [partial(use_first, each, f"by-{n}") for n, each in enumerate(workers)]
        return _first_uses_lost(workers[0], uses)

    memory.rounds(3, by_workers)
    with processes(memory, 2) as both:

        def by_both(round_: int) -> str | None:
            (reader,) = _on_new_ground(memory, f"of-both-{round_}:", 1)
            for user in both:
                user.do("move", env=env_sent(reader.env))
            uses = [partial(user.do, "use_first", name=f"by-{n}") for n, user in enumerate(both)]
            return _first_uses_lost(reader, uses)

        memory.rounds(3 if both else 0, by_both)


def test_conc_read_during_replace(memory: Memory) -> None:
    """A reader sees the old or the new history, never a half or an empty one."""
    memory.require("replace")
    histories = [numbered("odd", 30), numbered("even", 20)]
    memory.replace(SCOPE, messages(histories[1]))
    written = Event()

    def write() -> list[list[str]]:
        try:
            for turn in range(20):
                memory.replace(SCOPE, messages(histories[turn % 2]))
        finally:
            written.set()
        return []

    def read(reader: Memory) -> list[list[str]]:
        seen = []
        while not written.is_set():
            seen.append(reader.texts(SCOPE))
        return seen

    calls: list[Callable[[], list[list[str]]]] = [write]
    calls += [partial(read, reader) for reader in workers_of(memory, 2)]
    reads = list(chain.from_iterable(_values(memory.together(calls))))
    halves = [texts for texts in reads if texts not in histories]
    expect.true(
        not halves,
        f"{len(halves)} of {len(reads)} reads during a replace gave neither the old nor the new "
        f"history, but {expect.shown(halves[:1])}",
    )
    expect.equal("the texts in the end", memory.texts(SCOPE), histories[1])


def test_conc_delete_vs_append(memory: Memory) -> None:
    """When a session is cleared during an append either comes first, whole; nothing is orphaned."""
    memory.require("clear", "append")
    first, second = workers_of(memory, 2)

    def problem(round_: int) -> str | None:
        scope = replace(SCOPE, session=f"race-{round_}")
        memory.say(scope, *numbered("old", 5))
        new = numbered("new", 5)
        race = memory.together([partial(first.clear, scope), partial(second.say, scope, *new)])
        refused = isinstance(race[1].error, memory.refusals)
        _values(race[:1] if refused else race)
        left = memory.texts(scope)
        starts = range(len(new)) if memory.policy.batch == "single" else (0,)
        if left not in ([], *(new[start:] for start in starts)) or (refused and left):
            return f"clear and append left {expect.shown(left)}"
        return _inconsistent(memory, scope, left) or _orphans(memory, scope)

    memory.rounds(8, problem)


def test_conc_late_write_after_delete(memory: Memory) -> None:
    """A write with a handle from before the delete does not bring the session back, or as declared."""
    memory.require("load", "append_with", "clear")
    declared = memory.policy.late_write_after_delete
    memory.say(SCOPE, "old")
    handle = memory.load(SCOPE)
    memory.another().clear(SCOPE)
    write = partial(memory.append_with, handle, messages(["late"]))
    if declared == "refuse":
        memory.refused("a write with a handle from before the delete", write)
    else:
        write()
    texts = memory.texts(SCOPE)
    if declared == "revive":
        expect.equal("the newest text after a late write", texts[-1:], ["late"])
        return
    expect.equal("the texts of a deleted session after a late write", texts, [])
    if memory.offers("list_sessions"):
        listed = memory.all_sessions(SCOPE)
        expect.true(SCOPE.session not in listed, "a late write lists a deleted session again")
    memory.say(SCOPE, "new")
    expect.equal("the texts of the session made anew", memory.texts(SCOPE), ["new"])


def test_conc_refused_writer_is_told(memory: Memory) -> None:
    """Of writers that meet each one whose write did not apply gets an error, and no other does."""
    memory.require("append")
    writers = workers_of(memory, WORKERS)
    handles = memory.offers("load") and memory.offers("append_with")

    def problem(round_: int) -> str | None:
        scope = replace(SCOPE, session=f"told-{round_}")
        memory.say(scope, "first")
        calls = _handle_writes(writers, scope) if handles else _plain_writes(writers, scope)
        race = memory.together(calls)
        told = [f"by-{n}" for n, done in enumerate(race) if _refused(memory, done)]
        there = memory.texts(scope)[1:]
        if len(told) == WORKERS or (told and memory.policy.conflict == "merge"):
            return f"{len(told)} of {WORKERS} writers were refused"
        wanted = _without([f"by-{n}" for n in range(WORKERS)], *told)
        if _different(there, wanted):
            return f"writers told that they wrote: {wanted}; there is {sorted(there)}"
        return None

    if handles and memory.policy.conflict == "last-wins":
        memory.not_offered("policy conflict is last-wins")
    memory.rounds(5, problem)


def test_conc_lock_wait_bounded(memory: Memory) -> None:
    """A writer that another's open transaction blocks ends within the declared time, and says so."""
    memory.require_kind("postgres")
    memory.require("tables")
    writer = memory.another(wait=0.3)
    cover(writer, {("append",): _append_blocked, ("put",): _put_blocked})


def _append_blocked(writer: Memory) -> None:
    writer.say(SCOPE, "before")
    _expect_bounded(writer, lambda: writer.say(SCOPE, "blocked"))
    writer.say(SCOPE, "after")
    expect.equal("the texts once the lock is gone", writer.texts(SCOPE), ["before", "after"])


def _put_blocked(writer: Memory) -> None:
    _expect_bounded(writer, lambda: writer.put(SCOPE, record(writer, "blocked")))
    writer.put(SCOPE, record(writer, "after"))
    expect.equal("the blocked record", writer.get(SCOPE, "blocked"), None)


def _expect_bounded(writer: Memory, write: Callable[[], Any]) -> None:
    bound = max(writer.policy.wait, writer.env.wait) + 2
    with locked(writer.site, writer.call("tables")) as release:
        timer = Timer(bound, release)
        timer.start()
        try:
            attempt = writer.attempt(write)
        finally:
            timer.cancel()
    expect.true(
        attempt.refused,
        f"a write that another's transaction blocks was not refused within {bound - 2:g} s",
    )


def _values(race: Iterable[Done[T]]) -> list[T]:
    return [done.result() for done in race]


def _not_kept(
    texts: Sequence[str], before: Sequence[str], own: Sequence[Sequence[str]]
) -> str | None:
    """Return what of the texts of several writers is not there, each once, each writer's in order."""
    wanted = [*before, *chain.from_iterable(own)]
    missing, extra = Counter(wanted) - Counter(texts), Counter(texts) - Counter(wanted)
    if missing or extra:
        return (
            f"{len(wanted) - missing.total()} of {len(wanted)} messages were kept; missing "
            f"{expect.shown(sorted(missing.elements()))}, not expected "
            f"{expect.shown(sorted(extra.elements()))}"
        )
    for written in own:
        found = [text for text in texts if text in written]
        if found != written:
            return (
                f"a writer's texts {expect.shown(written)} are in the order {expect.shown(found)}"
            )
    return None


def _put_and_get(writer: Memory, scope: Scope, written: Record) -> Record | None:
    writer.put(scope, written)
    return writer.get(scope, written.id)


def _on_new_ground(memory: Memory, prefix: str, count: int) -> list[Memory]:
    """Return store objects for where no table and no key of the store is yet."""
    ground = memory.next_door() if "postgres" in memory.tested.needs else memory
    return [ground.another(prefix=f"{memory.env.prefix}{prefix}") for _ in range(count)]


def _first_uses_lost(reader: Memory, uses: Sequence[Callable[[], Any]]) -> str | None:
    """Return what is wrong with first uses that are made at once, each of which writes its name."""
    race = calling.together(uses)  # not memory.together: that would make the tables before the race
    errors = [done.error for done in race if done.error is not None]
    if errors:
        kinds = dict(Counter(f"{type(error).__name__}: {error}" for error in errors))
        return f"{len(errors)} of {len(uses)} workers failed at first use: {kinds}"
    names = [f"by-{n}" for n in range(len(uses))]
    if reader.offers("read") and _different(reader.texts(SCOPE), names):
        return f"of {len(uses)} messages there are {sorted(reader.texts(SCOPE))}"
    if not reader.offers("list_records"):
        return None
    ids = [each.id for each in reader.all_records(SCOPE)]
    return f"of {len(uses)} records there are {sorted(ids)}" if _different(ids, names) else None


def _not_once(memory: Memory, scope: Scope) -> str | None:
    if not memory.offers("list_records"):
        return None
    ids = [each.id for each in memory.all_records(scope)]
    return None if len(ids) == 1 else f"writers of one record left the records {ids}"


def _state_handle(writer: Memory, scope: Scope) -> Any:
    if writer.offers("append"):
        writer.say(scope, "first")
    return writer.load(scope) if writer.offers("load") else scope


def _inconsistent(memory: Memory, scope: Scope, left: Sequence[str]) -> str | None:
    if memory.offers("count") and memory.count(scope) != len(left):
        return f"clear and append left {len(left)} messages, and count {memory.count(scope)}"
    if not memory.offers("list_sessions"):
        return None
    listed = scope.session in memory.all_sessions(scope)
    if listed == bool(left):
        return None
    return f"a session of {len(left)} messages is {'' if listed else 'not '}listed"


def _orphans(memory: Memory, scope: Scope) -> str | None:
    memory.clear(scope)
    if not memory.offers("raw_keys") and not memory.offers("raw_rows"):
        return None
    traces = sorted(memory.traces(scope))
    return f"clear and append left {traces[:5]} for ever" if traces else None


def _plain_writes(writers: Sequence[Memory], scope: Scope) -> list[Callable[[], Any]]:
    return [partial(writer.say, scope, f"by-{n}") for n, writer in enumerate(writers)]


def _handle_writes(writers: Sequence[Memory], scope: Scope) -> list[Callable[[], Any]]:
    return [
        partial(writer.append_with, writer.load(scope), messages([f"by-{n}"]))
        for n, writer in enumerate(writers)
    ]


def _refused(memory: Memory, done: Done[Any]) -> bool:
    if done.error is not None and not isinstance(done.error, memory.refusals):
        raise done.error
    return done.error is not None


def _different(left: Iterable[str], right: Iterable[str]) -> bool:
    return Counter(left) != Counter(right)


def _without(texts: Iterable[str], *gone: str) -> list[str]:
    return [text for text in texts if text not in gone]
