"""A schema, or a database, of its own for each test on one Postgres server.

The ladder, cheapest first: a transaction that is rolled back (`rolled_back`), a schema made in one
round trip (`schema`), a clone of a prepared database (`database`). On a server of the run's own nothing
is dropped, for it goes with the server; on one given by URL all that the run made is dropped by `clean`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from memory_matrix.isolation.names import new_token, run_token

_PREPARING = 0x6D656D  # any number: the key of the lock under which templates are made


@dataclass(frozen=True)
class Place:
    """Where one test may do what it likes."""

    dsn: str
    """A libpq URL for the test's own schema and under its own application_name."""
    schema: str
    application: str


class PostgresIsolation:
    """Makes places on one server, through one connection of its own. Thread-safe."""

    def __init__(self, url: str, *, owned: bool) -> None:
        self.url = url
        self.owned = owned
        self._lock = threading.Lock()
        self._admin: psycopg.Connection[Any] | None = None
        self._templates: dict[str, str] = {}

    def schema(self, ddl: str = "", *, url: str | None = None) -> Place:
        """Return a new schema that holds what `ddl` makes, in one round trip."""
        name = f"mm_{run_token()}_{new_token(4)}"
        statements = f'CREATE SCHEMA "{name}";'
        if ddl:
            statements += f'SET search_path TO "{name}", public; {ddl}; RESET search_path;'
        self.execute(statements)
        return _place(url or self.url, name)

    def database(self, ddl: str = "") -> Place:
        """Return a new database, cloned from a template that holds the extension and what `ddl` makes."""
        name = f"mm_{run_token()}_{new_token(4)}"
        template = self._template(ddl)
        self._create_database(name, template)
        return _place(with_database(self.url, name), "public", name)

    @contextmanager
    def rolled_back(self, place: Place) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection in a transaction that is rolled back when the block is left."""
        with psycopg.connect(place.dsn) as connection:
            try:
                yield connection
            finally:
                connection.rollback()

    def execute(self, statement: str, parameters: tuple[Any, ...] | None = None) -> list[Any]:
        """Run `statement` as the server's owner and return its rows; of several those of the last."""
        with self._lock:
            cursor = self._connection().execute(statement.encode(), parameters)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []

    def prepare(self) -> bool:
        """Make the vector extension in `public`, on a server of the run's own; return whether it is there."""
        if self.owned:
            self._add_extension()
        return bool(self.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'"))

    def clean(self) -> None:
        """Drop all schemas and databases that this run made."""
        pattern = rf"mm\_{run_token()}\_%"
        for (name,) in self.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", (pattern,)
        ):
            self.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
        for (name,) in self.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE %s", (pattern,)
        ):
            self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._admin is not None:
                self._admin.close()
                self._admin = None

    def _connection(self) -> psycopg.Connection[Any]:
        if self._admin is None or self._admin.closed:
            self._admin = psycopg.connect(
                self.url, autocommit=True, connect_timeout=10, application_name="memory-matrix"
            )
        return self._admin

    def _add_extension(self) -> None:
        available = self.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if available:
            # Workers do this at once, and IF NOT EXISTS does not wait for the others.
            self.execute(
                f"SELECT pg_advisory_lock({_PREPARING}); "
                "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public; "
                f"SELECT pg_advisory_unlock({_PREPARING})"
            )

    def _template(self, ddl: str) -> str:
        if ddl not in self._templates:
            name = f"mm_{run_token()}_{new_token(4)}"
            self._create_database(name, "template1")
            with psycopg.connect(with_database(self.url, name), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                if ddl:
                    connection.execute(ddl.encode())
            self._templates[ddl] = name
        return self._templates[ddl]

    def _create_database(self, name: str, template: str) -> None:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
            sql.Identifier(name), sql.Identifier(template)
        )
        self.execute(statement.as_string(None))


def with_database(url: str, name: str) -> str:
    """Return `url` for the database `name` of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{quote(name)}"))


def with_parameters(url: str, *, application: str, settings: dict[str, str]) -> str:
    """Return `url` with an application_name, and server settings added to its `options`."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    options = [query["options"]] if "options" in query else []
    options += [f"-c{name}={value}" for name, value in settings.items()]
    query |= {"application_name": application, "options": " ".join(options)}
    return urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))


def _place(url: str, schema: str, application: str | None = None) -> Place:
    own = application or schema
    settings = {"search_path": f"{schema},public" if schema != "public" else "public"}
    return Place(with_parameters(url, application=own, settings=settings), schema, own)
