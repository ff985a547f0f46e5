"""Ask a server who it is, with the client that everybody uses."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import SECRET, ServerKind

_POLL = 0.01
_RECOVERING = re.compile(r"starting up|shutting down|recovery mode|not yet accepting connections")
_ADVICE = re.compile(r"\s+Is the server running[^?]*\?")
_REFUSING = 3.0
"""Seconds for which a server may turn its own client away while it starts (another process can hold
its port for a moment, an image sets its password late)."""


@dataclass(frozen=True)
class Answer:
    """Who a server says that it is."""

    version: str
    flavour: str


class NotReadyError(Exception):
    """The server gave no answer, or turned the client away. Its text holds no password."""

    def __init__(self, reason: str, *, refused: bool = False, recovers: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused
        """Whether something answers there and says no, in contrast to nothing being there."""
        self.recovers = recovers
        """Whether it says that it will take clients soon."""


def ask(kind: ServerKind, url: str, *, timeout: float = 10) -> Answer:
    """Connect to `url` and return what the server says of itself.

    Raises:
        NotReadyError: nothing answers within `timeout` seconds, or it refuses the client.
    """
    return _ask_postgres(url, timeout) if kind == "postgres" else _ask_redis(url, timeout)


def ask_until_ready(
    kind: ServerKind,
    url: str,
    *,
    timeout: float,
    pause: Callable[[float], None],
    ended: Callable[[], str | None],
) -> Answer:
    """Ask every 10 ms until the server answers.

    `pause` waits for so many seconds, and raises when nobody wants the server any more; `ended`
    says why the server's process is gone, or None while it runs.

    Raises:
        UnavailableError: the server ended, kept refusing, or did not answer within `timeout` seconds.
    """
    start = time.monotonic()
    refused_since, patience = math.inf, 1.0
    while True:
        began = time.monotonic()
        try:
            return ask(kind, url, timeout=max(1.0, min(patience, start + timeout - began)))
        except NotReadyError as error:
            refusal = error
            # Who accepts and keeps silent may be another process that holds the port: not worth a
            # long wait. Longer each time, since it may be a slow machine.
            patience = max(patience, 2 * (time.monotonic() - began))
        if reason := ended():
            raise UnavailableError(reason)
        now = time.monotonic()
        refused_since = min(refused_since, now) if refusal.refused else math.inf
        if now - refused_since > _REFUSING:
            raise UnavailableError(f"It runs, but refuses its client: {refusal}.") from None
        if now - start > timeout:
            raise UnavailableError(f"It did not answer within {timeout:g} s: {refusal}.") from None
        pause(_POLL)


def redis_client(url: str, *, timeout: float) -> Any:
    """Return a client for `url` that speaks to servers of any age and never tries again by itself."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return redis.Redis.from_url(
        url,
        socket_connect_timeout=timeout,
        socket_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )


def without_secrets(message: object, url: str) -> str:
    """Return `message` in one line of at most 300 characters, without a password that `url` holds."""
    text = str(message)
    for secret in passwords(url):
        # As a word of its own: a password such as "a" is a part of most words.
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
    return shortened(text)


def shortened(message: object, limit: int = 300) -> str:
    """Return `message` in one line of at most `limit` characters, without a full stop."""
    text = " ".join(str(message).split()).rstrip(".")
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _ask_postgres(url: str, timeout: float) -> Answer:
    import psycopg

    try:
        with psycopg.connect(
            url, connect_timeout=math.ceil(timeout), autocommit=True
        ) as connection:
            row = connection.execute(
                "SELECT version(), current_setting('server_version')"
            ).fetchone()
    except psycopg.OperationalError as error:
        recovers = _RECOVERING.search(str(error)) is not None
        refused = "FATAL" in str(error) and not recovers
        reason = without_secrets(_ADVICE.sub("", str(error)), url)
        raise NotReadyError(reason, refused=refused, recovers=recovers) from None
    except (psycopg.Error, UnicodeError) as error:
        raise NotReadyError(without_secrets(error, url), refused=True) from None
    assert row is not None
    return Answer(version=row[1].split()[0], flavour=row[0].split()[0])


def _ask_redis(url: str, timeout: float) -> Answer:
    with redis_errors(url):
        client = redis_client(url, timeout=timeout)
        try:
            info = client.info("server")
        finally:
            client.close()
    if "valkey_version" in info:
        return Answer(version=str(info["valkey_version"]), flavour="Valkey")
    return Answer(version=str(info.get("redis_version", "unknown")), flavour="Redis")


@contextmanager
def redis_errors(url: str) -> Iterator[None]:
    """Turn what redis-py raises into NotReadyError."""
    import redis

    try:
        yield
    except redis.AuthenticationError as error:
        raise NotReadyError(without_secrets(error, url), refused=True) from None
    except redis.BusyLoadingError as error:
        raise NotReadyError(without_secrets(error, url), recovers=True) from None
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        raise NotReadyError(without_secrets(error, url)) from None
    except (redis.RedisError, ValueError) as error:
        raise NotReadyError(without_secrets(error, url), refused=True) from None


def passwords(url: str) -> set[str]:
    """Return each password in `url`, as it stands there and decoded."""
    try:
        parts = urlsplit(url)
        raw = [parts.password or ""]
    except ValueError:
        return {url}
    for option in parts.query.split("&"):
        name, _, value = option.partition("=")
        if SECRET.search(unquote(name)):
            raw.append(value)
    return {each for secret in raw for each in (secret, unquote(secret)) if each}
