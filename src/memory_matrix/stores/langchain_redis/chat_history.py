"""The adapter for `RedisChatMessageHistory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_matrix.stores.langchain_messages import LangChainMessages, message
from memory_matrix.stores.policy import Policy
from memory_matrix.stores.protocol import Message, Scope, StoreEnv
from memory_matrix.stores.redis_clients import outside
from memory_matrix.stores.redisvl.histories import Histories, Opened
from memory_matrix.stores.requiring import required


class RedisChatMessageHistory(Histories):
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
        """Return a client of its own.

        Raises:
            ValueError: the time to live is not in whole seconds, all that the library takes.
        """
        if env.ttl is not None and env.ttl != int(env.ttl):
            raise ValueError(f"a time to live is in whole seconds, not {env.ttl}")
        return super().open(env)

    def setup(self, store: Opened) -> None:
        """Make a history, and so the index."""
        self._of(store, Scope())

    def append(self, store: Opened, scope: Scope, messages: Sequence[Message]) -> None:
        """Add messages."""
        self._of(store, scope).add_messages([self._messages.written(each) for each in messages])

    def read(self, store: Opened, scope: Scope) -> list[Message]:
        """Return the messages."""
        return [message(each) for each in self._of(store, scope).messages]

    def clear(self, store: Opened, scope: Scope) -> None:
        """Delete the session's messages."""
        self._of(store, scope).clear()

    def count(self, store: Opened, scope: Scope) -> int:
        """Return the number of the session's messages."""
        return len(self._of(store, scope))

    def raw_keys(self, store: Opened, scope: Scope) -> list[str]:
        """Return the keys of a session's messages."""
        with outside(store.env) as client:
            keys = client.scan_iter(match=f"{_key_prefix(store)}*", count=1000)
            return sorted(key for key in keys if _session(client, key) == scope.session)

    def expire_now(self, store: Opened, scope: Scope) -> None:
        """Let the keys of a session expire at once."""
        with outside(store.env) as client:
            for key in self.raw_keys(store, scope):
                client.pexpire(key, 1)

    def _made(self, store: Opened, session: str) -> Any:
        ttl = None if store.env.ttl is None else int(store.env.ttl)
        return self._history(
            session,
            redis_client=store.client,
            key_prefix=_key_prefix(store),
            index_name=f"{store.env.prefix}index",
            ttl=ttl,
        )


def _key_prefix(store: Opened) -> str:
    return f"{store.env.prefix}chat:"


def _session(client: Any, key: str) -> Any:
    """Return the session that a key's message says it is of."""
    return client.json().get(key, "$.session_id")[0]
