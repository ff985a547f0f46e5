"""What a proxy does to connections, as real clients see it."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event

import psycopg
import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from memory_matrix.suite.options import EMBEDDED
from memory_matrix.suite.outcomes import CaseSkipped
from memory_matrix.suite.proxies import Proxy, targets_of, through
from memory_matrix.suite.worker import Worker

pytestmark = pytest.mark.integration


@pytest.fixture
def redis_url(suite_worker: Worker) -> str:
    return suite_worker.redis(EMBEDDED).url


@pytest.fixture
def postgres_url(suite_worker: Worker) -> str:
    return suite_worker.postgres(EMBEDDED).url


@pytest.fixture
def proxy(redis_url: str, postgres_url: str) -> Iterator[Proxy]:
    with closing(Proxy(targets_of(postgres_url, redis_url))) as made:
        yield made


@pytest.fixture
def client(proxy: Proxy, redis_url: str) -> Iterator[Redis]:
    retry = Retry(NoBackoff(), 0)
    with Redis.from_url(str(through(proxy, redis_url)), socket_timeout=10, retry=retry) as made:
        yield made


def test_what_is_held_back_arrives_when_it_is_released(proxy: Proxy, client: Redis) -> None:
    client.ping()
    with ThreadPoolExecutor() as pool:
        with proxy.holding():
            answer = pool.submit(client.echo, "held")
            assert proxy.wait_until_asked()
            assert not answer.done()
        assert answer.result(10) == b"held"


def test_nothing_is_asked_where_nobody_asks(proxy: Proxy) -> None:
    with proxy.holding():
        assert not proxy.wait_until_asked(0.01)


def test_a_lost_reply_is_to_a_command_that_was_done(proxy: Proxy, client: Redis) -> None:
    client.delete("lost")
    proxy.lose_reply(2)
    client.incr("lost")
    with pytest.raises(RedisConnectionError):
        client.incr("lost")

    assert client.get("lost") == b"2"
    client.delete("lost")


def test_cut_connections_are_counted(proxy: Proxy, client: Redis) -> None:
    client.ping()

    assert proxy.cut() == 1
    assert proxy.cut() == 0
    client.ping()
    assert proxy.cut() == 1


def test_no_connection_is_made_while_it_is_down(
    proxy: Proxy, client: Redis, postgres_url: str
) -> None:
    client.ping()
    with proxy.down():
        for _ in range(2):
            with pytest.raises(RedisConnectionError):
                client.ping()
        with pytest.raises(psycopg.OperationalError, match="refused"):
            psycopg.connect(str(through(proxy, postgres_url)))

    client.ping()
    psycopg.connect(str(through(proxy, postgres_url))).close()


def test_clients_that_come_as_it_ends_are_hung_up(redis_url: str) -> None:
    target = targets_of(redis_url)
    for _ in range(3):
        proxy, ended = Proxy(target), Event()

        def knock(port: int = proxy.ports["redis"], ended: Event = ended) -> None:
            while not ended.is_set():
                with (
                    suppress(OSError),
                    socket.create_connection(("127.0.0.1", port), 0.2) as client,
                ):
                    client.send(b"*1")

        with ThreadPoolExecutor(3) as pool:
            for _ in range(3):
                pool.submit(knock)
            with proxy.down():
                pass
            proxy.close()
            ended.set()
        gc.collect()  # what nobody closed warns


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_starting_redis_says_loading_to_all_but_new_connections(
    proxy: Proxy, redis_url: str, protocol: int
) -> None:
    url, retry = str(through(proxy, redis_url)), Retry(NoBackoff(), 0)
    with Redis.from_url(url, protocol=protocol, retry=retry) as client:
        with proxy.starting():
            with pytest.raises(BusyLoadingError):
                client.get("anything")
            with pytest.raises(BusyLoadingError):
                client.set("never", "x" * 100_000)
            assert client.client_id()
        assert client.get("never") is None


def test_a_starting_postgres_takes_no_connection(proxy: Proxy, postgres_url: str) -> None:
    url = str(through(proxy, postgres_url))
    with psycopg.connect(url) as before, proxy.starting():
        with pytest.raises(psycopg.OperationalError, match="starting up"):
            psycopg.connect(url)
        with pytest.raises(psycopg.OperationalError):
            before.execute("SELECT 1")

    psycopg.connect(url).close()


@pytest.mark.parametrize(
    "url",
    [
        "unix:///run/redis.sock",
        "rediss://example.org/0",
        "postgresql://a,b/postgres",
        "postgresql:///postgres?host=/run",
        "postgresql://example.org/postgres?sslmode=verify-full",
    ],
)
def test_no_proxy_stands_before_what_it_cannot_pass_on(url: str) -> None:
    with pytest.raises(CaseSkipped):
        targets_of(url)
