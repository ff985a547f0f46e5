"""What an adapter's `open` returns, and how a store on a client is opened and closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from memory_matrix.stores.protocol import NotOffered, StoreEnv

_NO_CLOSE = "the library closes no client that it was given"


@dataclass
class Opened:
    """What the calls of a plain adapter are made on."""

    env: StoreEnv
    library: Any = None
    """The library's object, where one is there for all calls."""
    client: Any = None
    """What such objects are made on, where each call makes one."""
    closing: ExitStack = field(default_factory=ExitStack)
    """What is left when it is closed."""
    closed: bool = False


@dataclass
class AsyncOpened:
    """The same of an async adapter."""

    env: StoreEnv
    library: Any = None
    client: Any = None
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)
    closed: bool = False


Store: TypeAlias = Opened | AsyncOpened


class OnClient(ABC):
    """An adapter for what a caller's client is given to, and which does not close it."""

    @abstractmethod
    def client(self, env: StoreEnv) -> Any:
        """Return a client as a caller has one."""

    @abstractmethod
    def close_client(self, client: Any) -> None:
        """Close the client's connections."""

    def open(self, env: StoreEnv) -> Opened:
        """Return a store on a client of its own."""
        with ExitStack() as stack:
            client = self.client(env)
            stack.callback(self.close_client, client)
            store = self.open_with(env, client)
            store.closing = stack.pop_all()
            return store

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a store on a client of the caller's."""
        return Opened(env, client=client)

    def close(self, store: Opened) -> None:
        """Close the client, if it is the store's own.

        Raises:
            NotOffered: it was closed before; the library has nothing that does this.
        """
        _close_once(store)
        store.closing.close()


class AsyncOnClient(ABC):
    """The same with calls that are awaited."""

    @abstractmethod
    def client(self, env: StoreEnv) -> Any:
        """Return a client as a caller has one."""

    @abstractmethod
    async def close_client(self, client: Any) -> None:
        """Close the client's connections."""

    def open(self, env: StoreEnv) -> AsyncOpened:
        """Return a store on a client of its own; it connects when it is used."""
        store = self.open_with(env, self.client(env))
        store.closing.push_async_callback(self.close_client, store.client)
        return store

    def open_with(self, env: StoreEnv, client: Any) -> AsyncOpened:
        """Return a store on a client of the caller's."""
        return AsyncOpened(env, client=client)

    async def close(self, store: AsyncOpened) -> None:
        """Close the client, if it is the store's own.

        Raises:
            NotOffered: it was closed before; the library has nothing that does this.
        """
        _close_once(store)
        await store.closing.aclose()


def _close_once(store: Store) -> None:
    if store.closed:
        raise NotOffered(_NO_CLOSE)
    store.closed = True
