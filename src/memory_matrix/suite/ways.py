"""Every call by which a store takes text and metadata, so that a case can try all of them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Literal

from memory_matrix.stores.protocol import Message, Record, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.samples import vector

Carried = Literal["text", "metadata"]

_NUMBERS = count()


@dataclass(frozen=True)
class Content:
    """What a case wants kept."""

    text: str = "something to keep"
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Way(ABC):
    """One call that writes, on a place of its own, which holds something already."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory = memory
        self.name = name

    @property
    def has_metadata(self) -> bool:
        """Whether it carries metadata besides text."""
        return True

    @abstractmethod
    def write(self, contents: Sequence[Content]) -> None:
        """Write `contents` by this call."""

    @abstractmethod
    def read(self) -> Mapping[str, list[Content]]:
        """Return what was written, as each call that reads gives it."""

    @abstractmethod
    def untouched(self) -> None:
        """Fail unless the place holds what it held at first, and nothing else."""


class _Messages(Way):
    def __init__(self, memory: Memory, name: str) -> None:
        super().__init__(memory, name)
        self._scope = Scope(session=_new(name))
        memory.say(self._scope, "before")

    @property
    def has_metadata(self) -> bool:
        return carries(self.memory, "conversation", "metadata")

    def write(self, contents: Sequence[Content]) -> None:
        messages = [
            Message("user", each.text, metadata=each.metadata if self.has_metadata else {})
            for each in contents
        ]
        if self.name == "append_with":
            self.memory.append_with(self.memory.load(self._scope), messages)
        else:
            self.memory.call(self.name, self._scope, messages)

    def read(self) -> Mapping[str, list[Content]]:
        messages = self.memory.read(self._scope)
        written = messages if self.name == "replace" else messages[1:]
        return {"read": [_content(each) for each in written]}

    def untouched(self) -> None:
        expect.equal(
            f"the history after a refused {self.name}", self.memory.texts(self._scope), ["before"]
        )


class _Records(Way):
    def __init__(self, memory: Memory, name: str) -> None:
        super().__init__(memory, name)
        self._scope = Scope(namespace=(_new(name),))
        self._before = Record("before", "before", vector(memory), {"before": True})
        memory.put(self._scope, self._before)
        self._written = 0

    def write(self, contents: Sequence[Content]) -> None:
        records = [
            Record(f"r{number}", each.text, vector(self.memory, number), each.metadata)
            for number, each in enumerate(contents)
        ]
        self._write(records)
        self._written = len(records)

    def _write(self, records: Sequence[Record]) -> None:
        if self.name == "put_many":
            self.memory.put_many(self._scope, records)
        else:
            for each in records:
                self.memory.put(self._scope, each)

    def read(self) -> Mapping[str, list[Content]]:
        ids = [f"r{number}" for number in range(self._written)]
        found = {}
        if self.memory.offers("list_records"):
            listed = {each.id: each for each in self.memory.all_records(self._scope)}
            found["list_records"] = [_content(listed[each]) for each in ids if each in listed]
        if not found or self.name == "put" or len(ids) == 1:  # once is enough for many
            one_by_one = [self.memory.get(self._scope, each) for each in ids]
            found["get"] = [_content(each) for each in one_by_one if each is not None]
        return found

    def untouched(self) -> None:
        what = f"after a refused {self.name}"
        there = [self.memory.get(self._scope, "before")]
        if self.memory.offers("list_records"):
            there = [*self.memory.all_records(self._scope)]
        kept = [(each.id, _content(each)) for each in there if each is not None]
        wanted = [("before", _content(self._before))]
        expect.equal(f"the records that are there {what}", kept, wanted)
        expect.equal(f"the refused record {what}", self.memory.get(self._scope, "r0"), None)


class _Updates(_Records):
    def _write(self, records: Sequence[Record]) -> None:
        self._make_way(records)
        self.memory.put_all(
            self._scope, [Record(each.id, "to be changed", each.vector) for each in records]
        )
        for each in records:
            self.memory.update(self._scope, each.id, text=each.text, metadata=dict(each.metadata))

    def _make_way(self, records: Sequence[Record]) -> None:
        """Delete what an earlier write has left, where a put of the same id would be refused."""
        if self.memory.tested.policy.same_id == "refuse":
            for each in records:
                if self.memory.get(self._scope, each.id) is not None:
                    self.memory.delete(self._scope, each.id)

    def untouched(self) -> None:
        held = self.memory.get(self._scope, "r0")
        expect.equal(
            "the record after a refused update", _contents(held), [Content("to be changed")]
        )


class _State(Way):
    def __init__(self, memory: Memory, name: str) -> None:
        super().__init__(memory, name)
        self._scope = Scope(session=_new(name))
        self._written = 0
        self._set({"before": "before"})

    def _set(self, delta: Mapping[str, Any]) -> None:
        loads = self.memory.offers("load")
        handle = self.memory.load(self._scope) if loads else self._scope
        self.memory.set_state(handle, delta)

    def write(self, contents: Sequence[Content]) -> None:
        self._set(
            {
                f"s{number}": {"text": each.text, "metadata": each.metadata}
                for number, each in enumerate(contents)
            }
        )
        self._written = len(contents)

    def read(self) -> Mapping[str, list[Content]]:
        state = self.memory.get_state(self._scope)
        written = [state[f"s{number}"] for number in range(self._written)]
        return {"get_state": [Content(each["text"], each["metadata"]) for each in written]}

    def untouched(self) -> None:
        state = self.memory.get_state(self._scope)
        expect.equal("the state after a refused set_state", state, {"before": "before"})


def ways(memory: Memory, carried: Carried = "text") -> list[Way]:
    """Return every way that the store has of writing text, or metadata; the case ends if there is none."""
    found: list[Way] = []
    if carries(memory, "conversation", carried):
        found += [_Messages(memory, name) for name in _message_calls(memory)]
    if carries(memory, "records", carried):
        found += [_Records(memory, name) for name in ("put", "put_many") if memory.offers(name)]
        found += [_Updates(memory, "update")] if memory.offers("update") else []
    if carries(memory, "state", carried):
        found.append(_State(memory, "set_state"))
    if not found:
        memory.not_offered(f"nothing that the store keeps carries {carried}")
    return found


def carries(memory: Memory, part: str, carried: Carried) -> bool:
    """Return whether the store has a part, and text or metadata in it."""
    if part == "conversation" and carried not in memory.policy.message_fields:
        return False
    return memory.tested.part(part)


def has_metadata(memory: Memory) -> bool:
    """Return whether anything that the store keeps carries metadata."""
    return any(carries(memory, part, "metadata") for part in ("conversation", "records", "state"))


def come_back(memory: Memory, contents: Sequence[Content], carried: Carried = "text") -> None:
    """Fail unless `contents` come back equal, whichever way they are written and read.

    With `text`, their metadata has to come back as well, wherever it is carried.
    """
    for way in ways(memory, carried):
        way.write(contents)
        comes_back(way, contents, carried)


def comes_back(way: Way, contents: Sequence[Content], carried: Carried) -> None:
    """Fail unless what was written by `way` comes back equal."""
    fields = ("text", "metadata") if carried == "text" and way.has_metadata else (carried,)
    for reader, got in way.read().items():
        for name in fields:
            kept = [getattr(each, name) for each in got]
            wanted = [getattr(each, name) for each in contents]
            expect.equal(f"the {name} written by {way.name}, read by {reader}", kept, wanted)


def are_refused(way: Way, contents: Sequence[Content], what: str, *, raw: bool = True) -> None:
    """Fail unless `way` refuses each of `contents`, leaves nothing of it behind and goes on working.

    `raw`: by whatever error its callers are meant to know, and else by none of a driver.
    """
    for each in contents:
        shown = expect.shown(each.metadata or each.text)
        sentence = f"{way.name} of {what}, {shown}"
        refusal = way.memory.refused(sentence, partial(way.write, [each]))
        if not raw:
            expect.own_error(sentence, refusal)
        way.untouched()
    _works(way)


def stays_usable(way: Way) -> None:
    """Fail unless a refused write has left nothing, and the next write works."""
    way.untouched()
    _works(way)


def equal_or_refused(
    memory: Memory, contents: Sequence[Content], carried: Carried = "metadata"
) -> None:
    """Fail unless every way of writing refuses each of `contents`, or gives it back equal."""
    for way in ways(memory, carried):
        if not memory.attempt(partial(way.write, contents)).refused:
            comes_back(way, contents, carried)
        elif len(contents) == 1:
            stays_usable(way)
        else:  # which of them is refused only shows when they are written one by one
            for each in contents:
                equal_or_refused(memory, [each], carried)
            return


def entries_equal_or_refused(memory: Memory, metadata: Mapping[str, Any]) -> None:
    """Fail unless metadata comes back equal, or every way refuses it and refuses or gives back each entry."""
    whole = [Content(metadata=metadata)]
    for way in ways(memory, "metadata"):
        if memory.attempt(partial(way.write, whole)).refused:
            stays_usable(way)
            equal_or_refused(memory, [Content(metadata={key: metadata[key]}) for key in metadata])
            return
        comes_back(way, whole, "metadata")


def _works(way: Way) -> None:
    good = [Content("after the refusal", {"good": "after the refusal"})]
    way.write(good)
    comes_back(way, good, "text")


def _new(name: str) -> str:
    """Return a name that no other way has."""
    return f"{name}-{next(_NUMBERS)}"


def _message_calls(memory: Memory) -> list[str]:
    calls = [call for call in ("append", "replace") if memory.offers(call)]
    return (
        [*calls, "append_with"] if memory.offers("load") and memory.offers("append_with") else calls
    )


def _content(found: Message | Record) -> Content:
    """Return what is in it, not a copy: a case may want to change it."""
    metadata = found.metadata
    return Content(found.text, metadata if isinstance(metadata, dict) else dict(metadata))


def _contents(record: Record | None) -> list[Content]:
    return [] if record is None else [_content(record)]
