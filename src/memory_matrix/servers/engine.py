"""The Docker engine, through testcontainers' client, which finds the one that is configured.

Its container class is not used: that one needs an image of its own to clean up after a killed
process. Here the containers of each server have a janitor, and the next run removes what is left
all the same.
"""

from __future__ import annotations

import secrets
import socket
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memory_matrix.errors import NO_ENGINE, UnavailableError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.asking import shortened
from memory_matrix.servers.janitor import remove_abandoned, remove_containers, watched
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.owner import labels
from memory_matrix.servers.ports import LOOPBACK

PORTS: dict[ServerKind, int] = {"postgres": 5432, "redis": 6379}
"""On which the servers of images listen."""
_LOCAL = {"localhost", LOOPBACK, "::1"}
_POSTGRES_SHARED_MEMORY = "1g"
"""The engine's 64 MB are too few for a parallel build of an index."""


@dataclass(frozen=True)
class Engine:
    """The Docker engine with an image that it has, and with the containers of one server."""

    docker: Any
    """The client of testcontainers."""
    image: str
    """As the engine has to be asked for it."""
    folder: str
    """In which the image's command runs."""
    identity: str
    """What the containers are called."""

    @property
    def is_local(self) -> bool:
        """Whether ports that the engine publishes are this machine's."""
        mode = self.docker.get_connection_mode().value
        return mode == "docker_host" and self.docker.host() in _LOCAL

    def create(self, kind: ServerKind, **options: Any) -> Any:
        """Return a container that does not run yet."""
        from testcontainers.core.docker_client import get_docker_host
        from testcontainers.core.labels import create_labels

        if "network_mode" not in options and not get_docker_host():
            options["network"] = self.docker.find_host_network()
        if kind == "postgres":
            options["shm_size"] = _POSTGRES_SHARED_MEMORY
        with refusals(self.image):
            return self.docker.client.containers.create(
                self.image,
                detach=True,
                labels=create_labels(self.image, labels(self.identity)),
                **options,
            )

    def published(self, port: int | None = None) -> tuple[str, int | None] | int | None:
        """Return how to publish a port, as `port` or as any: for this machine only, where it can be."""
        return (LOOPBACK, port) if self.is_local else port

    def inner_host(self, container_id: str) -> str:
        """Return where this process and the container itself reach ports at which it listens.

        Raises:
            UnavailableError: there is no such address.
        """
        if self.is_local:
            return LOOPBACK
        if self.docker.get_connection_mode().value == "docker_host":
            raise UnavailableError(
                "Sentinels and clusters need a Docker engine on this machine: name a `wheel:` "
                "source instead."
            )
        return str(self.docker.bridge_ip(container_id))

    def address(self, container_id: str, port: int) -> tuple[str, int]:
        """Return where this process reaches `port` of a container, as testcontainers is configured.

        Raises:
            ConnectionError: the container does not run.
        """
        mode = self.docker.get_connection_mode().value
        if mode == "bridge_ip":
            return self.docker.bridge_ip(container_id), port
        host = self.docker.gateway_ip(container_id) if mode == "gateway_ip" else self.docker.host()
        return (LOOPBACK if host in _LOCAL else host), int(self.docker.port(container_id, port))


@contextmanager
def open_engine(launch: Launch) -> Iterator[Engine]:
    """Connect to the engine and see that it has the image; remove the server's containers afterwards.

    Raises:
        UnavailableError: there is no engine or no such image, or it is no image of such a server.
        ReleasedError: the server was not wanted any more before the image was there.
    """
    docker, image = _engine(launch.source.value)
    identity = secrets.token_hex(8)
    try:
        with refusals(image):
            remove_abandoned(docker.client)
            config = _fetched(docker.client, image, launch).attrs["Config"]
        _check_kind(launch.source.kind, image, config.get("ExposedPorts") or {})
        with watched(identity):
            try:
                yield Engine(docker, image, config.get("WorkingDir") or "/", identity)
            finally:
                with refusals(image):
                    remove_containers(docker.client, identity)
    finally:
        docker.client.close()


@contextmanager
def refusals(image: str) -> Iterator[None]:
    """Turn what the engine's client raises into UnavailableError."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException) as error:
        _close_left_open(error)
        explanation = getattr(error, "explanation", None) or error
        raise UnavailableError(
            f"The Docker engine cannot run {image}: {shortened(explanation)}."
        ) from None


@dataclass(frozen=True)
class EngineAnswer:
    """What the Docker engine says of itself."""

    version: str
    address: str
    images: Mapping[str, bool]
    """Whether it has each image that was asked for."""


def ask_engine(images: Iterable[str], *, timeout: float) -> EngineAnswer:
    """Return what the engine says; nothing is pulled and nothing started.

    Raises:
        UnavailableError: it does not answer within `timeout` seconds for each question.
    """
    docker, prefix = _engine("", timeout=timeout)
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        return EngineAnswer(
            version=str(docker.client.version()["Version"]),
            address=str(docker.client.api.base_url),
            images={each: _has(docker.client, prefix + each) for each in images},
        )
    except (DockerException, RequestException) as error:
        raise _no_answer(error) from None
    finally:
        docker.client.close()


def _no_answer(error: Exception) -> UnavailableError:
    _close_left_open(error)
    return UnavailableError(
        f"{NO_ENGINE} ({shortened(error, 160)}): start one, or name a `wheel:` source instead."
    )


def _close_left_open(error: BaseException | None) -> None:
    """Close the sockets that the client could not connect, which it leaves to the collector."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            of_client = str(frame.f_globals.get("__name__")).startswith("docker.")
            for value in frame.f_locals.values() if of_client else ():
                if isinstance(value, socket.socket):
                    value.close()
        error = error.__cause__ or error.__context__


def _has(client: Any, image: str) -> bool:
    from docker.errors import ImageNotFound

    try:
        client.images.get(image)
    except ImageNotFound:
        return False
    return True


def _engine(image: str, **settings: float) -> tuple[Any, str]:
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
        return DockerClient(**settings), testcontainers_config.hub_image_name_prefix + image
    except DockerException as error:
        raise _no_answer(error) from None


def _fetched(client: Any, image: str, launch: Launch) -> Any:
    """Return `image`, pulled where it is not there yet."""
    from docker.errors import APIError, ImageNotFound
    from docker.utils import parse_repository_tag

    try:
        return client.images.get(image)
    except ImageNotFound:
        repository, tag = parse_repository_tag(image)
    try:
        for progress in client.api.pull(repository, tag=tag or "latest", stream=True, decode=True):
            launch.pause(0)
            if "error" in progress:
                raise _not_had(image, progress["error"])
    except APIError as error:
        raise _not_had(image, error.explanation or error) from None
    return client.images.get(image)


def _not_had(image: str, reason: object) -> UnavailableError:
    return UnavailableError(
        f"The image {image} is not on this machine and cannot be pulled ({shortened(reason, 160)}): "
        "check its name and tag, and the way to its registry."
    )


def _check_kind(kind: ServerKind, image: str, exposed: Mapping[str, object]) -> None:
    """Refuse what would start well and never answer as a server of this kind does."""
    if exposed and f"{PORTS[kind]}/tcp" not in exposed:
        raise UnavailableError(
            f"The image {image} is no {kind} server: it listens on {', '.join(sorted(exposed))} and "
            f"not on {PORTS[kind]}."
        )
