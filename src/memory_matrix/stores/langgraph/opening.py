"""How LangGraph's objects are opened: as context managers, such as `from_conn_string` gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
)
from typing import Any

from memory_matrix.stores.adapting.opening import AsyncOpened, Opened
from memory_matrix.stores.protocol import StoreEnv


class Entered(ABC):
    """An adapter for what a context manager gives."""

    def open(self, env: StoreEnv) -> Opened:
        """Return a store with connections of its own."""
        return entered(self._opening(env), env)

    def setup(self, store: Opened) -> None:
        """Make the tables or the indexes."""
        store.library.setup()

    def close(self, store: Opened) -> None:
        """Close the connections."""
        store.closing.close()

    @abstractmethod
    def _opening(self, env: StoreEnv) -> AbstractContextManager[Any]:
        """Return what gives the library's object on connections of its own."""


class AsyncEntered(ABC):
    """An adapter for what an async context manager gives."""

    async def open(self, env: StoreEnv) -> AsyncOpened:
        """Return a store with connections of its own."""
        async with AsyncExitStack() as stack:
            library = await stack.enter_async_context(self._opening(env))
            return AsyncOpened(env, library, closing=stack.pop_all())

    async def setup(self, store: AsyncOpened) -> None:
        """Make the tables."""
        await store.library.setup()

    async def close(self, store: AsyncOpened) -> None:
        """Close the connections."""
        await store.closing.aclose()

    @abstractmethod
    def _opening(self, env: StoreEnv) -> AbstractAsyncContextManager[Any]:
        """Return what gives the library's object on connections of its own."""


def entered(opening: AbstractContextManager[Any], env: StoreEnv) -> Opened:
    """Return what a context manager gives, which is left when the store is closed."""
    with ExitStack() as stack:
        return Opened(env, stack.enter_context(opening), closing=stack.pop_all())
