"""Servers in containers, through testcontainers' client, which finds the engine that is configured.

Its container class is not used: that one needs an image of its own to clean up after a killed
process. Here every container has a janitor, and the next run removes what is left all the same.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.asking import (
    NotReadyError,
    ask_until_ready,
    redis_client,
    redis_errors,
    shortened,
)
from memory_matrix.servers.janitor import remove_abandoned, remove_containers, watched
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.model import Server
from memory_matrix.servers.owner import labels

_PORTS: dict[ServerKind, int] = {"postgres": 5432, "redis": 6379}
_LOOPBACK = "127.0.0.1"
_LOCAL = {"localhost", _LOOPBACK, "::1"}
_POSTGRES_SHARED_MEMORY = "1g"
"""The engine's 64 MB are too few for a parallel build of an index."""


@contextmanager
def open_image(launch: Launch) -> Iterator[Server]:
    """Run the server that an `image:` source names; remove its container and volumes afterwards.

    Raises:
        UnavailableError: there is no engine or no such image, or the server ended or kept silent.
        ReleasedError: it was not wanted any more before it answered.
    """
    engine, image = _engine(launch.source.value)
    try:
        with _refusals(image):
            remove_abandoned(engine.client)
            _fetch(engine.client, image, launch)
        with _container(engine, image, launch) as (container, password):
            yield _answering(engine, container, password, launch)
    finally:
        engine.client.close()


def _engine(image: str) -> tuple[Any, str]:
    """Return testcontainers' client for the engine, and the image's name as it has to be asked for."""
    try:
        from docker.errors import DockerException
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.docker_client import DockerClient
    except ImportError:
        raise UnavailableError(
            "An `image:` source needs testcontainers: install memory-matrix[docker], or name a "
            "`wheel:` source instead."
        ) from None
    try:
        return DockerClient(), testcontainers_config.hub_image_name_prefix + image
    except DockerException as error:
        raise UnavailableError(
            f"No Docker engine answers ({shortened(error, 160)}): start one, or name a `wheel:` "
            "source instead."
        ) from None


@contextmanager
def _refusals(image: str) -> Iterator[None]:
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException) as error:
        explanation = getattr(error, "explanation", None) or error
        raise UnavailableError(
            f"The Docker engine cannot run {image}: {shortened(explanation)}."
        ) from None


def _fetch(client: Any, image: str, launch: Launch) -> None:
    """Pull `image` where it is not there yet."""
    from docker.errors import APIError, ImageNotFound
    from docker.utils import parse_repository_tag

    try:
        client.images.get(image)
    except ImageNotFound:
        repository, tag = parse_repository_tag(image)
    else:
        return
    try:
        for progress in client.api.pull(repository, tag=tag or "latest", stream=True, decode=True):
            launch.pause(0)
            if "error" in progress:
                raise _not_had(image, progress["error"])
    except APIError as error:
        raise _not_had(image, error.explanation or error) from None


def _not_had(image: str, reason: object) -> UnavailableError:
    return UnavailableError(
        f"The image {image} is not on this machine and cannot be pulled ({shortened(reason, 160)}): "
        "check its name and tag, and the way to its registry."
    )


@contextmanager
def _container(engine: Any, image: str, launch: Launch) -> Iterator[tuple[Any, str]]:
    """Run a container for the block; give it and the password that its server may need."""
    identity, password = secrets.token_hex(8), secrets.token_hex(16)
    is_postgres = launch.source.kind == "postgres"
    with watched(identity):
        try:
            with _refusals(image):
                container = engine.run(
                    image,
                    detach=True,
                    environment=_environment(password) if is_postgres else {},
                    ports={f"{_PORTS[launch.source.kind]}/tcp": _published(engine)},
                    labels=labels(identity),
                    shm_size=_POSTGRES_SHARED_MEMORY if is_postgres else None,
                )
            yield container, password
        finally:
            remove_containers(engine.client, identity)


def _environment(password: str) -> dict[str, str]:
    return {"POSTGRES_PASSWORD": password, "POSTGRES_INITDB_ARGS": "--no-sync"}


def _published(engine: Any) -> tuple[str, None] | None:
    """Return how to publish a port: for this machine only, where the engine is on this machine."""
    is_local = engine.get_connection_mode().value == "docker_host" and engine.host() in _LOCAL
    return (_LOOPBACK, None) if is_local else None


def _answering(engine: Any, container: Any, password: str, launch: Launch) -> Server:
    source = launch.source

    def ended() -> str | None:
        container.reload()
        if container.status not in {"exited", "dead"}:
            return None
        log = container.logs(tail=3).decode(errors="replace")
        return f"Its container ended while starting: {shortened(log) or 'it wrote nothing'}."

    with _refusals(source.value):
        try:
            host, port = _address(engine, container.id, _PORTS[source.kind])
        except ConnectionError:
            raise UnavailableError(ended() or "Its container has no port.") from None
        url = _url(source.kind, host, port, password if source.kind == "postgres" else "")
        answer = ask_until_ready(
            source.kind, url, timeout=launch.timeout, pause=launch.pause, ended=ended
        )
    if source.kind == "redis":
        _set_password(url, password)
        url = _url("redis", host, port, password)
    return Server(
        source=source, url=url, version=answer.version, flavour=answer.flavour, owned=True
    )


def _address(engine: Any, container_id: str, port: int) -> tuple[str, int]:
    """Return where this process reaches `port` of a container, as testcontainers is configured."""
    mode = engine.get_connection_mode().value
    if mode == "bridge_ip":
        return engine.bridge_ip(container_id), port
    host = engine.gateway_ip(container_id) if mode == "gateway_ip" else engine.host()
    return (_LOOPBACK if host in _LOCAL else host), int(engine.port(container_id, port))


def _url(kind: ServerKind, host: str, port: int, password: str) -> str:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if kind == "postgres":
        return f"postgresql://postgres:{password}@{place}/postgres"
    return f"redis://:{password}@{place}/0" if password else f"redis://{place}/0"


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
