"""Adapters for LangGraph's Postgres checkpointers: each checkpoint of a thread is one message.

The session is the thread_id, the namespace the checkpoint_ns, and a handle is the config of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from typing import Any

from memory_matrix.stores.langgraph import checkpoints
from memory_matrix.stores.langgraph.checkpoints import Config
from memory_matrix.stores.langgraph.connections import (
    PROJECT,
    Opened,
    conn_string,
    refusals,
    rows,
)
from memory_matrix.stores.protocol import Message, RawRow, Scope, StoreEnv
from memory_matrix.stores.requiring import required

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

POLICY = replace(
    checkpoints.POLICY,
    nul="keep",  # of a message, which is a blob
    surrogate="keep",
    non_string_keys="text",
    loops="one",  # the async one takes that which it is made on
    connection="single",
)

Open = Opened[ExitStack]
AsyncOpen = Opened[AsyncExitStack]


class _Saver:
    """What a plain and an async saver share."""

    needs = ("postgres",)
    policy = POLICY
    _module: str
    _name: str

    def __init__(self) -> None:
        self._saver = required(PROJECT, self._module, self._name)
        self._empty = checkpoints.empty_checkpoint()
        self.refusals = refusals()

    def tables(self, store: Any) -> list[str]:
        """Return the tables that hold threads."""
        return list(TABLES)

    def raw_rows(self, store: Open | AsyncOpen, scope: Scope) -> list[RawRow]:
        """Return the rows of a thread."""
        return rows(store.env, TABLES, "thread_id", scope.session)


class PostgresSaver(_Saver):
    """`PostgresSaver.from_conn_string`: one connection, as the library's documentation begins."""

    _module = "langgraph.checkpoint.postgres"
    _name = "PostgresSaver"

    def __init__(self) -> None:
        super().__init__()
        deletes = hasattr(self._saver, "delete_thread")
        self.clear: Callable[[Open, Scope], None] | None = _clear if deletes else None

    @property
    def twin(self) -> AsyncPostgresSaver:
        """The async saver."""
        return AsyncPostgresSaver()

    def open(self, env: StoreEnv) -> Open:
        """Return a saver with a connection of its own."""
        with ExitStack() as stack:
            saver = stack.enter_context(self._saver.from_conn_string(conn_string(env)))
            return Opened(saver, env, stack.pop_all())

    def setup(self, store: Open) -> None:
        """Run the migrations."""
        store.library.setup()

    def close(self, store: Open) -> None:
        """Close the connection."""
        store.stack.close()

    def append(self, store: Open, scope: Scope, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after the newest that is there."""
        if messages:
            self.append_with(store, self.load(store, scope), messages)

    def read(self, store: Open, scope: Scope, *, limit: int | None = None) -> list[Message]:
        """Return the checkpoints, which the library lists newest first."""
        return checkpoints.oldest_first(store.library.list(checkpoints.config(scope), limit=limit))

    def load(self, store: Open, scope: Scope) -> Config:
        """Return the config of the newest checkpoint."""
        return checkpoints.config_of(store.library.get_tuple(checkpoints.config(scope)), scope)

    def append_with(self, store: Open, handle: Config, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after that of a config."""
        for arguments in checkpoints.puts(store.library, self._empty, messages):
            handle = store.library.put(handle, *arguments)


class PooledPostgresSaver(PostgresSaver):
    """`PostgresSaver` on a pool of psycopg, which checks a connection before it hands it out."""

    policy = replace(POLICY, connection="pool")

    def open(self, env: StoreEnv) -> Open:
        """Return a saver with a pool of its own."""
        with ExitStack() as stack:
            pool = stack.enter_context(open_pool(env))
            return Opened(self._saver(pool), env, stack.pop_all())


class AsyncPostgresSaver(_Saver):
    """`AsyncPostgresSaver.from_conn_string`."""

    _module = "langgraph.checkpoint.postgres.aio"
    _name = "AsyncPostgresSaver"

    def __init__(self) -> None:
        super().__init__()
        deletes = hasattr(self._saver, "adelete_thread")
        self.clear: Callable[[AsyncOpen, Scope], Any] | None = _aclear if deletes else None

    @property
    def twin(self) -> PostgresSaver:
        """The plain saver."""
        return PostgresSaver()

    async def open(self, env: StoreEnv) -> AsyncOpen:
        """Return a saver with a connection of its own."""
        async with AsyncExitStack() as stack:
            opening = self._saver.from_conn_string(conn_string(env))
            return Opened(await stack.enter_async_context(opening), env, stack.pop_all())

    async def setup(self, store: AsyncOpen) -> None:
        """Run the migrations."""
        await store.library.setup()

    async def close(self, store: AsyncOpen) -> None:
        """Close the connection."""
        await store.stack.aclose()

    async def append(self, store: AsyncOpen, scope: Scope, messages: Sequence[Message]) -> None:
        """Put one checkpoint per message, after the newest that is there."""
        if messages:
            await self.append_with(store, await self.load(store, scope), messages)

    async def read(
        self, store: AsyncOpen, scope: Scope, *, limit: int | None = None
    ) -> list[Message]:
        """Return the checkpoints, which the library lists newest first."""
        listed = store.library.alist(checkpoints.config(scope), limit=limit)
        return checkpoints.oldest_first([each async for each in listed])

    async def load(self, store: AsyncOpen, scope: Scope) -> Config:
        """Return the config of the newest checkpoint."""
        return checkpoints.config_of(
            await store.library.aget_tuple(checkpoints.config(scope)), scope
        )

    async def append_with(
        self, store: AsyncOpen, handle: Config, messages: Sequence[Message]
    ) -> None:
        """Put one checkpoint per message, after that of a config."""
        for arguments in checkpoints.puts(store.library, self._empty, messages):
            handle = await store.library.aput(handle, *arguments)


def open_pool(env: StoreEnv, **more: Any) -> Any:
    """Return a pool with the settings that the library asks for; `more` are psycopg's own."""
    pool = required(PROJECT, "psycopg_pool", "ConnectionPool")
    return pool(
        env.postgres_dsn,
        min_size=1,
        max_size=env.pool_size,
        timeout=env.wait,
        check=pool.check_connection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": required(PROJECT, "psycopg.rows", "dict_row"),
            **more,
        },
    )


def _clear(store: Open, scope: Scope) -> None:
    store.library.delete_thread(scope.session)


async def _aclear(store: AsyncOpen, scope: Scope) -> None:
    await store.library.adelete_thread(scope.session)
