"""What one pytest process has of the run's servers: asked for once, when a test first needs them."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from memory_matrix.isolation.postgres import PostgresIsolation
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.servers.client import ServerInfo, Servers
from memory_matrix.suite.options import Kind, Options
from memory_matrix.suite.serving import Host

if TYPE_CHECKING:
    from memory_matrix.suite.bell import RemoteHost


class Worker:
    """The servers and places of one pytest process. `host` is the run's, by default one of its own."""

    def __init__(self, options: Options, host: Host | RemoteHost | None = None) -> None:
        self.options = options
        self._stack = ExitStack()
        if host is None:
            host = Host()
            self._stack.callback(host.close)
        self._host = host
        self._postgres: dict[str, PostgresIsolation] = {}
        self._redis: dict[tuple[str, bool], RedisIsolation] = {}

    @cached_property
    def servers(self) -> Servers:
        """The way to the run's servers; starts to serve them where nobody does yet."""
        return self._stack.enter_context(Servers.at(self._host.address()))

    def server(self, kind: Kind, source: str) -> ServerInfo:
        """Return the run's server of that source, started when it is first asked for.

        Raises:
            ServerError: it cannot be had.
        """
        return self.servers.shared(kind, source)

    def postgres(self, source: str) -> PostgresIsolation:
        """Return what makes schemas on that server.

        Raises:
            ServerError: the server cannot be had.
            UnavailableError: it does not answer.
        """
        if source not in self._postgres:
            server = self._claimed("postgres", source)
            made = PostgresIsolation(server.url, owned=server.owned, token=self._host.token)
            self._stack.callback(made.close)
            made.prepare()
            self._postgres[source] = made
        return self._postgres[source]

    def redis(self, source: str, *, own_server: bool = False) -> RedisIsolation:
        """Return what makes prefixes on that server, in a database of this worker's own.

        With `own_server` in the first database of a server of this worker's own, where search indexes
        are; on a server given by URL all the same in the one that the URL names.

        Raises:
            ServerError: the server cannot be had.
            UnavailableError: it does not answer.
            UsageError: it was given by URL and holds data.
        """
        key = (source, own_server)
        if key not in self._redis:
            server = self._claimed("redis", source)
            url, shared = server.url, True
            if own_server and server.owned:
                private = self.servers.private("redis", source)
                url, shared = self._stack.enter_context(private).url, False
            made = RedisIsolation(
                url,
                owned=server.owned,
                shared=shared,
                token=self._host.token,
                may_hold_data=self.options.may_hold_data,
            )
            self._stack.callback(made.close)
            self._redis[key] = made
        return self._redis[key]

    def close(self) -> None:
        """Close all connections; where this process serves the servers, end them."""
        self._stack.close()

    def _claimed(self, kind: Kind, source: str) -> ServerInfo:
        server = self.server(kind, source)
        if not server.owned:
            self._host.sweep(kind, server.url)
        return server
