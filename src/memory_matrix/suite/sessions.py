"""What several cases do with one session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.suite import expect
from memory_matrix.suite.memory import Memory


def require_deleting(memory: Memory) -> None:
    """End the case as not offered unless single messages can be deleted."""
    memory.require("delete_message")
    if memory.policy.delete_by == "id" and "id" not in memory.policy.message_fields:
        memory.not_offered("delete_message takes an id, and policy message_fields has no id")


def say_with_ids(memory: Memory, scope: Scope, texts: Iterable[str]) -> None:
    """Append one message per text in one batch, each with an id of its own."""
    memory.append(scope, [Message("user", text, id=f"id-of-{text}") for text in texts])


def delete_at(memory: Memory, scope: Scope, index: int) -> None:
    """Delete the message at `index`, in the way that the policy declares."""
    if memory.policy.delete_by == "index":
        memory.delete_message(scope, index)
        return
    id_ = memory.read(scope)[index].id
    expect.true(id_ is not None, "a message is read back without the id that it is deleted by")
    memory.delete_message(scope, str(id_))


def expect_session(memory: Memory, what: str, scope: Scope, texts: Sequence[str]) -> None:
    """Fail unless the session holds just `texts`, by its count too."""
    expect.equal(f"the texts {what}", memory.texts(scope), list(texts))
    if memory.offers("count"):
        expect.equal(f"the count {what}", memory.count(scope), len(texts))
