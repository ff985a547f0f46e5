"""What both drivers share: a plan under way, how long it may take, and when it is made again."""

from __future__ import annotations

import time
from typing import Any, Generic, TypeVar

import psycopg

from memory_matrix.stores.postgres.failures import RETRIED, is_lost
from memory_matrix.stores.postgres.plans import Answer, Plan, Query

T = TypeVar("T")

_PATIENCE = 60.0
"""Seconds for making tables: others may be at it, and indexing what is there takes its time."""
_ROWS_PER_SECOND = 500
_BYTES_PER_SECOND = 2**20
_ATTEMPTS = 5


class Run(Generic[T]):
    """A plan under way: ask its query, give it the answer, until there is no query any more."""

    query: Query | None
    result: T

    def __init__(self, plan: Plan[T]) -> None:
        self._steps = plan.steps()
        self._go_on(None)

    def answer(self, answer: Answer) -> None:
        """Go on with what the server said."""
        self._go_on(answer)

    def _go_on(self, answer: Answer | None) -> None:
        try:
            self.query = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration as finished:
            self.query, self.result = None, finished.value


class Deadline:
    """When a call has to end."""

    def __init__(self, plan: Plan[Any], wait: float) -> None:
        self._end = time.monotonic() + (max(wait, _PATIENCE) if plan.patient else wait)

    @property
    def left(self) -> float:
        """Seconds until then; a little where it is over, for what is at hand."""
        return max(self._end - time.monotonic(), 0.01)

    def for_query(self, query: Query) -> float:
        """Seconds that a query may take: what is left, and more for much data."""
        return self.left + sum(map(_extra, (query.parameters or {}).values()))


def _extra(value: object) -> float:
    if isinstance(value, str | bytes):
        return len(value) / _BYTES_PER_SECOND if len(value) > _BYTES_PER_SECOND else 0
    if isinstance(value, list):
        size = sum(len(each) for each in value if isinstance(each, str | bytes))
        return len(value) / _ROWS_PER_SECOND + size / _BYTES_PER_SECOND
    return 0


def is_made_again(plan: Plan[Any], error: psycopg.Error, attempts: int) -> bool:
    """Return whether a plan that failed for `error` is made once more.

    Where the server undid it, any is; after a lost connection, what can be made twice, once.
    """
    if isinstance(error, RETRIED):
        return attempts < _ATTEMPTS
    return plan.repeatable and is_lost(error) and attempts == 1
