"""What memory-matrix needs to know of `AsyncRedisChat`."""

from async_chat import AsyncRedisChat
from redis_chat import ChatError

from memory_matrix.stores import Message, Policy


class AsyncRedisChatAdapter:
    needs = ("redis",)
    policy = Policy(
        message_fields=("role", "text", "metadata"),
        nul="keep",
        surrogate="keep",
        loops="one",
        threads="refuse",
        ttl="session",
    )
    refusals = (ChatError, TypeError, ValueError)

    def open(self, env):
        return AsyncRedisChat(env.redis_url, env.prefix, env.ttl)

    async def close(self, store):
        await store.close()

    async def append(self, store, scope, messages):
        bodies = [{"role": m.role, "text": m.text, "metadata": m.metadata} for m in messages]
        await store.add(scope.session, bodies)

    async def read(self, store, scope):
        return [Message(**body) for body in await store.history(scope.session)]

    async def clear(self, store, scope):
        await store.forget(scope.session)
