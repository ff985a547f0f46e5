"""A node in a container, which may be stopped and started again at the same address."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.asking import Answer, ask_until_ready
from memory_matrix.servers.engine import PORTS, Engine, refusals
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.processes import shortened_log
from memory_matrix.servers.recipes import Part, postgres_url, redis_config, redis_flags, redis_url
from memory_matrix.servers.settings import postgres_options

_CONFIG = "memory-matrix.conf"
_GONE = {"created", "dead", "exited", "removing"}
_TAIL = 10
_PATIENCE = 10
"""Seconds that a server has to end by itself."""


@dataclass(frozen=True)
class Network:
    """The network of a container that several others share."""

    container: str
    host: str
    """Where they are reached, from inside and from outside."""


class ContainerNode:
    """A node in a container of its own, made when it is first started."""

    def __init__(
        self, launch: Launch, engine: Engine, port: int, part: Part, network: Network | None
    ) -> None:
        """Prepare the node that is reached at `port`, in `network` where it is not alone."""
        self._launch = launch
        self._engine = engine
        self._port = port
        self._part = part
        self._network = network
        self._place = (network.host, port) if network else None
        self._container: Any = None

    @property
    def url(self) -> str:
        """Where it answers, once it has started."""
        if self._launch.source.kind == "postgres":
            return postgres_url(self._part, *self._address(PORTS["postgres"]))
        return redis_url(self._part, *self._address(self._port))

    def begin(self) -> None:
        """Start its container, without waiting for the server to answer."""
        if self._container is None:
            self._container = self._create()
        with refusals(self._engine.image):
            self._container.start()

    def answer(self) -> Answer:
        """Wait until it answers.

        Raises:
            UnavailableError: it ended, or keeps silent.
            ReleasedError: it is not wanted any more.
        """
        kind = self._launch.source.kind
        try:
            url = self.url
        except ConnectionError:
            raise UnavailableError(self._ended_early() or "Its container has no port.") from None
        return ask_until_ready(
            kind,
            url,
            timeout=self._launch.timeout,
            pause=self._launch.pause,
            ended=self._ended_early,
        )

    def ended(self) -> str | None:
        """Return what it last wrote once it has ended, None while it runs."""
        return last_words(self._container) if self._status() in _GONE else None

    def stop(self) -> None:
        """End it in an orderly way, also when it is paused."""
        self.resume()
        with refusals(self._engine.image):
            self._container.stop(timeout=_PATIENCE)

    def kill(self) -> None:
        """End it, and all that it started, without a chance to put things in order."""
        self.resume()  # The engine kills nothing that is paused.
        with refusals(self._engine.image):
            self._container.kill()
            self._container.wait()

    def pause(self) -> None:
        """Let it take connections and never answer."""
        if not self.is_paused():
            with refusals(self._engine.image):
                self._container.pause()

    def is_paused(self) -> bool:
        """Return whether `pause` was the last thing done to it."""
        return self._status() == "paused"

    def resume(self) -> None:
        """Let it go on after `pause`; nothing where it is not paused."""
        if self.is_paused():
            with refusals(self._engine.image):
                self._container.unpause()

    def _status(self) -> str:
        with refusals(self._engine.image):
            self._container.reload()
        status: str = self._container.status
        return status

    def _ended_early(self) -> str | None:
        said = self.ended()
        return said and f"Its container ended while starting: {said}."

    def _address(self, port: int) -> tuple[str, int]:
        if self._place is None:  # Known from the first start on, and the same after each later one.
            with refusals(self._engine.image):
                self._place = self._engine.address(self._container.id, port)
        return self._place

    def _create(self) -> Any:
        if self._launch.source.kind == "postgres":
            return self._engine.create(
                "postgres",
                command=postgres_options(self._part.settings) or None,
                environment=postgres_environment(self._part.password),
                ports={f"{PORTS['postgres']}/tcp": self._engine.published(self._port)},
            )
        config = f"{self._engine.folder.rstrip('/')}/{_CONFIG}"
        place = (
            {"network_mode": f"container:{self._network.container}"}
            if self._network
            else {"ports": {f"{self._port}/tcp": self._engine.published(self._port)}}
        )
        container = self._engine.create(
            "redis", command=[config, *redis_flags(self._part)], **place
        )
        text = redis_config(self._port, self._part, bind="0.0.0.0")  # noqa: S104 - in a container
        with refusals(self._engine.image):
            container.put_archive(self._engine.folder, _archive(_CONFIG, text))
        return container


def last_words(container: Any) -> str:
    """Return what a container last wrote, as one line."""
    lines = container.logs(tail=_TAIL).decode(errors="replace").splitlines()
    # The engine may put its two streams together in another order than they were written in.
    reasons = [line for line in lines if "FATAL:" in line]
    return shortened_log("\n".join(reasons or lines)) or "it wrote nothing"


def postgres_environment(password: str) -> Mapping[str, str]:
    """Return the variables that an image of Postgres wants."""
    return {"POSTGRES_PASSWORD": password, "POSTGRES_INITDB_ARGS": "--no-sync"}


def _archive(name: str, text: str) -> bytes:
    """Return a tar archive of one file that everybody can read: the server's user is not known."""
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()
