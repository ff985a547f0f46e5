"""The adapter for `RedisSession`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_matrix.stores.openai_agents.items import POLICY, PROJECT, items, message, messages
from memory_matrix.stores.protocol import Message, NotOffered, Scope, StoreEnv
from memory_matrix.stores.requiring import required

WITH_EXTRA = f"{PROJECT}[redis]"
_REFUSALS = ("ConnectionError", "TimeoutError", "ReadOnlyError", "OutOfMemoryError", "DataError")
"""What redis-py says of connections and servers, and of values that it does not send."""


@dataclass
class Opened:
    """A client, for sessions that are made when they are used."""

    client: Any
    env: StoreEnv
    owned: bool
    closed: bool = False


class RedisSession:
    """One session object per call, all on one client; the session's id is the scope's session."""

    needs = ("redis",)
    policy = replace(
        POLICY, limit_negative="none", ttl="session", ttl_zero="expired", ttl_fraction="refuse"
    )

    def __init__(self) -> None:
        module = "agents.extensions.memory.redis_session"
        self._session = required(WITH_EXTRA, module, "RedisSession")
        self._client = required(WITH_EXTRA, "redis.asyncio", "Redis")
        own = (required(WITH_EXTRA, "redis.exceptions", error) for error in _REFUSALS)
        self.refusals = (ValueError, TypeError, LookupError, *own)

    def open(self, env: StoreEnv) -> Opened:
        """Return a client of its own.

        Raises:
            ValueError: the time to live is not in whole seconds, all that the library takes.
        """
        if env.ttl is not None and env.ttl != int(env.ttl):
            raise ValueError(f"RedisSession takes whole seconds as a time to live, not {env.ttl}")
        return Opened(self.client(env), env, owned=True)

    def client(self, env: StoreEnv, *, single: bool = False, **options: Any) -> Any:
        """Return a client with redis-py's own `options`; `single`: on one connection."""
        settings = {
            "socket_timeout": env.wait,
            "socket_connect_timeout": env.wait,
            "max_connections": 1 if single else env.pool_size,
            **options,
        }
        pool = required(WITH_EXTRA, "redis.asyncio", "BlockingConnectionPool")
        return self._client(
            connection_pool=pool.from_url(env.redis_url, timeout=env.wait, **settings)
        )

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return sessions on a client of the caller's."""
        return Opened(client, env, owned=False)

    async def client_works(self, client: Any) -> bool:
        """Return whether the client answers."""
        return bool(await client.ping())

    async def close_client(self, client: Any) -> None:
        """Close the client's connections."""
        await client.aclose()
        await client.connection_pool.disconnect()

    async def close(self, store: Opened) -> None:
        """Close the client's connections.

        Raises:
            NotOffered: it was closed before; sessions do not close a client that they share.
        """
        if store.closed:
            raise NotOffered("a RedisSession does not close a client that it was given")
        store.closed = True
        if store.owned:
            await self.close_client(store.client)

    async def append(self, store: Opened, scope: Scope, given: Sequence[Message]) -> None:
        """Add items."""
        await self._of(store, scope).add_items(items(given))

    async def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the items, or the newest."""
        return messages(await self._of(store, scope).get_items(limit=limit))

    async def pop(self, store: Opened, scope: Scope) -> Message | None:
        """Remove and return the newest item."""
        item = await self._of(store, scope).pop_item()
        return None if item is None else message(item)

    async def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the session."""
        await self._of(store, scope).clear_session()

    async def raw_keys(self, store: Opened, scope: Scope) -> list[str]:
        """Return the keys of a session that are there."""
        own = f"{store.env.prefix}:{scope.session}"
        keys = [own, f"{own}:messages", f"{own}:counter"]
        return [key for key in keys if await store.client.exists(key)]

    async def expire_now(self, store: Opened, scope: Scope) -> None:
        """Let the keys of a session expire at once."""
        for key in await self.raw_keys(store, scope):
            await store.client.pexpire(key, 1)

    async def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Cut an item's JSON off."""
        key = f"{store.env.prefix}:{scope.session}:messages"
        await store.client.lset(key, index, "{not json")

    def _of(self, store: Opened, scope: Scope) -> Any:
        ttl = None if store.env.ttl is None else int(store.env.ttl)
        return self._session(
            scope.session, redis_client=store.client, key_prefix=store.env.prefix, ttl=ttl
        )
