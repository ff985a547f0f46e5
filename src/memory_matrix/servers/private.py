"""A server of one client's own, which may stop, kill and pause it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import ServerSource, SourceForm
from memory_matrix.matrix.problems import listed
from memory_matrix.servers.binaries import find_binary
from memory_matrix.servers.images import image_maker
from memory_matrix.servers.launch import Launch, served
from memory_matrix.servers.local import local_node
from memory_matrix.servers.model import Server
from memory_matrix.servers.node import Address, Maker, Node
from memory_matrix.servers.ports import LOOPBACK, reserved_port
from memory_matrix.servers.settings import check_settings
from memory_matrix.servers.starting import check
from memory_matrix.servers.topologies import TOPOLOGIES, Member, Single


class Private:
    """A private server that runs, and what can be done to it."""

    def __init__(self, server: Server, nodes: Single) -> None:
        self.server = server
        self._nodes = nodes

    def members(self) -> Sequence[Member]:
        """Return its nodes with the roles that they have now."""
        self._nodes.refresh()
        return self._nodes.members

    def do(self, action: str, index: int | None = None) -> None:
        """Do `action` to the node `index`, or to those that it is meant for.

        Raises:
            UsageError: there is no such action or node, or the node does not run.
            UnavailableError: it cannot be done.
            ReleasedError: nobody waits for it any more.
        """
        if action not in _ACTIONS:
            raise UsageError(f"A private server cannot {action}.")
        _ACTIONS[action](self._nodes, self._chosen(action, index))

    def _chosen(self, action: str, index: int | None) -> Sequence[Node]:
        everybody = [member.node for member in self._nodes.members]
        if index is None:
            return everybody if action in _MENDING else self._nodes.meant()
        if not 0 <= index < len(everybody):
            raise UsageError(
                f"There is no node {index}: {self.server.source.name} has {len(everybody)}, "
                "counted from 0."
            )
        return [everybody[index]]


@contextmanager
def open_private(launch: Launch, topology: str, settings: Mapping[str, str]) -> Iterator[Private]:
    """Start a server that keeps its addresses, and that its client may stop and start.

    Raises:
        UsageError: it is given by URL, or the topology or a setting is not possible.
        UnavailableError: it cannot be had.
        ReleasedError: it was not wanted any more before it answered.
    """
    source = launch.source
    _check(source, topology)
    check_settings(source.kind, settings)
    form = TOPOLOGIES[topology]
    with ExitStack() as stack:
        ports = [stack.enter_context(reserved_port(bus=form.has_bus)) for _ in range(form.size)]
        maker = stack.enter_context(_MAKERS[source.form](launch, ports))
        addresses = [Address(maker.host, port) for port in ports]
        members = [
            Member(stack.enter_context(maker.node(address.port, part)), address, part.role)
            for address, part in zip(addresses, form.parts(addresses, settings), strict=True)
        ]
        nodes = form(launch, members)
        answer = nodes.begin()
        server = served(launch, members[0].node.url, answer)
        check(server)
        yield Private(server, nodes)


def _check(source: ServerSource, topology: str) -> None:
    if source.form == "url":
        raise UsageError(
            f"{source.name} ({source.text}) is given by URL, so it is never restarted: name an "
            "image, a wheel or a binary."
        )
    if topology not in TOPOLOGIES:
        raise UsageError(f"There is no topology {topology!r}: it must be {listed(TOPOLOGIES)}.")
    if topology != "single" and source.kind != "redis":
        raise UsageError(f"Only Redis has the topology {topology}, not {source.kind}.")


@contextmanager
def _local_maker(launch: Launch, _ports: Sequence[int]) -> Iterator[Maker]:
    binary = find_binary(launch.source, cache=launch.cache)
    yield Maker(LOOPBACK, lambda port, part: local_node(launch, binary, port=port, part=part))


_MAKERS: Mapping[SourceForm, Callable[[Launch, Sequence[int]], AbstractContextManager[Maker]]] = {
    "bin": _local_maker,
    "image": image_maker,
    "wheel": _local_maker,
}


def _stop(_: Single, nodes: Sequence[Node]) -> None:
    for node in nodes:
        if node.ended() is None:
            node.stop()


def _start(group: Single, nodes: Sequence[Node]) -> None:
    for node in nodes:
        node.resume()
    if down := [node for node in nodes if node.ended() is not None]:
        group.start(down)
    group.settle()


def _restart(group: Single, nodes: Sequence[Node]) -> None:
    _stop(group, nodes)
    _start(group, nodes)


def _kill(_: Single, nodes: Sequence[Node]) -> None:
    for node in nodes:
        if node.ended() is None:
            node.kill()


def _pause(_: Single, nodes: Sequence[Node]) -> None:
    for node in nodes:
        if (reason := node.ended()) is not None:
            raise UsageError(f"It does not run, so it cannot be paused; its last words: {reason}.")
        node.pause()


def _resume(group: Single, nodes: Sequence[Node]) -> None:
    for node in nodes:
        node.resume()
    group.settle()


_ACTIONS: Mapping[str, Callable[[Single, Sequence[Node]], None]] = {
    "kill": _kill,
    "pause": _pause,
    "restart": _restart,
    "resume": _resume,
    "start": _start,
    "stop": _stop,
}
_MENDING = frozenset({"resume", "start"})
"""What is meant for every node that needs it, where the user names none."""
