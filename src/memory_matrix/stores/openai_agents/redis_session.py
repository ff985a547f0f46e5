"""The adapter for `RedisSession`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memory_matrix.stores.adapting.on_redis import AsyncRedisClients, ExpiringKeys, outside
from memory_matrix.stores.adapting.opening import AsyncOnClient, AsyncOpened, Store
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import whole_ttl
from memory_matrix.stores.openai_agents.items import POLICY, PROJECT, items, message, messages
from memory_matrix.stores.protocol import Message, Scope, StoreEnv


class RedisSession(AsyncRedisClients, AsyncOnClient, ExpiringKeys):
    """One session object per call, all on one client; the session's id is the scope's session."""

    project = f"{PROJECT}[redis]"
    policy = replace(
        POLICY, limit_negative="none", ttl="session", ttl_zero="expired", ttl_fraction="refuse"
    )

    def __init__(self) -> None:
        super().__init__()
        module = "agents.extensions.memory.redis_session"
        self._session = required(self.project, module, "RedisSession")

    def open(self, env: StoreEnv) -> AsyncOpened:
        """Return a store on a client of its own.

        Raises:
            ValueError: the time to live is not in whole seconds, all that the library takes.
        """
        whole_ttl(env)
        return super().open(env)

    async def append(self, store: AsyncOpened, scope: Scope, given: Sequence[Message]) -> None:
        """Add items."""
        await self._of(store, scope).add_items(items(given))

    async def read(
        self, store: AsyncOpened, scope: Scope, *, limit: int | None = None
    ) -> list[Message]:
        """Return the items, or the newest."""
        return messages(await self._of(store, scope).get_items(limit=limit))

    async def pop(self, store: AsyncOpened, scope: Scope) -> Message | None:
        """Remove and return the newest item."""
        item = await self._of(store, scope).pop_item()
        return None if item is None else message(item)

    async def clear(self, store: AsyncOpened, scope: Scope) -> None:
        """Delete the session."""
        await self._of(store, scope).clear_session()

    def raw_keys(self, store: Store, scope: Scope) -> list[str]:
        """Return the keys of a session that are there."""
        own = _key(store, scope)
        with outside(store.env) as client:
            return [key for key in (own, f"{own}:messages", f"{own}:counter") if client.exists(key)]

    def corrupt(self, store: AsyncOpened, scope: Scope, index: int) -> None:
        """Cut an item's JSON off."""
        with outside(store.env) as client:
            client.lset(f"{_key(store, scope)}:messages", index, "{not json")

    def _of(self, store: AsyncOpened, scope: Scope) -> Any:
        return self._session(
            scope.session,
            redis_client=store.client,
            key_prefix=store.env.prefix,
            ttl=whole_ttl(store.env),
        )


def _key(store: Store, scope: Scope) -> str:
    return f"{store.env.prefix}:{scope.session}"
