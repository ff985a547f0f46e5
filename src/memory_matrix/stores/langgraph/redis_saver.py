"""The adapter for `RedisSaver`: each checkpoint of a thread is one message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memory_matrix.stores.adapting.on_redis import keys_at, outside
from memory_matrix.stores.adapting.opening import Opened, Store
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.langgraph import checkpoints
from memory_matrix.stores.langgraph.checkpoints import Checkpoints
from memory_matrix.stores.langgraph.opening import entered
from memory_matrix.stores.langgraph.redis_connections import PROJECT, OnRedis, url_of
from memory_matrix.stores.protocol import Message, Scope, StoreEnv


class RedisSaver(OnRedis, Checkpoints):
    """`RedisSaver.from_conn_string`, with prefixes of its own; a read lets a thread live on."""

    policy = replace(
        checkpoints.POLICY,
        nul="keep",  # of a message, which is JSON
        ttl="session",
        ttl_refresh="read",
        ttl_zero="expired",
        sentinel="yes",
    )

    def __init__(self) -> None:
        super().__init__()
        self._saver = required(PROJECT, "langgraph.checkpoint.redis", "RedisSaver")
        self._empty = checkpoints.empty_checkpoint()

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a saver on a client of the caller's."""
        return entered(self._made(env, redis_client=client), env)

    def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the checkpoints as the library lists them; the newest one as graphs get it."""
        if limit != 1:
            return super().read(store, scope, limit=limit)
        newest = store.library.get_tuple(checkpoints.config(scope))
        return checkpoints.oldest_first([] if newest is None else [newest])

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the thread."""
        store.library.delete_thread(scope.session)

    def raw_keys(self, store: Store, scope: Scope) -> list[str]:
        """Return the keys of a thread's checkpoints, and of the pointer to the newest of them."""
        prefix = f"{store.env.prefix}checkpoint"
        pointer = f"{prefix}_latest:{_place(scope)}"
        with outside(store.env) as client:
            found = keys_at(client, f"{prefix}:{_place(scope)}:")
            return [*found, pointer] if client.exists(pointer) else found

    def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Cut a checkpoint's JSON off."""
        with outside(store.env) as client:
            key = keys_at(client, f"{store.env.prefix}checkpoint:{_place(scope)}:")[index]
            client.json().set(key, "$.checkpoint", "{not json")

    def _opening(self, env: StoreEnv) -> Any:
        return self._made(env, redis_url=url_of(env))

    def _made(self, env: StoreEnv, **server: Any) -> Any:
        ttl = None if env.ttl is None else {"default_ttl": env.ttl / 60, "refresh_on_read": True}
        return self._saver.from_conn_string(
            checkpoint_prefix=f"{env.prefix}checkpoint",
            checkpoint_write_prefix=f"{env.prefix}checkpoint_write",
            ttl=ttl,
            **server,
        )


def _place(scope: Scope) -> str:
    """Return what stands for a thread's namespace in keys."""
    return f"{scope.session}:{checkpoints.checkpoint_ns(scope)}"
