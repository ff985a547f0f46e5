"""What can be done to a server that is one test's own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory_matrix.servers.client import PrivateServer, Servers
from memory_matrix.suite.outcomes import HarnessError

if TYPE_CHECKING:
    from typing_extensions import Self

Kind = Literal["postgres", "redis"]
Topology = Literal["single", "sentinel", "cluster"]
S = TypeVar("S", bound="FaultyServer")

_LONGEST_RELOAD = 10.0
"""Seconds within which a server has read its settings anew."""


class FaultyServer:
    """A private server with the faults that both kinds have. Its URL and its data outlive them."""

    def __init__(self, private: PrivateServer) -> None:
        self.private = private
        """The server itself: `stop`, `start`, `restart`, `kill`, `pause`, `resume`, `nodes`."""

    @property
    def url(self) -> str:
        """Where it answers."""
        url: str = self.private.url
        return url

    def stop(self) -> None:
        """Shut it down in an orderly way."""
        self.private.stop()

    def start(self) -> None:
        """Start it again."""
        self.private.start()

    def restart(self) -> None:
        """Stop it and start it again; Redis keeps its data only where it was started to append it."""
        self.private.restart()

    def kill(self) -> None:
        """Kill it, as a crash does."""
        self.private.kill()

    def pause(self) -> None:
        """Let it accept connections and never answer."""
        self.private.pause()

    def resume(self) -> None:
        """Let it answer again."""
        self.private.resume()

    def close(self) -> None:
        """End it and remove all that it made."""
        self.private.close()


class FaultyPostgres(FaultyServer):
    """A Postgres of one test's own."""

    def read_only(self, on: bool = True) -> None:
        """Let every transaction of new connections be read-only, or no longer.

        Connections that are there follow when their server processes get round to it.
        """
        wanted = "on" if on else "off"
        self._run(f"ALTER SYSTEM SET default_transaction_read_only = {wanted}")
        self._run("SELECT pg_reload_conf()")
        ends = time.monotonic() + _LONGEST_RELOAD
        while self._run("SHOW default_transaction_read_only", writing=False) != [(wanted,)]:
            if time.monotonic() > ends:
                raise HarnessError("the server does not read its settings anew")

    def kill_backends(self) -> int:
        """End all other connections, and return how many there were."""
        return len(
            self._run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        )

    def _run(self, statement: str, *, writing: bool = True) -> list[Any]:
        import psycopg

        # Its own sessions have to write where all others may not.
        settings = "-c default_transaction_read_only=off" if writing else ""
        with psycopg.connect(self.url, autocommit=True, options=settings) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


class FaultyRedis(FaultyServer):
    """A Redis of one test's own."""

    def read_only(self, on: bool = True) -> None:
        """Make it a replica of nobody, which refuses writes and goes on reading; or a primary again."""
        self._run("REPLICAOF", *(("127.0.0.1", "1") if on else ("NO", "ONE")))

    def out_of_memory(self, on: bool = True) -> None:
        """Let it refuse writes for want of memory, or no longer."""
        self._run("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self._run("CONFIG", "SET", "maxmemory", "1" if on else "0")

    def kill_connections(self) -> None:
        """End all connections of clients."""
        self._run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def _run(self, *command: str) -> Any:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        with Redis.from_url(self.url, socket_timeout=10, retry=Retry(NoBackoff(), 0)) as client:
            return client.execute_command(*command)


class Faults:
    """Starts servers of one test's own, from the run's sources; all are gone after the test."""

    def __init__(self, servers: Servers, sources: Mapping[Kind, str]) -> None:
        self._servers = servers
        self._sources = sources
        self._stack = ExitStack()

    def postgres(self, **settings: str) -> FaultyPostgres:
        """Start a Postgres with these settings, such as `max_connections="10"`."""
        return self._kept(FaultyPostgres(self._private("postgres", "single", settings)))

    def redis(self, topology: Topology = "single", **settings: str) -> FaultyRedis:
        """Start a Redis, a cluster or a primary with sentinels, with settings such as `appendonly="yes"`."""
        return self._kept(FaultyRedis(self._private("redis", topology, settings)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _private(
        self, kind: Kind, topology: Topology, settings: Mapping[str, str]
    ) -> PrivateServer:
        named = {
            name.replace("_", "-") if kind == "redis" else name: value
            for name, value in settings.items()
        }
        return self._servers.private(kind, self._sources[kind], topology=topology, settings=named)

    def _kept(self, server: S) -> S:
        self._stack.callback(server.close)
        return server
