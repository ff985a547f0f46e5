"""Group A: what is appended is read back equal, whatever text it is."""

from __future__ import annotations

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory

GROUP = "A"

SCOPE = Scope()


def test_text_ascii_round_trip(memory: Memory) -> None:
    """What is appended is read back equal, type included."""
    _comes_back(memory, "Hello, what can you do for me?")


def _comes_back(memory: Memory, *texts: str) -> None:
    memory.append(SCOPE, [Message("user", text) for text in texts])
    expect.equal("the texts read back", memory.texts(SCOPE), list(texts))
