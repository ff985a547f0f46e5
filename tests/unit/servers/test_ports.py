"""A port stays a server's own while the server does not run."""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack

import pytest

from memory_matrix.servers.ports import BUS_OFFSET, LOOPBACK, reserved_port
from memory_matrix.servers.processes import free_port

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux lets a server listen on a port that is held for it"
)


def _listen(port: int) -> socket.socket:
    """Listen as servers do."""
    return socket.create_server((LOOPBACK, port), reuse_port=False)


def test_a_server_can_listen_on_it_again_and_again() -> None:
    with reserved_port() as port:
        for _ in range(3):
            with _listen(port), socket.create_connection((LOOPBACK, port)):
                pass


def test_nobody_answers_on_it_meanwhile() -> None:
    with reserved_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, port))


def test_nobody_else_is_given_it() -> None:
    with ExitStack() as stack:
        reserved = {stack.enter_context(reserved_port()) for _ in range(50)}
        assert len(reserved) == 50
        assert not reserved & {free_port() for _ in range(500)}


def test_it_is_free_afterwards() -> None:
    with reserved_port() as port:
        pass
    with socket.socket() as other:
        other.bind((LOOPBACK, port))


def test_the_bus_of_a_cluster_is_reserved_with_it() -> None:
    with reserved_port(bus=True) as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind((LOOPBACK, port + BUS_OFFSET))
        with _listen(port + BUS_OFFSET):
            pass


def test_what_is_reserved_already_is_no_bus_of_another_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two runs may reserve at once, and neither listens yet."""
    with reserved_port() as taken, reserved_port(bus=True) as other:
        proposed = iter([taken - BUS_OFFSET])

        class Proposing(socket.socket):
            def bind(self, address: tuple[str, int]) -> None:  # type: ignore[override]
                host, port = address
                super().bind((host, port or next(proposed, 0)))

        monkeypatch.setattr("memory_matrix.servers.ports.socket.socket", Proposing)
        with reserved_port(bus=True) as port:
            assert port != taken - BUS_OFFSET
            assert len({taken, other, other + BUS_OFFSET, port, port + BUS_OFFSET}) == 5
