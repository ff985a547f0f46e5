"""What the adapters of histories with a search index share: one history object for each session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from memory_matrix.stores.protocol import NotOffered, Scope, StoreEnv
from memory_matrix.stores.redis_clients import RedisClients
from memory_matrix.stores.requiring import required


@dataclass
class Opened:
    """A client, and the history objects on it, which are kept as an application keeps them."""

    client: Any
    env: StoreEnv
    histories: dict[str, Any] = field(default_factory=dict)
    closing: ExitStack = field(default_factory=ExitStack)
    closed: bool = False


class Histories(RedisClients, ABC):
    """One history object per session, all on one client; the session is the scope's."""

    own_database = True  # where search indexes are

    def __init__(self) -> None:
        self.refusals = self._refusals(required(self.project, "redisvl.exceptions", "RedisVLError"))

    def open(self, env: StoreEnv) -> Opened:
        """Return a client of its own."""
        store = self.open_with(env, self.client(env))
        store.closing.callback(self.close_client, store.client)
        return store

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return histories on a client of the caller's."""
        return Opened(client, env)

    def close(self, store: Opened) -> None:
        """Close the client's connections.

        Raises:
            NotOffered: it was closed before; histories do not close a client that they were given.
        """
        if store.closed:
            raise NotOffered("a history does not close a client that it was given")
        store.closed = True
        store.closing.close()

    def _of(self, store: Opened, scope: Scope) -> Any:
        """Return the session's history object; making the first one makes the index."""
        if scope.session not in store.histories:
            store.histories[scope.session] = self._made(store, scope.session)
        return store.histories[scope.session]

    @abstractmethod
    def _made(self, store: Opened, session: str) -> Any:
        """Return a new history object."""
