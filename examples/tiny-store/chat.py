"""A small store of conversations on Postgres, as many an agent has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

TABLE = """
CREATE TABLE IF NOT EXISTS chat (
    session text, number bigint GENERATED ALWAYS AS IDENTITY, body json NOT NULL,
    PRIMARY KEY (session, number)
)
"""
ADD = "INSERT INTO chat (session, body) VALUES (%s, %s)"
HISTORY = "SELECT body FROM chat WHERE session = %s ORDER BY number"


class ChatError(Exception):
    """What callers get where Postgres cannot do what they asked for."""


class Chat:
    """The history of each session."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def set_up(self) -> None:
        with self._connect() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(4242)")  # one at a time
            connection.execute(TABLE)

    def add(self, session: str, bodies: list[dict[str, Any]]) -> None:
        rows = [(_checked(session), _exact(body)) for body in bodies]
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.executemany(ADD, rows)

    def history(self, session: str) -> list[dict[str, Any]]:
        with self._connect() as connection:
            return [body for (body,) in connection.execute(HISTORY, (_checked(session),))]

    def forget(self, session: str) -> None:
        with self._connect() as connection:
            connection.execute("DELETE FROM chat WHERE session = %s", (_checked(session),))

    @contextmanager
    def _connect(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            with psycopg.connect(
                self._dsn, connect_timeout=3, prepare_threshold=None
            ) as connection:
                yield connection
        except psycopg.Error as error:
            raise ChatError(f"the history is out of reach: {error}") from error


class HalfChat(Chat):
    """The same with a fault: each message of a batch is committed on its own."""

    def add(self, session: str, bodies: list[dict[str, Any]]) -> None:
        with self._connect() as connection:
            for body in bodies:
                connection.execute(ADD, (_checked(session), _exact(body)))
                connection.commit()


def _checked(session: str) -> str:
    if not isinstance(session, str):
        raise TypeError(f"a session is named by a string, not by {session!r}")
    return session


def _exact(body: dict[str, Any]) -> str:
    text = json.dumps(body)
    if json.loads(text) != body:  # a tuple, an int as a key, NaN
        raise ValueError("this would not come back from JSON as it is")
    return text
