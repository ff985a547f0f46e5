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
_ROWS_PER_SECOND = 150
"""For each list among the parameters; what is written has two, and arrays of text besides."""
_BYTES_PER_SECOND = 2**20
_ATTEMPTS = 5
_CONNECTING = 0.7
_CANCELLING = 0.1
_LEAST = 0.01


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
    """When a call has to end: a share of its time is for having a connection, some for cancelling."""

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self._begin = time.monotonic()

    @property
    def for_connection(self) -> float:
        """Seconds left for having a connection."""
        return max(self._begin + _CONNECTING * self._wait - time.monotonic(), _LEAST)

    @property
    def grace(self) -> float:
        """Seconds for telling the server to cancel, and once more for its answer."""
        return _CANCELLING * self._wait

    def for_query(self, query: Query) -> float:
        """Seconds left for a query: more where it carries much data, or makes tables."""
        if query.patient:
            return max(self._wait, _PATIENCE)
        left = self._begin + self._wait - time.monotonic()
        return left + sum(map(_extra, (query.parameters or {}).values()))


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
