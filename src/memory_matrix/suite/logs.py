"""What a store writes to Python's log while a case runs: an error there may be all that is said of a failure."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_LONGEST = 200
_HEARD: ContextVar[list[str] | None] = ContextVar("memory_matrix_heard", default=None)
"""What the call that runs here has logged; a task takes it along."""


@contextmanager
def listening() -> Iterator[list[str]]:
    """Yield the errors that are logged during the block, by whatever logger, as they come."""
    errors: list[str] = []
    make = logging.getLogRecordFactory()

    def making(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        if record.levelno >= logging.ERROR:
            said = _said(record)
            errors.append(said)
            heard = _HEARD.get()
            if heard is not None:
                heard.append(said)
        return record

    logging.setLogRecordFactory(making)  # a handler would not see loggers that do not propagate
    try:
        yield errors
    finally:
        logging.setLogRecordFactory(make)


@contextmanager
def of_this_call() -> Iterator[list[str]]:
    """Yield the errors that are logged in the block, on its thread or in the tasks that it starts."""
    heard: list[str] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def _said(record: logging.LogRecord) -> str:
    try:
        text = record.getMessage()
    except Exception:  # noqa: BLE001 - logging itself would only print it
        text = str(record.msg)
    return f"{record.name}: {' '.join(text.split())[:_LONGEST]}"
