"""How the nodes of a private server are put together: one alone, with sentinels, or as a cluster."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from memory_matrix.errors import UnavailableError
from memory_matrix.servers.asking import Answer, NotReadyError, redis_client, redis_errors
from memory_matrix.servers.client import SERVICE_NAME
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.node import Address, Node
from memory_matrix.servers.recipes import Part

_SLOTS = 16_384
_QUORUM = 2
_DOWN_AFTER = 1000
"""Milliseconds without an answer after which sentinels take a primary for dead."""
_NODE_TIMEOUT = 2000
"""The same for the nodes of a cluster: a busy machine must not look like a dead one."""
_PATIENCE = 2.0
"""Seconds that a node has to answer a question about the others."""
_POLL = 0.02


@dataclass
class Member:
    """One of a private server's nodes, and what it is at the moment."""

    node: Node
    address: Address
    role: str


class Single:
    """A server of one node."""

    size: ClassVar[int] = 1
    has_bus: ClassVar[bool] = False
    """Whether each node listens on a second port for the others."""

    def __init__(self, launch: Launch, members: Sequence[Member]) -> None:
        self._launch = launch
        self.members = members

    @classmethod
    def parts(cls, addresses: Sequence[Address], settings: Mapping[str, str]) -> Sequence[Part]:
        """Return what the nodes are to be that listen on `addresses`."""
        common = Part(settings=settings)
        return [common for _ in addresses]

    def begin(self) -> Answer:
        """Start all nodes, and wait until they are together what they are meant to be.

        Raises:
            UnavailableError: they do not come to it.
            ReleasedError: they are not wanted any more.
        """
        return self.start([member.node for member in self.members])[0]

    def start(self, nodes: Sequence[Node]) -> Sequence[Answer]:
        """Start `nodes` side by side and wait until each of them answers."""
        with ThreadPoolExecutor(len(nodes) or 1) as pool:
            list(pool.map(lambda node: node.begin(), nodes))
        return [node.answer() for node in nodes]

    def settle(self) -> None:
        """Wait until nodes that came back work together with the others."""

    def refresh(self) -> None:
        """Find out which role each node has now."""

    def meant(self) -> Sequence[Node]:
        """Return the nodes that a fault is for whose user names none."""
        return [member.node for member in self.members]

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something about the nodes holds."""
        reason = "it did not come about"
        deadline = time.monotonic() + self._launch.timeout
        while time.monotonic() < deadline:
            try:
                if holds():
                    return
            except NotReadyError as error:
                reason = str(error)
            self._launch.pause(_POLL)
        raise UnavailableError(f"{what} within {self._launch.timeout:g} s: {reason}.")


class WithSentinels(Single):
    """A primary, a replica, and three sentinels that make the replica primary where they have to."""

    size = 5

    @classmethod
    def parts(cls, addresses: Sequence[Address], settings: Mapping[str, str]) -> Sequence[Part]:
        """Return primary, replica and sentinels; the sentinels know everybody from the start."""
        # Each may have to feed the other; the server's own delay is five seconds.
        primary = Part(settings={"repl-diskless-sync-delay": "0", **settings})
        password = primary.password
        replica = replace(primary, role="replica", lines=("replicaof {} {}".format(*addresses[0]),))
        ids = {each: secrets.token_hex(20) for each in addresses[2:]}
        sentinels = [
            Part("sentinel", password, lines=_watching(addresses, ids, own, password))
            for own in ids
        ]
        return [primary, replica, *sentinels]

    def begin(self) -> Answer:
        """Start the primary first, since a replica that misses it waits for a second."""
        first, *others = (member.node for member in self.members)
        (answer,) = self.start([first])
        self.start(others)
        self._wait(self._is_ready, "The sentinels did not agree on the primary and its replica")
        return answer

    def refresh(self) -> None:
        """Ask the sentinels which node is the primary; where none answers, nothing changes."""
        votes = Counter(filter(None, map(_primary_seen_by, self._sentinels())))
        if not votes:
            return
        ((seen, _),) = votes.most_common(1)
        for member in self.members[:2]:
            member.role = "primary" if member.address == seen else "replica"

    def meant(self) -> Sequence[Node]:
        """Return the present primary."""
        self.refresh()
        return [member.node for member in self.members if member.role == "primary"]

    def _sentinels(self) -> Iterator[Node]:
        return (member.node for member in self.members if member.role == "sentinel")

    def _is_ready(self) -> bool:
        return all(map(_sees_all, self._sentinels()))


class Cluster(Single):
    """Three primaries that share the keys; all stop serving when one is gone."""

    size = 3
    has_bus = True

    @classmethod
    def parts(cls, addresses: Sequence[Address], settings: Mapping[str, str]) -> Sequence[Part]:
        """Return equal nodes."""
        own = {
            "cluster-enabled": "yes",
            "cluster-config-file": "nodes.conf",
            "cluster-node-timeout": str(_NODE_TIMEOUT),
            "cluster-require-full-coverage": "yes",
        }
        common = Part(settings={**own, **settings})
        return [common for _ in addresses]

    def begin(self) -> Answer:
        """Start the nodes, share the slots out among them, and make them known to each other."""
        answer = super().begin()
        try:
            for index, member in enumerate(self.members):
                self._introduce(index, member)
        except NotReadyError as error:
            raise UnavailableError(f"It does not become a cluster: {error}.") from None
        self.settle()
        return answer

    def settle(self) -> None:
        """Wait until each node takes the cluster for whole; not where one is down or paused."""
        nodes = [member.node for member in self.members]
        if all(node.ended() is None and not node.is_paused() for node in nodes):
            self._wait(self._is_whole, "The cluster was not whole")

    def _introduce(self, index: int, member: Member) -> None:
        first, last = (number * _SLOTS // self.size for number in (index, index + 1))
        with _client(member.node) as client:
            client.cluster("SET-CONFIG-EPOCH", index + 1)
            client.cluster("ADDSLOTS", *range(first, last))
            for other in self.members[:index]:
                client.cluster("MEET", *other.address)

    def _is_whole(self) -> bool:
        return all(_is_part_of_whole(member.node, self.size) for member in self.members)


TOPOLOGIES: Mapping[str, type[Single]] = {
    "single": Single,
    "sentinel": WithSentinels,
    "cluster": Cluster,
}


def _watching(
    addresses: Sequence[Address], ids: Mapping[Address, str], own: Address, password: str
) -> Sequence[str]:
    """Return the lines of the sentinel at the address `own`.

    They say what a sentinel would find out by itself within some seconds.
    """
    primary, replica, *_ = (f"{host} {port}" for host, port in addresses)
    others = [f"{each.host} {each.port} {ids[each]}" for each in ids if each != own]
    return (
        f"sentinel myid {ids[own]}",
        f"sentinel monitor {SERVICE_NAME} {primary} {_QUORUM}",
        f"sentinel auth-pass {SERVICE_NAME} {password}",
        f"sentinel down-after-milliseconds {SERVICE_NAME} {_DOWN_AFTER}",
        f"sentinel failover-timeout {SERVICE_NAME} {3 * _DOWN_AFTER}",
        f"sentinel known-replica {SERVICE_NAME} {replica}",
        *(f"sentinel known-sentinel {SERVICE_NAME} {other}" for other in others),
    )


def _primary_seen_by(sentinel: Node) -> Address | None:
    """Return where the primary is; None where the sentinel does not answer."""
    with suppress(NotReadyError), _client(sentinel) as client:
        seen = client.sentinel_get_master_addr_by_name(SERVICE_NAME)
        return None if seen is None else Address(seen[0].decode(), int(seen[1]))
    return None


def _sees_all(sentinel: Node) -> bool:
    """Return whether a sentinel could make the replica primary this moment."""
    with _client(sentinel) as client:
        client.sentinel_ckquorum(SERVICE_NAME)
        (replica,) = client.sentinel_slaves(SERVICE_NAME)
    flags = (
        set(replica["flags"].split(",")) if isinstance(replica["flags"], str) else replica["flags"]
    )
    return flags == {"slave"} and replica["master-link-status"] == "ok"


def _is_part_of_whole(node: Node, size: int) -> bool:
    with _client(node) as client:
        info = client.cluster("INFO")
    return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == size


@contextmanager
def _client(node: Node) -> Iterator[Any]:
    """Connect to a node.

    Raises:
        NotReadyError: it does not answer, or refuses what is asked of it in the block.
    """
    with redis_errors(node.url):
        client = redis_client(node.url, timeout=_PATIENCE)
        try:
            yield client
        finally:
            client.close()
