"""The adapter for `RedisChatMessageHistory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_matrix.stores.adapting.histories import Histories, OpenedHistories
from memory_matrix.stores.adapting.langchain_messages import LangChainMessages
from memory_matrix.stores.adapting.on_redis import ExpiringKeys, keys_at, outside
from memory_matrix.stores.adapting.opening import Opened, Store
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.adapting.values import whole_ttl
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Scope, StoreEnv


class RedisChatMessageHistory(Histories, ExpiringKeys):
    """`RedisChatMessageHistory`, with a prefix and an index of its own."""

    project = "langchain-redis"
    policy = Policy(
        message_fields=("role", "text", "metadata", "tool"),
        nul="keep",  # messages are JSON
        non_string_keys="text",
        value_kinds={"tuple": "plain"},
        order="time",
        ttl="session",
        ttl_refresh="never",  # each message has its own
        ttl_fraction="refuse",
    )

    def __init__(self) -> None:
        super().__init__()
        self._history = required(self.project, "langchain_redis", "RedisChatMessageHistory")
        self._messages = LangChainMessages(self.project)

    def open(self, env: StoreEnv) -> Opened:
        """Return a store on a client of its own.

        Raises:
            ValueError: the time to live is not in whole seconds, all that the library takes.
        """
        whole_ttl(env)
        return super().open(env)

    def append(self, store: OpenedHistories, scope: Scope, messages: Sequence[Message]) -> None:
        """Add messages."""
        self._of(store, scope).add_messages(self._messages.written(messages))

    def read(self, store: OpenedHistories, scope: Scope) -> list[Message]:
        """Return the messages."""
        return self._messages.read(self._of(store, scope).messages)

    def clear(self, store: OpenedHistories, scope: Scope) -> None:
        """Delete the session's messages."""
        self._of(store, scope).clear()

    def count(self, store: OpenedHistories, scope: Scope) -> int:
        """Return the number of the session's messages."""
        return len(self._of(store, scope))

    def raw_keys(self, store: Store, scope: Scope) -> list[str]:
        """Return the keys of a session's messages."""
        with outside(store.env) as client:
            keys = keys_at(client, _key_prefix(store.env))
            return [key for key in keys if _session(client, key) == scope.session]

    def _made(self, store: OpenedHistories, session: str) -> Any:
        return self._history(
            session,
            redis_client=store.client,
            key_prefix=_key_prefix(store.env),
            index_name=f"{store.env.prefix}index",
            ttl=whole_ttl(store.env),
        )


def _key_prefix(env: StoreEnv) -> str:
    return f"{env.prefix}chat:"


def _session(client: Any, key: str) -> Any:
    """Return the session that a key's message says it is of."""
    return client.json().get(key, "$.session_id")[0]
