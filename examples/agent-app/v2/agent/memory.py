"""How the agent remembers: each kind of memory as bytes, in Redis."""

from __future__ import annotations

import pickle
from typing import Any

from agent.conversation import Conversation
from agent.state import TrackingState
from agent.summary import Summary


class Codec:
    """Turns memory into bytes and back; the first byte says what it is."""

    def dumps(self, value: Any) -> bytes:
        if isinstance(value, Conversation):
            return b"c" + value.model_dump_json().encode()
        if isinstance(value, Summary):
            return b"s" + value.to_json().encode()
        if isinstance(value, TrackingState):
            return b"t" + pickle.dumps(value)
        raise TypeError(f"the agent keeps no {type(value).__name__}")

    def loads(self, data: bytes) -> Any:
        kind, body = data[:1], data[1:]
        if kind == b"c":
            return Conversation.model_validate_json(body)
        if kind == b"s":
            return Summary.from_json(body.decode())
        if kind == b"t":
            return pickle.loads(body)
        raise ValueError(f"no kind of memory begins with {kind!r}")


codec = Codec()


class Memory:
    """The memory of one session; `redis` is a client of redis-py."""

    def __init__(self, redis: Any, session: str) -> None:
        self._redis = redis
        self._session = session

    def save(self, name: str, value: Any) -> None:
        self._redis.hset(f"agent:{self._session}", name, codec.dumps(value))

    def load(self, name: str) -> Any:
        data = self._redis.hget(f"agent:{self._session}", name)
        return None if data is None else codec.loads(data)
