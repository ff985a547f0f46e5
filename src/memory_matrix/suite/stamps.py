"""The times that a store keeps, and the ways in which a case can choose them."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import record

UTC = dt.timezone.utc

Times = dict[str, "dt.datetime | None"]


@dataclass(frozen=True)
class Stamps:
    """One way to have a store keep something that was made at a time of the case's choice."""

    what: str
    memory: Memory
    scope: Scope
    write: Callable[[str, dt.datetime], object]
    times: Callable[[], Times]
    """When each was made, by the text of a message or the id of a record."""
    of_messages: bool


def stamps(memory: Memory) -> list[Stamps]:
    """Return the ways that there are; the case ends as not offered if there is none."""
    found: list[Stamps] = []
    if memory.tested.part("conversation") and "created_at" in memory.policy.message_fields:
        found += _of_messages(memory)
    if memory.tested.part("records"):
        found += _of_records(memory)
    if not found:
        memory.not_offered("times can be chosen neither by store_clock nor by created_at")
    return found


def _of_messages(memory: Memory) -> Iterator[Stamps]:
    if memory.offers("store_clock"):
        clocked, scope = memory.another(), Scope(session="by the clock")

        def by_clock(name: str, at: dt.datetime) -> None:
            with clocked.store_clock(lambda: at):
                clocked.say(scope, name)

        yield _messages("messages made by the store's clock", clocked, scope, by_clock)
    if takes_message_times(memory):
        given = Scope(session="by the caller")

        def by_caller(name: str, at: dt.datetime) -> None:
            memory.append(given, [Message("user", name, created_at=at)])

        yield _messages("messages made at a given time", memory, given, by_caller)


def _of_records(memory: Memory) -> Iterator[Stamps]:
    if memory.offers("store_clock") and gives_record_times(memory):
        clocked, scope = memory.another(), Scope(namespace=("by the clock",))

        def by_clock(name: str, at: dt.datetime) -> None:
            with clocked.store_clock(lambda: at):
                clocked.put(scope, record(memory, name))

        yield _records("records made by the store's clock", clocked, scope, by_clock)
    if takes_record_times(memory):
        given = Scope(namespace=("by the caller",))

        def by_caller(name: str, at: dt.datetime) -> None:
            memory.put(given, replace(record(memory, name), created_at=at))

        yield _records("records made at a given time", memory, given, by_caller)


def _messages(
    what: str, memory: Memory, scope: Scope, write: Callable[[str, dt.datetime], object]
) -> Stamps:
    def times() -> Times:
        return {each.text: each.created_at for each in memory.read(scope)}

    return Stamps(what, memory, scope, write, times, of_messages=True)


def _records(
    what: str, memory: Memory, scope: Scope, write: Callable[[str, dt.datetime], object]
) -> Stamps:
    names: list[str] = []

    def noted(name: str, at: dt.datetime) -> None:
        write(name, at)
        names.append(name)

    def times() -> Times:
        found = {name: memory.get(scope, name) for name in names}
        return {name: each.created_at for name, each in found.items() if each is not None}

    return Stamps(what, memory, scope, noted, times, of_messages=False)


_PROBE = dt.datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)


def takes_message_times(memory: Memory) -> bool:
    """Return whether the caller can say when a message was made."""
    scope = Scope(session="probe")
    message = Message("user", "probe", created_at=_PROBE)
    if memory.attempt(lambda: memory.append(scope, [message])).refused:
        return False
    return [each.created_at for each in memory.read(scope)] == [_PROBE]


def takes_record_times(memory: Memory) -> bool:
    """Return whether the caller can say when a record was made."""
    scope = Scope(namespace=("probe",))
    probe = replace(record(memory, "probe"), created_at=_PROBE)
    if memory.attempt(lambda: memory.put(scope, probe)).refused:
        return False
    found = memory.get(scope, "probe")
    return found is not None and found.created_at == _PROBE


def gives_record_times(memory: Memory) -> bool:
    """Return whether the store says when a record was made."""
    scope = Scope(namespace=("probe",))
    memory.put(scope, record(memory, "made"))
    found = memory.get(scope, "made")
    return found is not None and found.created_at is not None


@contextmanager
def host_zone(name: str, posix: str) -> Iterator[None]:
    """Let this process live in the time zone `name`; `posix` says it for hosts that know no names."""
    before = os.environ.get("TZ")
    try:
        for zone in (name, posix):
            os.environ["TZ"] = zone
            time.tzset()
            if time.timezone:
                break
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
