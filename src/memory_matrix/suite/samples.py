"""Messages and records to store, and what of a record every store gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from memory_matrix.stores.protocol import Message, Record
from memory_matrix.suite.embedding import embed
from memory_matrix.suite.memory import Memory

Plain = tuple[str, str, dict[str, Any]]


def record(
    memory: Memory, id_: str, text: str = "", metadata: Mapping[str, Any] | None = None
) -> Record:
    """Return a record, with the vector of its text where the store searches."""
    text = text or f"text of {id_}"
    vector = tuple(embed([text])[0]) if memory.offers("search") else None
    return Record(id_, text, vector, dict(metadata or {}))


def vector(memory: Memory, number: int = 0) -> tuple[float, ...] | None:
    """Return the vector `number`, where the store searches: each points elsewhere, exact in 32 bits."""
    if not memory.offers("search"):
        return None
    return (1.0, number / 1024, *(0.0 for _ in range(memory.env.dimensions - 2)))


def many_records(memory: Memory, name: str, count: int, **metadata: Any) -> list[Record]:
    """Return records for cases in which indexing them is not the question.

    Their vectors are those that an index takes up quickest: ten alike, then ten a little farther on.
    """
    one = record(memory, name, metadata=metadata)
    return [
        replace(one, id=f"{name}-{n}", vector=one.vector and vector(memory, n // 10))
        for n in range(count)
    ]


def plain(found: Record) -> Plain:
    """Return what of a record every store gives back: id, text and metadata."""
    return found.id, found.text, dict(found.metadata)


def plains(found: Iterable[Record]) -> list[Plain]:
    """Return the same of several."""
    return [plain(each) for each in found]


def messages(texts: Iterable[str]) -> list[Message]:
    """Return one user message per text."""
    return [Message("user", text) for text in texts]


def numbered(name: str, count: int) -> list[str]:
    """Return texts that neither sort nor hash in the order in which they are written."""
    return [f"{(index * 7 + 3) % 10}-{name}-{index}" for index in range(count)]
