"""An event loop in a thread of its own, for what has to go on whatever a store's calls do."""

from __future__ import annotations

import asyncio
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_LONGEST = 30.0


class Background:
    """Runs coroutines beside everything else in the process, and ends all connections that they have."""

    def __init__(self) -> None:
        self.clients: set[asyncio.Task[None]] = set()
        """The tasks that attend to clients."""
        self._writers: WeakSet[StreamWriter] = WeakSet()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` returns, from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_LONGEST)

    def attending(
        self, attend: Callable[[StreamReader, StreamWriter], Coroutine[Any, Any, None]]
    ) -> Callable[[StreamReader, StreamWriter], None]:
        """Return what `asyncio.start_server` takes: `attend` in a task, after which is hung up."""

        def admit(reader: StreamReader, writer: StreamWriter) -> None:
            self.keep(writer)
            task = asyncio.create_task(attend(reader, writer))
            self.clients.add(task)
            task.add_done_callback(self.clients.discard)
            # Not in the task itself, which may be cancelled before it begins.
            task.add_done_callback(lambda _: writer.close())

        return admit

    def keep(self, writer: StreamWriter) -> None:
        """End this connection too, at the latest when all ends."""
        self._writers.add(writer)

    def close(self) -> None:
        """End all tasks and connections, and the thread."""
        if not self._loop.is_closed():
            self.run(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_LONGEST)
            self._loop.close()

    async def _end(self) -> None:
        # Again and again, for a client that has just come gets a task meanwhile.
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        for writer in list(self._writers):
            writer.transport.abort()


async def stop_listening(server: asyncio.Server) -> None:
    """Close `server`, to which somebody may be connecting at this moment."""
    loop = asyncio.get_running_loop()
    for each in server.sockets:
        loop.remove_reader(each.fileno())
    # What was accepted has to become a connection, or nothing would close it.
    await asyncio.sleep(0)
    server.close()
