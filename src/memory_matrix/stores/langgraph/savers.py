"""Adapters for LangGraph's Postgres checkpointers: each checkpoint of a thread is one message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from memory_matrix.stores.adapting.on_postgres import OnPostgres
from memory_matrix.stores.adapting.opening import AsyncOpened, Opened
from memory_matrix.stores.adapting.requiring import required
from memory_matrix.stores.langgraph import checkpoints
from memory_matrix.stores.langgraph.checkpoints import Checkpoints, Config
from memory_matrix.stores.langgraph.connections import PROJECT, conn_string, open_pool, refusals
from memory_matrix.stores.langgraph.opening import AsyncEntered, Entered
from memory_matrix.stores.protocol import Message, Scope, StoreEnv

POLICY = replace(
    checkpoints.POLICY,
    nul="keep",  # of a message, which is a blob
    surrogate="keep",
    non_string_keys="text",
    loops="one",  # the async one takes that which it is made on
    connection="single",
)


class _Saver(OnPostgres):
    """What a plain and an async saver share."""

    project = PROJECT
    table_names = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    policy = POLICY
    _module: str
    _name: str

    def __init__(self) -> None:
        self._saver = required(PROJECT, self._module, self._name)
        self._empty = checkpoints.empty_checkpoint()
        self.refusals = refusals()

    def _opening(self, env: StoreEnv) -> Any:
        return self._saver.from_conn_string(conn_string(env))

    def _where(self, scope: Scope) -> dict[str, dict[str, Any]]:
        return {table: {"thread_id": scope.session} for table in self.table_names}


class PostgresSaver(_Saver, Checkpoints, Entered):
    """`PostgresSaver.from_conn_string`: one connection, as the library's documentation begins."""

    _module = "langgraph.checkpoint.postgres"
    _name = "PostgresSaver"

    def __init__(self) -> None:
        super().__init__()
        deletes = hasattr(self._saver, "delete_thread")
        self.clear: Callable[[Opened, Scope], None] | None = _clear if deletes else None

    @property
    def twin(self) -> AsyncPostgresSaver:
        """The async saver."""
        return AsyncPostgresSaver()


class PooledPostgresSaver(PostgresSaver):
    """`PostgresSaver` on a pool of psycopg, which checks a connection before it hands it out."""

    policy = replace(POLICY, connection="pool")

    @contextmanager
    def _opening(self, env: StoreEnv) -> Iterator[Any]:
        with open_pool(env) as pool:
            yield self._saver(pool)


class AsyncPostgresSaver(_Saver, AsyncEntered):
    """`AsyncPostgresSaver.from_conn_string`."""

    _module = "langgraph.checkpoint.postgres.aio"
    _name = "AsyncPostgresSaver"

    def __init__(self) -> None:
        super().__init__()
        deletes = hasattr(self._saver, "adelete_thread")
        self.clear: Callable[[AsyncOpened, Scope], Any] | None = _aclear if deletes else None

    @property
    def twin(self) -> PostgresSaver:
        """The plain saver."""
        return PostgresSaver()

    async def append(self, store: AsyncOpened, scope: Scope, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after the newest that is there."""
        if messages:
            await self.append_with(store, await self.load(store, scope), messages)

    async def read(
        self, store: AsyncOpened, scope: Scope, *, limit: int | None = None
    ) -> list[Message]:
        """Return the checkpoints, which the library lists newest first."""
        listed = store.library.alist(checkpoints.config(scope), limit=limit)
        return checkpoints.oldest_first([each async for each in listed])

    async def load(self, store: AsyncOpened, scope: Scope) -> Config:
        """Return the config of the newest checkpoint."""
        return checkpoints.config_of(
            await store.library.aget_tuple(checkpoints.config(scope)), scope
        )

    async def append_with(
        self, store: AsyncOpened, handle: Config, messages: Sequence[Message]
    ) -> None:
        """Put one checkpoint per message, after that of a config."""
        for arguments in checkpoints.puts(store.library, self._empty, messages):
            handle = await store.library.aput(handle, *arguments)


def _clear(store: Opened, scope: Scope) -> None:
    store.library.delete_thread(scope.session)


async def _aclear(store: AsyncOpened, scope: Scope) -> None:
    await store.library.adelete_thread(scope.session)
