"""Run a rule on each part of the protocol that an adapter has."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import NotOffered


def cover(memory: Memory, checks: dict[tuple[str, ...], Callable[[Memory], None]]) -> None:
    """Run each check whose calls the adapter has; end the case as not offered if there is none."""
    offered = [check for calls, check in checks.items() if all(map(memory.offers, calls))]
    if not offered:
        needed = " nor ".join(" with ".join(calls) for calls in checks)
        memory.not_offered(f"the adapter has neither {needed}")
    cover_each((memory, check) for check in offered)


def cover_each(checks: Iterable[tuple[Memory, Callable[[Memory], None]]]) -> None:
    """Run each check on its store: what is not offered in one of them says nothing of the others.

    Raises:
        NotOffered: none of them is.
    """
    ended = [_not_offered(check, memory) for memory, check in checks]
    if None not in ended:
        raise NotOffered("; ".join(dict.fromkeys(filter(None, ended))))


def _not_offered(check: Callable[[Memory], None], memory: Memory) -> str | None:
    """Run a check, and return why it is not offered; None where it was run."""
    try:
        check(memory)
    except NotOffered as error:
        return str(error)
    return None
