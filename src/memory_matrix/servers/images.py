"""Servers in containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.asking import (
    NotReadyError,
    ask_until_ready,
    redis_client,
    redis_errors,
)
from memory_matrix.servers.containers import (
    ContainerNode,
    Network,
    last_words,
    postgres_environment,
)
from memory_matrix.servers.engine import PORTS, Engine, open_engine, refusals
from memory_matrix.servers.launch import Launch, served
from memory_matrix.servers.model import Server
from memory_matrix.servers.node import Maker
from memory_matrix.servers.ports import LOOPBACK
from memory_matrix.servers.recipes import Part, postgres_url, redis_url


@contextmanager
def open_image(launch: Launch) -> Iterator[Server]:
    """Run the server that an `image:` source names; remove its container and volumes afterwards.

    Raises:
        UnavailableError: there is no engine or no such image, or the server ended or kept silent.
        ReleasedError: it was not wanted any more before it answered.
    """
    kind, part = launch.source.kind, Part()
    with open_engine(launch) as engine:
        container = engine.create(
            kind,
            environment=postgres_environment(part.password) if kind == "postgres" else {},
            ports={f"{PORTS[kind]}/tcp": engine.published()},
        )
        with refusals(engine.image):
            container.start()
        yield _answering(engine, container, part, launch)


@contextmanager
def image_maker(launch: Launch, ports: Sequence[int]) -> Iterator[Maker]:
    """Make ready for nodes in containers, one for each of `ports`.

    Several nodes share the network of one more container, which publishes their ports: so each of
    them reaches the others at the addresses at which clients reach it.

    Raises:
        UnavailableError: there is no engine or no such image.
    """
    with open_engine(launch) as engine:
        network = _network(engine, ports) if len(ports) > 1 else None
        yield Maker(
            network.host if network else "",
            lambda port, part: nullcontext(ContainerNode(launch, engine, port, part, network)),
        )


def _network(engine: Engine, ports: Sequence[int]) -> Network:
    """Run a container that only publishes `ports`."""
    container = engine.create(
        "redis",
        command=["--bind", LOOPBACK],
        ports={f"{port}/tcp": engine.published(port) for port in ports},
    )
    with refusals(engine.image):
        container.start()
        return Network(container.id, engine.inner_host(container.id))


def _answering(engine: Engine, container: Any, part: Part, launch: Launch) -> Server:
    kind = launch.source.kind

    def ended() -> str | None:
        container.reload()
        if container.status not in {"exited", "dead"}:
            return None
        return f"Its container ended while starting: {last_words(container)}."

    with refusals(engine.image):
        try:
            place = engine.address(container.id, PORTS[kind])
        except ConnectionError:
            raise UnavailableError(ended() or "Its container has no port.") from None
        url = postgres_url(part, *place) if kind == "postgres" else redis_url(None, *place)
        answer = ask_until_ready(kind, url, timeout=launch.timeout, pause=launch.pause, ended=ended)
    if kind == "redis":
        _set_password(url, part.password)
        url = redis_url(part, *place)
    return served(launch, url, answer)


def _set_password(url: str, password: str) -> None:
    """Give a server a password: images differ in how they take one, and others share the loopback."""
    try:
        with redis_errors(url):
            client = redis_client(url, timeout=10)
            try:
                client.config_set("requirepass", password)
            finally:
                client.close()
    except NotReadyError as error:
        raise UnavailableError(f"It does not take a password: {error}.") from None
