"""A server of one client's own, which may stop, kill and pause it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from memory_matrix.errors import UsageError
from memory_matrix.servers.binaries import find_binary
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.local import local_node, served
from memory_matrix.servers.model import Server
from memory_matrix.servers.node import Node
from memory_matrix.servers.ports import reserved_port
from memory_matrix.servers.settings import check_settings
from memory_matrix.servers.starting import check


@dataclass(frozen=True)
class Member:
    """One of a private server's nodes."""

    node: Node
    role: str


class Private:
    """A private server that runs, and what can be done to it."""

    def __init__(self, server: Server, members: Sequence[Member]) -> None:
        self.server = server
        self.members = members

    def do(self, action: str, index: int | None = None) -> None:
        """Do `action` to the node `index`, or to those that it is meant for.

        Raises:
            UsageError: there is no such action or node, or the node does not run.
            UnavailableError: it cannot be done.
        """
        if action not in _ACTIONS:
            raise UsageError(f"A private server cannot {action}.")
        _ACTIONS[action](self._chosen(index))

    def _chosen(self, index: int | None) -> list[Node]:
        if index is None:
            return [member.node for member in self.members]
        if not 0 <= index < len(self.members):
            raise UsageError(
                f"There is no node {index}: {self.server.source.name} has {len(self.members)}, "
                "counted from 0."
            )
        return [self.members[index].node]


@contextmanager
def open_private(launch: Launch, settings: Mapping[str, str]) -> Iterator[Private]:
    """Start a server that keeps its address, and that its client may stop and start.

    Raises:
        UsageError: it is given by URL, or a setting is not possible.
        UnavailableError: it cannot be had.
        ReleasedError: it was not wanted any more before it answered.
    """
    source = launch.source
    if source.form == "url":
        raise UsageError(
            f"{source.name} ({source.text}) is given by URL, so it is never restarted: name an "
            "image, a wheel or a binary."
        )
    check_settings(source.kind, settings)
    with _SINGLE[source.form](launch, settings) as node:
        node.begin()
        server = served(launch, node.url, node.answer())
        check(server)
        yield Private(server, [Member(node, "primary")])


@contextmanager
def _single_local(launch: Launch, settings: Mapping[str, str]) -> Iterator[Node]:
    binary = find_binary(launch.source, cache=launch.cache)
    with (
        reserved_port() as port,
        local_node(launch, binary, port=port, settings=settings) as node,
    ):
        yield node


_SINGLE = {"bin": _single_local, "wheel": _single_local}


def _stop(nodes: Sequence[Node]) -> None:
    for node in nodes:
        if node.ended() is None:
            node.stop()


def _start(nodes: Sequence[Node]) -> None:
    for node in nodes:
        node.resume()
    down = [node for node in nodes if node.ended() is not None]
    for node in down:
        node.begin()
    for node in down:
        node.answer()


def _restart(nodes: Sequence[Node]) -> None:
    _stop(nodes)
    _start(nodes)


def _kill(nodes: Sequence[Node]) -> None:
    for node in nodes:
        if node.ended() is None:
            node.kill()


def _pause(nodes: Sequence[Node]) -> None:
    for node in nodes:
        if (reason := node.ended()) is not None:
            raise UsageError(f"It does not run, so it cannot be paused: it last wrote {reason!r}.")
        node.pause()


def _resume(nodes: Sequence[Node]) -> None:
    for node in nodes:
        node.resume()


_ACTIONS: Mapping[str, Callable[[Sequence[Node]], None]] = {
    "kill": _kill,
    "pause": _pause,
    "restart": _restart,
    "resume": _resume,
    "start": _start,
    "stop": _stop,
}
