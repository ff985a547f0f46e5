"""A schema, or a database, of its own for each test on one Postgres server.

The ladder, cheapest first: a schema that tests share, each in a transaction that is rolled back
(`shared`), a schema of the test's own (`schema`), a clone of a prepared database (`database`). What takes
time to make is made ahead, on a connection of its own, while a test runs.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import errors, sql

from memory_matrix.errors import UnavailableError
from memory_matrix.isolation.names import new_token
from memory_matrix.isolation.stock import PATIENCE, Stock

_PREPARING = 0x6D656D  # any number: the key of the lock under which the extension is made
_SCHEMAS_KEPT = 300
"""Schemas that tests are done with, before the first is dropped: a server of the run's own goes anyway."""
_KEPT_ELSEWHERE = 10
_SCHEMAS_AHEAD = 4
_DATABASES_AHEAD = 1  # each is some 7 MB in a thousand files
_STOCKS = 4
"""Kinds of places that are made ahead, each by a thread and on a connection of its own."""
_COPIES_FILES_SINCE = 150000
_LACKS = (errors.UndefinedObject, errors.UndefinedFile, errors.FeatureNotSupported)
_GONE = (psycopg.OperationalError, psycopg.InterfaceError)


@dataclass(frozen=True)
class Place:
    """Where one test may do what it likes."""

    dsn: str
    """A libpq URL for the test's own schema and under its own application_name."""
    schema: str
    application: str


class PostgresIsolation:
    """Makes places on one server. Thread-safe.

    What it makes is named after the run's `token`, so that `clean` finds it.
    """

    def __init__(self, url: str, *, owned: bool, token: str | None = None) -> None:
        self.url = url
        self.owned = owned
        self._token = token or new_token()
        self._schemas_kept = _SCHEMAS_KEPT if owned else _KEPT_ELSEWHERE
        self._admin = _Line(url)
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._stack.callback(self._admin.close)
        self._stocks: dict[tuple[str, str], Stock] = {}
        self._stock_of: dict[str, Stock] = {}
        self._left: deque[str] = deque()
        self._shared: dict[str, Place] = {}

    def schema(self, ddl: str = "") -> Place:
        """Return a new schema that holds what `ddl` makes.

        Raises:
            UnavailableError: the server is gone, or refuses the `ddl`.
        """
        stock = self._stock("schema", ddl) if ddl else None
        return _place(self.url, self._taken(stock) or self._new_schema(self._admin, ddl))

    def database(self, ddl: str = "") -> Place:
        """Return a new database that holds what `ddl` makes, and the vector extension if there is one.

        Raises:
            UnavailableError: the server is gone, or refuses the `ddl`, or a new database.
        """
        name = self._taken(self._stock("database", ddl)) or self._new_template(ddl)
        return _place(with_database(self.url, name), "public", name)

    def shared(self, ddl: str = "") -> Place:
        """Return the schema that holds what `ddl` makes, for tests that roll back what they do.

        Raises:
            UnavailableError: the server is gone, or refuses the `ddl`.
        """
        with self._lock:
            if ddl not in self._shared:
                self._shared[ddl] = _place(self.url, self._new_schema(self._admin, ddl))
            return self._shared[ddl]

    def inside(self, place: Place) -> PostgresIsolation:
        """Return what makes places in a database that `database` made; closed by the caller."""
        url = with_database(self.url, place.application)
        return PostgresIsolation(url, owned=self.owned, token=self._token)

    def leave(self, place: Place) -> None:
        """Take back what a test is done with; it is dropped sooner or later."""
        name = place.application
        if stock := self._stock_of.pop(name, None):
            stock.give_back(name)
            return
        self._left.append(name)
        if len(self._left) > self._schemas_kept:
            self._drop_oldest()

    def execute(self, statement: str, parameters: tuple[Any, ...] | None = None) -> list[Any]:
        """Run `statement` as the server's owner and return its rows; of several those of the last."""
        return self._admin.run(statement, parameters)

    def prepare(self) -> bool:
        """Make the vector extension in `public`, on a server of the run's own; return whether it is there.

        Raises:
            UnavailableError: the server is gone.
        """
        with _told():
            if self.owned:
                self._add_extension()
            return bool(self.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'"))

    def clean(self) -> None:
        """Drop all schemas and databases that this run made, and end the connections to them."""
        pattern = (rf"mm\_{self._token}\_%",)
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE %s AND usename = current_user",
            pattern,
        )
        found = self.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", pattern)
        for (name,) in found:
            self.execute(_drop_schema(name))
        found = self.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", pattern)
        for (name,) in found:
            self.execute(_drop_database(name))

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._stack.close()
            self._stocks.clear()

    def _drop_oldest(self) -> None:
        name = self._left.popleft()
        with contextlib.suppress(psycopg.Error):  # what is left goes in the end
            self._admin.run(_drop_schema(name))
            self._admin.run(_drop_database(name))

    def _stock(self, kind: str, ddl: str) -> Stock | None:
        with self._lock:
            if (kind, ddl) not in self._stocks and len(self._stocks) < _STOCKS:
                make_stock = self._schemas if kind == "schema" else self._databases
                self._stocks[kind, ddl] = make_stock(ddl)
            return self._stocks.get((kind, ddl))

    def _taken(self, stock: Stock | None) -> str | None:
        """Return what is in stock, None where there is no stock of it."""
        if stock is None:
            return None
        name = stock.take()
        self._stock_of[name] = stock
        return name

    def _schemas(self, ddl: str) -> Stock:
        # Nothing is lost by an early answer: what a test commits afterwards goes to disk after it.
        line = self._line("synchronous_commit=off")
        return self._stocked(
            make=lambda: self._new_schema(line, ddl),
            drop=lambda name: line.run(_drop_schema(name)),
            ahead=_SCHEMAS_AHEAD,
            keep=self._schemas_kept,
        )

    def _databases(self, ddl: str) -> Stock:
        line, template = self._line(), self._new_template(ddl)
        return self._stocked(
            make=lambda: self._new_database(line, template),
            drop=lambda name: line.run(_drop_database(name)),
            ahead=_DATABASES_AHEAD,
            keep=0,
        )

    def _stocked(
        self, make: Callable[[], str], drop: Callable[[str], object], *, ahead: int, keep: int
    ) -> Stock:
        stock = Stock(make, drop, ahead=ahead, keep=keep, quietly=(psycopg.Error,))
        self._stack.callback(stock.close)
        return stock

    def _line(self, *settings: str) -> _Line:
        line = _Line(self.url, *settings)
        self._stack.callback(line.close)
        return line

    def _new_schema(self, line: _Line, ddl: str) -> str:
        """Make a schema in one round trip, and return its name."""
        name = self._new_name()
        statements = f'CREATE SCHEMA "{name}";'
        if ddl:
            statements += f'SET search_path TO "{name}", public;\n{ddl}\n;RESET search_path;'
        with _told(ddl):
            line.run(statements)
        return name

    def _new_template(self, ddl: str) -> str:
        with _told(ddl):
            name = self._new_database(self._admin, "template1")
            with psycopg.connect(with_database(self.url, name), autocommit=True) as connection:
                if self._admin.run("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
                    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                if ddl:
                    connection.execute(ddl.encode())
        return name

    def _new_database(self, line: _Line, template: str) -> str:
        name = self._new_name()
        with _told():
            # Writing all of a template to the log is slow; copying its files makes a checkpoint,
            # which is nobody's business on a server of others.
            copies = self.owned and line.server_version() >= _COPIES_FILES_SINCE
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template)
            )
            line.run(statement.as_string(None) + (" STRATEGY FILE_COPY" if copies else ""))
        return name

    def _new_name(self) -> str:
        return f"mm_{self._token}_{new_token(4)}"

    def _add_extension(self) -> None:
        available = self.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if available:
            # Workers do this at once, and IF NOT EXISTS does not wait for the others. All of it is one
            # transaction, whose end, not a statement before it, has to free the lock.
            self.execute(
                f"SELECT pg_advisory_xact_lock({_PREPARING}); "
                "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"
            )


class _Line:
    """A connection that is opened when it is first used, and again when the server ended it."""

    def __init__(self, url: str, *settings: str) -> None:
        self._url = url
        self._options = " ".join(f"-c{each}" for each in settings)
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    def run(self, statement: str, parameters: tuple[Any, ...] | None = None) -> list[Any]:
        """Run `statement` and return its rows; of several those of the last."""
        with self._lock:
            cursor = self._connected().execute(statement.encode(), parameters)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []

    def server_version(self) -> int:
        """Return the server's version as a number: 170002 for 17.2."""
        with self._lock:
            return self._connected().info.server_version

    def close(self) -> None:
        """Close the connection; one that a hung server keeps busy goes with the process."""
        if not self._lock.acquire(timeout=PATIENCE):
            return
        try:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        finally:
            self._lock.release()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            given = dict(parse_qsl(urlsplit(self._url).query)).get("options", "")
            self._connection = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=10,
                application_name="memory-matrix",
                options=f"{given} {self._options}".strip(),
            )
        return self._connection


@contextmanager
def _told(ddl: str = "") -> Iterator[None]:
    """Say in a sentence what the server refuses."""
    try:
        yield
    except psycopg.Error as error:
        raise UnavailableError(_sentence(error, ddl)) from error


def _sentence(error: psycopg.Error, ddl: str) -> str:
    said = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, _GONE):
        return f"The Postgres does not answer: {said}."
    if isinstance(error, errors.InsufficientPrivilege):
        return f"The Postgres does not let this user make a schema or a database: {said}."
    if isinstance(error, _LACKS) and '"vector"' in said:
        return f"The Postgres has no pgvector, which postgres_ddl needs: {said}."
    return f"The Postgres refuses {'postgres_ddl' if ddl else 'a place for a test'}: {said}."


def _drop_schema(name: str) -> str:
    # It must not wait for ever for a transaction that a test left open.
    return f"SET lock_timeout TO '2s'; DROP SCHEMA IF EXISTS \"{name}\" CASCADE; RESET lock_timeout"


def _drop_database(name: str) -> str:
    return f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'


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
