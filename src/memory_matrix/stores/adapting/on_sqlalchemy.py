"""SQLAlchemy, for the adapters of libraries that are built on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memory_matrix.stores.adapting.on_postgres import connect_timeout
from memory_matrix.stores.adapting.requiring import refusals, required
from memory_matrix.stores.protocol import StoreEnv

_SETTING = re.compile(r"-c\s*([\w.]+)=(\S*)")
_REFUSALS = ("OperationalError", "InterfaceError", "TimeoutError")
"""What it says of connections and servers; what it says of a statement is no refusal."""


class SqlAlchemy:
    """What an adapter needs of SQLAlchemy, which the PyPI project `project` brings.

    `more` are names of more of its errors by which the library refuses.
    """

    def __init__(self, project: str, *more: str) -> None:
        self.text = required(project, "sqlalchemy", "text")
        self._url = required(project, "sqlalchemy.engine", "make_url")
        self._error = required(project, "sqlalchemy.exc", "DBAPIError")
        own = refusals(project, "sqlalchemy.exc", *_REFUSALS, *more)
        self.refusals = (ConnectionError, *own)

    def on_asyncpg(self, env: StoreEnv) -> tuple[Any, dict[str, Any]]:
        """Return the URL of `env` for asyncpg, and what an engine takes besides."""
        url = self._url(env.postgres_dsn)
        settings = dict(_SETTING.findall(url.query.get("options", "")))
        settings["application_name"] = url.query.get("application_name", "")
        own = url.set(drivername="postgresql+asyncpg").difference_update_query(
            ["options", "application_name"]
        )
        return own, _pool(env, {"server_settings": settings, "timeout": env.wait})

    def on_psycopg(self, env: StoreEnv, driver: str = "psycopg") -> tuple[Any, dict[str, Any]]:
        """Return the URL of `env` for psycopg, or psycopg2, and what an engine takes besides."""
        url = self._url(env.postgres_dsn).set(drivername=f"postgresql+{driver}")
        return url, _pool(env, {"connect_timeout": connect_timeout(env)})

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Make calls.

        Raises:
            ConnectionError: SQLAlchemy says that the connection is gone.
        """
        try:
            yield
        except self._error as error:
            if error.connection_invalidated:
                raise ConnectionError(str(error.orig)) from error
            raise


class OnEngine:
    """An adapter for a library whose caller has an engine."""

    _sqlalchemy: SqlAlchemy

    def client_works(self, client: Any) -> bool:
        """Return whether the engine answers."""
        with client.connect() as connection:
            return bool(connection.scalar(self._sqlalchemy.text("SELECT true")))

    def close_client(self, client: Any) -> None:
        """Close the engine's connections."""
        client.dispose()


class OnAsyncEngine:
    """The same for an engine whose calls are awaited."""

    _sqlalchemy: SqlAlchemy

    async def client_works(self, client: Any) -> bool:
        """Return whether the engine answers."""
        async with client.connect() as connection:
            return bool(await connection.scalar(self._sqlalchemy.text("SELECT true")))

    async def close_client(self, client: Any) -> None:
        """Close the engine's connections."""
        await client.dispose()


def _pool(env: StoreEnv, connecting: dict[str, Any]) -> dict[str, Any]:
    return {
        "pool_size": env.pool_size,
        "max_overflow": 0,
        "pool_timeout": env.wait,
        "connect_args": connecting,
    }
