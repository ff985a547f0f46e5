"""Histories with a search index on Redis: an object for each session, all on one client."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from memory_matrix.stores.adapting.on_redis import SearchClients
from memory_matrix.stores.adapting.opening import OnClient, Opened
from memory_matrix.stores.protocol import Scope, StoreEnv


@dataclass
class OpenedHistories(Opened):
    """A client, and the history objects on it, which are kept as an application keeps them."""

    histories: dict[str, Any] = field(default_factory=dict)


class Histories(SearchClients, OnClient):
    """An adapter for one history object per session; the session is the scope's."""

    def open_with(self, env: StoreEnv, client: Any) -> OpenedHistories:
        """Return histories on a client of the caller's."""
        return OpenedHistories(env, client=client)

    def setup(self, store: OpenedHistories) -> None:
        """Make a history, and so the index."""
        self._of(store, Scope())

    def _of(self, store: OpenedHistories, scope: Scope) -> Any:
        """Return the session's history object; making the first one makes the index."""
        if scope.session not in store.histories:
            store.histories[scope.session] = self._made(store, scope.session)
        return store.histories[scope.session]

    @abstractmethod
    def _made(self, store: OpenedHistories, session: str) -> Any:
        """Return a new history object."""
