"""A store that appends and reads, and so is asked little by the suite."""

import json

from redis import Redis, RedisError

from memory_matrix.stores import Message, Policy


class Adapter:
    needs = ("redis",)
    policy = Policy(message_fields=("role", "text"), nul="keep", surrogate="keep")
    refusals = (RedisError, TypeError, ValueError)

    def open(self, env):
        return Redis.from_url(env.redis_url, socket_timeout=3), env.prefix

    def close(self, store):
        store[0].close()

    def append(self, store, scope, messages):
        client, prefix = store
        rows = [json.dumps([message.role, message.text]) for message in messages]
        if rows:
            client.rpush(_key(prefix, scope), *rows)

    def read(self, store, scope):
        client, prefix = store
        rows = map(json.loads, client.lrange(_key(prefix, scope), 0, -1))
        return [Message(role=role, text=text) for role, text in rows]


def _key(prefix, scope):
    if not isinstance(scope.session, str):
        raise TypeError(f"a session is named by a string, not by {scope.session!r}")
    return f"{prefix}{scope.session}".encode()
