"""What memory-matrix needs to know of `RedisChat`."""

from redis_chat import ChatError, RedisChat

from memory_matrix.stores import Message, Policy


class RedisChatAdapter:
    needs = ("redis",)
    policy = Policy(message_fields=("role", "text", "metadata"), nul="keep", surrogate="keep")
    refusals = (ChatError, TypeError, ValueError)

    def open(self, env):
        return RedisChat(env.redis_url, env.prefix)

    def close(self, store):
        store.close()

    def append(self, store, scope, messages):
        bodies = [{"role": m.role, "text": m.text, "metadata": m.metadata} for m in messages]
        store.add(scope.session, bodies)

    def read(self, store, scope):
        return [Message(**body) for body in store.history(scope.session)]

    def clear(self, store, scope):
        store.forget(scope.session)
