"""What memory-matrix needs to know of `Chat`."""

from chat import Chat, ChatError, HalfChat

from memory_matrix.stores import Message, Policy


class ChatAdapter:
    needs = ("postgres",)
    policy = Policy(message_fields=("role", "text", "metadata"), nul="keep", surrogate="keep")
    refusals = (ChatError, TypeError, ValueError)
    store_class = Chat

    def open(self, env):
        return self.store_class(env.postgres_dsn)

    def setup(self, store):
        store.set_up()

    def append(self, store, scope, messages):
        bodies = [{"role": m.role, "text": m.text, "metadata": m.metadata} for m in messages]
        store.add(scope.session, bodies)

    def read(self, store, scope):
        return [Message(**body) for body in store.history(scope.session)]

    def clear(self, store, scope):
        store.forget(scope.session)


class HalfChatAdapter(ChatAdapter):
    store_class = HalfChat
