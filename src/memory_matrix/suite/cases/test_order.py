"""Group C: messages come back in order, and none is lost."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from memory_matrix.stores.policy import default_limit_of
from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.rewriting import move_rows, rewrite_keys
from memory_matrix.suite.samples import messages, numbered
from memory_matrix.suite.sessions import (
    delete_at,
    expect_session,
    require_deleting,
    say_with_ids,
)

GROUP = "C"

SCOPE = Scope()
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
NOON = dt.datetime(2030, 1, 1, 12, tzinfo=dt.timezone.utc)


def test_order_one_batch_same_clock(memory: Memory) -> None:
    """All that is written in one tick of the clock is kept, in the order of the calls."""
    texts = numbered("tick", 30)

    def write() -> None:
        memory.say(SCOPE, *texts[:20])
        for text in texts[20:]:
            memory.say(SCOPE, text)

    if memory.offers("store_clock"):
        with memory.store_clock(lambda: NOON):
            write()
    else:
        write()
    expect.equal("the texts of one tick", memory.texts(SCOPE), texts)


def test_order_many_batches(memory: Memory) -> None:
    """Batches of different sizes come back in the order of the calls."""
    texts = numbered("batch", 28)
    for size in range(1, 8):
        start = size * (size - 1) // 2
        memory.say(SCOPE, *texts[start : start + size])
    expect.equal("the texts of seven batches", memory.texts(SCOPE), texts)


def test_order_survives_row_rewrite(memory: Memory) -> None:
    """After rows or keys are moved on the server, the order is the same."""
    if not memory.offers("tables") and not memory.offers("raw_keys"):
        memory.not_offered("the adapter has neither tables nor raw_keys")
    texts = numbered("moved", 40)
    memory.say(SCOPE, *texts[:15])
    memory.say(SCOPE, *texts[15:])
    if memory.offers("tables"):
        move_rows(memory)
    if memory.offers("raw_keys"):
        rewrite_keys(memory, memory.raw_keys(SCOPE))
    expect.equal("the texts after the move", memory.texts(SCOPE), texts)


def test_order_limit_n_newest(memory: Memory) -> None:
    """A limit of n gives the n newest messages (or turns, as declared), oldest first."""
    _need_limit(memory)
    written = [
        Message("user" if index % 2 == 0 else "assistant", text)
        for index, text in enumerate(numbered("limit", 10))
    ]
    for start in range(0, 10, 2):
        memory.append(SCOPE, written[start : start + 2])
    each = 2 if memory.policy.limit_counts == "turns" else 1
    for limit in (1, 3, 4):
        wanted = [message.text for message in written[-limit * each :]]
        got = memory.texts(SCOPE, limit=limit)
        expect.equal(f"the texts under limit={limit}", got, wanted)


def test_order_limit_0_and_negative(memory: Memory) -> None:
    """A limit of 0 or -1 gives nothing, gives all, or is refused, as declared."""
    _need_limit(memory)
    texts = numbered("limit", 4)
    memory.say(SCOPE, *texts)
    answers = {0: memory.policy.limit_zero, -1: memory.policy.limit_negative}
    for limit, answer in answers.items():
        read = partial(memory.texts, SCOPE, limit=limit)
        if answer == "refuse":
            memory.refused(f"reading with limit={limit}", read)
        else:
            wanted = texts if answer == "all" else []
            expect.equal(f"the texts under limit={limit}", read(), wanted)
    expect.equal("the texts read afterwards", memory.texts(SCOPE), texts)


def test_order_limit_beyond_length(memory: Memory) -> None:
    """A limit of the length or beyond gives all messages, each once."""
    _need_limit(memory)
    texts = numbered("limit", 5)
    expect.equal("the texts of no session", memory.texts(SCOPE, limit=3), [])
    memory.say(SCOPE, *texts)
    for limit in (5, 6, 1000, 2**31):
        got = memory.texts(SCOPE, limit=limit)
        expect.equal(f"the texts under limit={limit}", got, texts)


def test_order_clock_step_back(memory: Memory) -> None:
    """When the clock steps back between two appends, the order of calls holds, or time's, as declared."""
    memory.require("store_clock")
    minutes = {"first": 0, "second": -60, "third": -30, "fourth": -90, "fifth": 1}
    for text, offset in minutes.items():
        with memory.store_clock(partial(_at, offset)):
            memory.say(SCOPE, text)
    wanted = list(minutes)
    if memory.policy.order == "time":
        wanted.sort(key=lambda text: minutes[text])
    expect.equal("the texts after the clock stepped back", memory.texts(SCOPE), wanted)


def test_order_two_writers_interleaved(memory: Memory) -> None:
    """Two store objects take turns and then write at once: each one's own order is kept in the whole."""
    other = memory.another()
    turns = numbered("turn", 10)
    for index, text in enumerate(turns):
        (memory, other)[index % 2].say(SCOPE, text)
    expect.equal("the texts of two writers in turns", memory.texts(SCOPE), turns)

    race = memory.together([partial(_write, memory, "left"), partial(_write, other, "right")])
    for done in race:
        done.result()
    after = memory.texts(SCOPE)[len(turns) :]
    for name in ("left", "right"):
        own = [text for text in after if name in text]
        expect.equal(f"the texts of the {name} writer", own, numbered(name, 20))


def test_order_after_delete_middle(memory: Memory) -> None:
    """After messages in the middle are deleted the rest keeps its order, and what follows comes last."""
    require_deleting(memory)
    texts = numbered("kept", 6)
    say_with_ids(memory, SCOPE, texts)
    for index in (3, 1):
        delete_at(memory, SCOPE, index)
        del texts[index]
        expect.equal("the texts after a delete", memory.texts(SCOPE), texts)
    more = numbered("more", 3)
    for text in more:
        memory.say(SCOPE, text)
    expect.equal("the texts appended after a delete", memory.texts(SCOPE), texts + more)


def test_order_delete_only_message(memory: Memory) -> None:
    """Deleting the only message leaves an empty session that can be written again."""
    require_deleting(memory)
    say_with_ids(memory, SCOPE, ["only"])
    delete_at(memory, SCOPE, 0)
    expect_session(memory, "after the only one is deleted", SCOPE, [])
    memory.say(SCOPE, "again")
    expect_session(memory, "after a new one", SCOPE, ["again"])


def test_order_pop_is_last(memory: Memory) -> None:
    """Pop gives the newest message and removes that one; of an empty session it gives None."""
    memory.require("pop")
    texts = numbered("pop", 5)
    expect.equal("a pop of no session", memory.pop(SCOPE), None)
    memory.say(SCOPE, *texts)
    while texts:
        popped = memory.pop(SCOPE)
        expect.equal("the text popped", popped and popped.text, texts.pop())
        expect_session(memory, "left by pop", SCOPE, texts)
    expect.equal("a pop of an empty session", memory.pop(SCOPE), None)
    memory.say(SCOPE, "again")
    expect_session(memory, "after the last pop", SCOPE, ["again"])


def test_count_matches_list(memory: Memory) -> None:
    """Count and list agree after every kind of change."""
    memory.require("count")
    texts = numbered("count", 6)
    changes: dict[str, Callable[[], object]] = {
        "append": lambda: say_with_ids(memory, SCOPE, texts),
        "pop": lambda: memory.pop(SCOPE),
        "delete_message": lambda: delete_at(memory, SCOPE, 2),
        "replace": lambda: memory.replace(SCOPE, messages(texts[:2])),
        "clear": lambda: memory.clear(SCOPE),
    }
    expect.equal("the count of no session", memory.count(SCOPE), 0)
    if memory.policy.delete_by == "id" and "id" not in memory.policy.message_fields:
        del changes["delete_message"]
    for name in filter(memory.offers, changes):
        changes[name]()
        count, length = memory.count(SCOPE), len(memory.read(SCOPE))
        expect.true(count == length, f"after {name} count is {count}, and {length} are read")


def test_history_over_1000(memory: Memory) -> None:
    """Of 1,200 messages all come back (or as many as declared), the newest among them."""
    texts = numbered("long", 1200)
    for start in range(0, 1200, 100):
        memory.say(SCOPE, *texts[start : start + 100])
    _expect_as_many_as_declared(memory, texts)
    if memory.offers("read", "limit") and memory.policy.limit_counts == "messages":
        expect.equal("the two newest", memory.texts(SCOPE, limit=2), texts[-2:])
        expect.equal("the texts under limit=1200", memory.texts(SCOPE, limit=1200), texts)
    if memory.offers("count"):
        expect.equal("the count", memory.count(SCOPE), 1200)


def test_corrupt_record_skipped_not_counted(memory: Memory) -> None:
    """With one unreadable record limit=n still gives n readable ones, or an error that names it, as declared."""
    memory.require("corrupt")
    texts = numbered("corrupt", 5)
    memory.say(SCOPE, *texts)
    memory.corrupt(SCOPE, 3)
    readable = texts[:3] + texts[4:]
    has_limit = memory.offers("read", "limit")
    if memory.policy.corrupt == "raise":
        refusal = memory.refused("reading an unreadable record", lambda: memory.texts(SCOPE))
        _names_it(memory, refusal, texts)
        if has_limit:
            memory.refused("reading two of them", lambda: memory.texts(SCOPE, limit=2))
    else:
        expect.equal("the readable texts", memory.texts(SCOPE), readable)
        if has_limit:
            expect.equal("the texts under limit=2", memory.texts(SCOPE, limit=2), readable[-2:])
        memory.say(SCOPE, "more")
        expect.equal("the readable texts", memory.texts(SCOPE), [*readable, "more"])


def _expect_as_many_as_declared(memory: Memory, texts: list[str]) -> None:
    """Fail unless all or the newest are read; one number for all listings need not be one of reads."""
    got = [each.text for each in memory.read_by_default(SCOPE)]
    most = default_limit_of(memory.policy, "read")
    cut = texts if most is None else texts[max(0, len(texts) - most) :]
    if isinstance(memory.policy.default_limit, Mapping) or got != texts:
        expect.equal("the texts read", got, cut)


def _names_it(memory: Memory, refusal: Exception, texts: Sequence[str]) -> None:
    """Fail if what was raised for an unreadable record is just what is raised for another one."""
    elsewhere = replace(SCOPE, session="elsewhere")
    memory.say(elsewhere, *texts)
    memory.corrupt(elsewhere, 1)
    other = memory.refused("reading another unreadable record", lambda: memory.texts(elsewhere))
    expect.true(
        _said(refusal) != _said(other),
        "the error for an unreadable record: expected one that names it, got for records of two "
        f"sessions the same, {type(refusal).__name__}: {expect.shown(str(refusal))}",
    )


def _said(error: BaseException | None) -> list[str]:
    """Return what an error and those that it came from say, without addresses in memory."""
    if error is None:
        return []
    context = None if error.__suppress_context__ else error.__context__
    return [_ADDRESS.sub("", str(error)), *_said(error.__cause__ or context)]


def _at(minutes: int) -> dt.datetime:
    return NOON + dt.timedelta(minutes=minutes)


def _write(writer: Memory, name: str) -> None:
    for text in numbered(name, 20):
        writer.say(SCOPE, text)


def _need_limit(memory: Memory) -> None:
    if not memory.offers("read", "limit"):
        memory.not_offered("the adapter's `read` takes no `limit`")
