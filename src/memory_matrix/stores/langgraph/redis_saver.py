"""The adapter for `RedisSaver`: each checkpoint of a thread is one message.

The session is the thread_id, the namespace the checkpoint_ns, and a handle is the config of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from memory_matrix.stores.langgraph import checkpoints
from memory_matrix.stores.langgraph.checkpoints import Config
from memory_matrix.stores.langgraph.redis_connections import (
    PROJECT,
    OnRedis,
    Opened,
    keys_at,
    url_of,
)
from memory_matrix.stores.protocol import Message, Scope, StoreEnv
from memory_matrix.stores.redis_clients import outside
from memory_matrix.stores.requiring import required


class RedisSaver(OnRedis):
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

    def open(self, env: StoreEnv) -> Opened:
        """Return a saver with connections of its own."""
        return self._open(env, redis_url=url_of(env))

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        """Return a saver on a client of the caller's."""
        return self._open(env, redis_client=client)

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after the newest that is there."""
        if messages:
            self.append_with(store, self.load(store, scope), messages)

    def read(self, store: Opened, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the checkpoints as the library lists them; the newest one as graphs get it."""
        config = checkpoints.config(scope)
        if limit == 1:
            newest = store.library.get_tuple(config)
            return checkpoints.oldest_first([] if newest is None else [newest])
        return checkpoints.oldest_first(store.library.list(config, limit=limit))

    def load(self, store: Opened, scope: Scope) -> Config:
        """Return the config of the newest checkpoint."""
        found = store.library.get_tuple(checkpoints.config(scope))
        return checkpoints.config_of(found, scope)

    def append_with(self, store: Opened, handle: Config, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after that of a config."""
        for arguments in checkpoints.puts(store.library, self._empty, messages):
            handle = store.library.put(handle, *arguments)

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the thread."""
        store.library.delete_thread(scope.session)

    def raw_keys(self, store: Opened, scope: Scope) -> list[str]:
        """Return the keys of a thread's checkpoints, and of the pointer to the newest of them."""
        prefix = f"{store.env.prefix}checkpoint"
        pointer = f"{prefix}_latest:{_place(scope)}"
        with outside(store.env) as client:
            found = keys_at(client, f"{prefix}:{_place(scope)}:")
            return [*found, pointer] if client.exists(pointer) else found

    def expire_now(self, store: Opened, scope: Scope) -> None:
        """Let the keys of a thread expire at once."""
        with outside(store.env) as client:
            for key in self.raw_keys(store, scope):
                client.pexpire(key, 1)

    def corrupt(self, store: Opened, scope: Scope, index: int) -> None:
        """Cut a checkpoint's JSON off."""
        with outside(store.env) as client:
            key = keys_at(client, f"{store.env.prefix}checkpoint:{_place(scope)}:")[index]
            client.json().set(key, "$.checkpoint", "{not json")

    def _open(self, env: StoreEnv, **server: Any) -> Opened:
        ttl = None if env.ttl is None else {"default_ttl": env.ttl / 60, "refresh_on_read": True}
        with ExitStack() as stack:
            opening = self._saver.from_conn_string(
                checkpoint_prefix=f"{env.prefix}checkpoint",
                checkpoint_write_prefix=f"{env.prefix}checkpoint_write",
                ttl=ttl,
                **server,
            )
            return Opened(stack.enter_context(opening), env, stack.pop_all())


def _place(scope: Scope) -> str:
    """Return what stands for a thread's namespace in keys."""
    return f"{scope.session}:{checkpoints.checkpoint_ns(scope)}"
