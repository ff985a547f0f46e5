"""What one pytest process has of the run's servers: asked for once, when a test first needs them."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from memory_matrix.isolation.postgres import PostgresIsolation
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.servers.client import ADDRESS, ServerInfo, Servers
from memory_matrix.suite.options import Kind, Options

_WORKER = "PYTEST_XDIST_WORKER"


class Worker:
    """The servers and places of one pytest process."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._stack = ExitStack()
        self._isolations: dict[tuple[Kind, str], Any] = {}

    @cached_property
    def servers(self) -> Servers:
        """The way to the run's servers; starts to serve them where nobody does yet."""
        if ADDRESS not in os.environ:
            from memory_matrix.suite.serving import serving

            self._stack.enter_context(serving())
        return self._stack.enter_context(Servers.at(os.environ[ADDRESS]))

    def server(self, kind: Kind, source: str) -> ServerInfo:
        """Return the run's server of that source, started when it is first asked for."""
        return self.servers.shared(kind, source)

    def postgres(self, source: str) -> PostgresIsolation:
        """Return what makes schemas on that server."""
        made = self._isolations.get(("postgres", source))
        if made is None:
            server = self.server("postgres", source)
            made = PostgresIsolation(server.url, owned=server.owned)
            made.prepare()
            self._keep("postgres", source, made)
        assert isinstance(made, PostgresIsolation)
        return made

    def redis(self, source: str) -> RedisIsolation:
        """Return what makes prefixes on that server, in a database of this worker's own."""
        made = self._isolations.get(("redis", source))
        if made is None:
            server = self.server("redis", source)
            made = RedisIsolation(
                server.url,
                owned=server.owned,
                worker=_number(),
                may_hold_data=self.options.may_hold_data,
            )
            self._keep("redis", source, made)
        assert isinstance(made, RedisIsolation)
        return made

    def close(self) -> None:
        """Close all connections; where this process serves the servers, end them."""
        self._stack.close()

    def _keep(self, kind: Kind, source: str, made: PostgresIsolation | RedisIsolation) -> None:
        self._isolations[kind, source] = made
        self._stack.callback(made.close)
        if not made.owned and _WORKER not in os.environ:
            self._stack.callback(made.clean)


def _number() -> int:
    return int(os.environ.get(_WORKER, "gw0").removeprefix("gw"))
