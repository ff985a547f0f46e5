"""What a store may take to work again after a fault, and what must be there of writes that met one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast

from memory_matrix.stores.protocol import Scope
from memory_matrix.suite import expect
from memory_matrix.suite.calling import together, within
from memory_matrix.suite.memory import Attempt, Memory
from memory_matrix.suite.offered import Calls
from memory_matrix.suite.outcomes import CaseFailed, HarnessError

T = TypeVar("T")

WAIT = 0.3
"""Seconds that stores are told to wait for servers that do not answer."""
_GRACE = 2.0
_LONGEST = 10.0
"""Seconds within which a server has ended connections that it was told to end."""


def works_again(memory: Memory, when: str, call: Callable[[], T]) -> T:
    """Return what `call` returns, made as often as the store declares that calls may fail after a fault.

    Raises:
        CaseFailed: it is refused more often.
    """
    for _ in range(memory.policy.reconnect_calls + 1):
        attempt = memory.attempt(call)
        if not attempt.refused:
            return cast("T", attempt.value)
    raise CaseFailed(
        f"{when}: calls that may fail {memory.policy.reconnect_calls}, calls that did "
        f"{memory.policy.reconnect_calls + 1}, the last with {expect.shown(attempt.refusal)}"
    )


def in_time(memory: Memory, what: str, call: Callable[[], T]) -> Attempt[T]:
    """Return the value or the refusal of `call`, to which no server answers.

    Raises:
        CaseFailed: neither comes within the time that the store declares.
    """
    bound = max(memory.policy.wait, memory.env.wait) + _GRACE
    return within(bound, what, lambda: memory.attempt(call))


def all_in_time(memory: Memory, calls: Calls) -> dict[str, Attempt[object]]:
    """Make all calls at once, and return what `in_time` gives of each, by its name."""
    done = together([partial(in_time, memory, name, call) for name, call in calls.items()])
    return {name: each.result() for name, each in zip(calls, done, strict=True)}


def kill_connections(memory: Memory) -> int:
    """End the store's connections on the server's side; return how many there were once they are gone."""
    before = memory.site.connections()
    memory.kill_connections()
    ends = time.monotonic() + _LONGEST
    while before & memory.site.connections():
        if time.monotonic() > ends:
            raise HarnessError("the server does not end connections that it was told to end")
    return len(before)


@dataclass
class Writer:
    """Appends texts to a session, and knows of which of them the store said that they are there."""

    memory: Memory
    scope: Scope
    name: str
    told: list[str] = field(default_factory=list)
    """Those that the store acknowledged, in their order."""
    refused: list[str] = field(default_factory=list)
    """Those that may be there, since a failed call may have been done."""

    def write(self) -> bool:
        """Append the next text; return whether the store acknowledged it."""
        text = f"{self.name}-{len(self.told) + len(self.refused)}"
        attempt = self.memory.attempt(partial(self.memory.say, self.scope, text))
        (self.refused if attempt.refused else self.told).append(text)
        return not attempt.refused


def expect_written(
    memory: Memory, when: str, scope: Scope, writers: Iterable[Writer], before: Sequence[str] = ()
) -> None:
    """Fail unless what was acknowledged is there once and in order, and the rest at most once."""
    texts = memory.texts(scope)
    known = [*before]
    for writer in writers:
        known += [*writer.told, *writer.refused]
        there = [text for text in texts if text in writer.told]
        lost = [text for text in writer.told if text not in there]
        expect.true(
            not lost,
            f"{when}: expected all {len(writer.told)} acknowledged texts, {len(lost)} are lost: "
            f"{expect.shown(lost)}",
        )
        expect.equal(f"the acknowledged texts {when}", there, writer.told)
    double = [text for text, count in Counter(texts).items() if count > 1]
    expect.true(not double, f"{when}: expected each text once, twice there: {expect.shown(double)}")
    expect.equal(
        f"texts that nobody wrote {when}", [each for each in texts if each not in known], []
    )
    expect.equal(f"the former texts {when}", [each for each in texts if each in before], [*before])
