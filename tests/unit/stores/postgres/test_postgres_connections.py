"""Connecting, where a task is cancelled meanwhile."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import psycopg
import pytest

from memory_matrix.stores.postgres import connections


class Connection:
    closed = False

    async def close(self) -> None:
        self.closed = True


def connecting(monkeypatch: pytest.MonkeyPatch) -> Connection:
    """Let connecting take until it is cancelled, and lose that, as `asyncio.wait_for` may."""
    made = Connection()

    async def connect(*_: Any, **__: Any) -> Connection:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return made
        raise AssertionError

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", connect)
    return made


@pytest.mark.skipif(sys.version_info < (3, 11), reason="nothing tells it before 3.11")
def test_a_task_that_was_cancelled_while_it_connected_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    made = connecting(monkeypatch)

    async def main() -> bool:
        attempts = connections._Attempts({}, 1.0)
        task = asyncio.ensure_future(
            connections.AsyncBoundedConnection.connect("", attempts=attempts)
        )
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
    assert made.closed
