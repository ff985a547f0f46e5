"""An event loop in a thread of its own, for what has to go on whatever a store's calls do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_LONGEST = 30.0


class Background:
    """Runs coroutines beside everything else in the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` returns, from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_LONGEST)

    def close(self) -> None:
        """End all tasks, and the thread."""
        if not self._loop.is_closed():
            self.run(_end_tasks())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_LONGEST)
            self._loop.close()


async def _end_tasks() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
