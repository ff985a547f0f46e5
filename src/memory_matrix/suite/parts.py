"""Run a rule on each part of the protocol that an adapter has."""

from __future__ import annotations

from collections.abc import Callable

from memory_matrix.suite.memory import Memory


def cover(memory: Memory, checks: dict[tuple[str, ...], Callable[[Memory], None]]) -> None:
    """Run each check whose calls the adapter has; end the case as not offered if there is none."""
    offered = [check for calls, check in checks.items() if all(map(memory.offers, calls))]
    if not offered:
        needed = " nor ".join(" with ".join(calls) for calls in checks)
        memory.not_offered(f"the adapter has neither {needed}")
    for check in offered:
        check(memory)
