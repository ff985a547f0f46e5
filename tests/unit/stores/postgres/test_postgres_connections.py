"""What happens to a pool whose loop ends."""

from __future__ import annotations

import asyncio
import sys

import pytest

from memory_matrix.stores.postgres.connections import _Pool


class Connecting:
    """A task that, as one that connects, takes being cancelled for a failed attempt."""

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def run(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return


@pytest.mark.skipif(sys.version_info < (3, 11), reason="nothing tells it before 3.11")
def test_a_worker_that_is_cancelled_while_it_connects_ends() -> None:
    async def main() -> bool:
        tasks: asyncio.Queue[Connecting] = asyncio.Queue()
        task = Connecting()
        tasks.put_nowait(task)
        worker = asyncio.ensure_future(_Pool.worker(tasks))
        await task.began.wait()
        worker.cancel()
        done, _ = await asyncio.wait([worker], timeout=20)
        return bool(done)

    assert asyncio.run(asyncio.wait_for(main(), 60))
