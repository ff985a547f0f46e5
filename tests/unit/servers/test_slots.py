"""How batches that fail as a whole are taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerSource
from memory_matrix.report.model import Error
from memory_matrix.servers import slot as slot_module
from memory_matrix.servers import slots
from memory_matrix.servers.asking import Answer
from memory_matrix.servers.model import Server
from memory_matrix.servers.slot import FailedError, Slot, SlotName
from support.tables import table

SERVER = Server(
    ServerSource("redis", "url", "redis://:hush@h/0", "live"),
    "redis://:hush@h/0",
    "8",
    "Redis",
    False,
)
REFUSED = Error("store", "DataError", "not this one")


class Fake(Slot):
    """A slot that refuses some blobs, and hangs up on others."""

    name: ClassVar[SlotName] = "string"

    def __init__(self, refused: set[bytes] = frozenset(), fatal: set[bytes] = frozenset()) -> None:  # type: ignore[assignment]
        super().__init__(SERVER)
        self.refused = refused
        self.fatal = fatal
        self.batches: list[int] = []
        self.connections = 0
        self.open = 0

    def connect(self) -> None:
        self.connections += 1
        self.open = 1

    def close(self) -> None:
        self.open = 0

    def carry(self, blobs: Sequence[bytes]) -> list[bytes]:
        assert self.open
        self.batches.append(len(blobs))
        if self.fatal & set(blobs):
            self.open = 0
            raise FailedError(REFUSED, lost=True)
        if self.refused & set(blobs):
            raise FailedError(REFUSED, lost=False)
        return list(blobs)


@pytest.fixture(autouse=True)
def answering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_module, "ask", lambda *_, **__: Answer("8", "Redis"))


def items(count: int) -> list[tuple[str, bytes]]:
    return [(f"k{number}", b"v%d" % number) for number in range(count)]


def through(slot: Fake, given: list[tuple[str, bytes]]) -> list[slots.Stored]:
    return list(slots._through(slot, given))


@table("number", [0, 1, 250, 499])
@table("how", ["refused", "fatal"])
def test_one_bad_blob_costs_itself_only(how: str, number: int) -> None:
    fake = Fake(**{how: {b"v%d" % number}})
    results = through(fake, items(500))
    assert [each.key for each in results] == [key for key, _ in items(500)]
    (bad,) = (each for each in results if each.error)
    assert bad.key == f"k{number}"
    assert bad.error is not None
    assert bad.error.message.endswith(REFUSED.message)
    assert ("hung up" in bad.error.message) == (how == "fatal")
    assert all(each.got is not None for each in results if not each.error)
    assert len(fake.batches) < 40


def test_many_bad_blobs_are_found_each() -> None:
    bad = {b"v%d" % number for number in range(0, 500, 2)}
    results = through(Fake(refused=bad), items(500))
    assert {each.key for each in results if each.error} == {f"k{n}" for n in range(0, 500, 2)}


def test_all_bad_blobs_are_found_each() -> None:
    results = through(Fake(refused={blob for _, blob in items(20)}), items(20))
    assert [each.error for each in results] == [REFUSED] * 20


def test_batches_are_bounded_in_number_and_size() -> None:
    fake = Fake()
    large = bytes(5 * 2**20)
    through(fake, [*items(1100), ("a", large), ("b", large), ("c", bytes(20 * 2**20)), ("d", b"")])
    assert fake.batches[1:] == [500, 500, 101, 1, 1, 1]


def test_a_server_that_refuses_everything_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match=r"live \(redis://:\*\*\*@h/0\) takes no writes"):
        through(Fake(refused={b"1"}), items(3))


def test_the_connection_is_closed_however_the_reader_leaves() -> None:
    fake = Fake()
    iterator = slots._through(fake, items(10))
    next(iterator)
    assert fake.open
    iterator.close()
    assert not fake.open
    through(fake, items(3))
    assert not fake.open
