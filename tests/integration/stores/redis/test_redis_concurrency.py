"""Writers and readers that meet, large batches, and event loops."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from memory_matrix.stores import Message, Record, Scope
from memory_matrix.stores.errors import ConflictError, WaitError
from memory_matrix.stores.redis import AsyncRedisStore, RedisStore, Settings, Target
from memory_matrix.suite.faults import FaultyRedis

pytestmark = [pytest.mark.integration, pytest.mark.concurrency]

SCOPE = Scope()


def said(*texts: str) -> list[Message]:
    return [Message("user", text) for text in texts]


@pytest.fixture
def plain(url: str, prefix: str) -> Any:
    with RedisStore(url, Settings(prefix=prefix, dimensions=8)) as store:
        yield store
        store.clear(SCOPE)
        store.delete_all(SCOPE)


def test_messages_of_many_writers_are_there_once_and_in_their_order(plain: RedisStore) -> None:
    with ThreadPoolExecutor(8) as workers:

        def write(worker: int) -> None:
            for number in range(50):
                plain.append(SCOPE, said(f"{worker} {number}"))

        list(workers.map(write, range(8)))
    found = [message.text for message in plain.read(SCOPE)]
    assert len(found) == 400
    for worker in range(8):
        own = [text for text in found if text.startswith(f"{worker} ")]
        assert own == [f"{worker} {number}" for number in range(50)]


def test_each_message_is_popped_once(plain: RedisStore) -> None:
    plain.append(SCOPE, said(*map(str, range(40))))
    with ThreadPoolExecutor(8) as workers:
        popped = list(workers.map(lambda _: plain.pop(SCOPE), range(50)))
    counts = Counter(message.text for message in popped if message is not None)
    assert counts == Counter(map(str, range(40)))


def test_of_two_with_one_handle_one_is_refused(plain: RedisStore) -> None:
    plain.append(SCOPE, said("a"))
    handles = [plain.load(SCOPE) for _ in range(8)]

    def write(handle: Any) -> bool:
        try:
            plain.append_with(handle, said("b"))
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(write, handles)) == 1
    assert plain.count(SCOPE) == 2


def test_updates_of_different_keys_are_all_kept(plain: RedisStore) -> None:
    plain.put(SCOPE, Record("r"))
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(lambda n: plain.update(SCOPE, "r", metadata={str(n): n}), range(80)))
    found = plain.get(SCOPE, "r")
    assert found is not None
    assert len(found.metadata) == 80


def test_a_reader_sees_the_old_or_the_new_history(plain: RedisStore) -> None:
    plain.replace(SCOPE, said(*["0"] * 50))
    with ThreadPoolExecutor(2) as workers:
        writer = workers.submit(
            lambda: [plain.replace(SCOPE, said(*[str(number)] * 50)) for number in range(100)]
        )
        while not writer.done():
            found = [message.text for message in plain.read(SCOPE)]
            assert len(found) == 50
            assert len(set(found)) == 1


def test_large_batches_and_texts_come_back(open_store: Callable[..., Any], url: str) -> None:
    store = open_store(url)
    huge = "é漢🧠x" * (2**20)
    try:
        store.append(SCOPE, said(*map(str, range(5000))))
        store.append(SCOPE, said(huge))
        read = [message.text for message in store.read(SCOPE)]
        assert read == [*map(str, range(5000)), huge]
        store.put_many(SCOPE, [Record(f"{number:04}", huge[:100]) for number in range(5000)])
        assert len(store.list_records(SCOPE).items) == 5000
        assert store.delete_all(SCOPE) == 5000
    finally:
        store.clear(SCOPE)
        store.delete_all(SCOPE)


def test_one_store_serves_loops_one_after_another(url: str, prefix: str) -> None:
    store = AsyncRedisStore(url, Settings(prefix=prefix))
    asyncio.run(store.append(SCOPE, said("a")))
    asyncio.run(store.append(SCOPE, said("b")))
    messages = asyncio.run(store.read(SCOPE))
    asyncio.run(store.clear(SCOPE))

    assert [message.text for message in messages] == ["a", "b"]


def test_many_calls_at_once_get_their_own_answers(url: str, prefix: str) -> None:
    async def run() -> list[Any]:
        async with AsyncRedisStore(Target(url, pool_size=4), Settings(prefix=prefix)) as store:
            scopes = [Scope(session=str(number)) for number in range(200)]
            await asyncio.gather(*(store.append(each, said(each.session)) for each in scopes))
            found = await asyncio.gather(*(store.read(each) for each in scopes))
            await asyncio.gather(*(store.clear(each) for each in scopes))
            return [messages[0].text for messages in found]

    assert asyncio.run(run()) == [str(number) for number in range(200)]


def test_cancelled_calls_disturb_no_others(url: str, prefix: str) -> None:
    async def run() -> None:
        async with AsyncRedisStore(Target(url, pool_size=2), Settings(prefix=prefix)) as store:
            await store.append(SCOPE, said("x" * 100_000))
            for turn in range(60):
                calls = [asyncio.create_task(store.read(SCOPE)) for _ in range(6)]
                for _ in range(turn % 12):
                    await asyncio.sleep(0)
                for call in calls[::2]:
                    call.cancel()
                kept = await asyncio.gather(*calls[1::2])
                assert all(len(messages[0].text) == 100_000 for messages in kept)
                await asyncio.gather(*calls[::2], return_exceptions=True)
            await store.clear(SCOPE)

    asyncio.run(run())


def test_the_loop_goes_on_while_a_call_waits(server: FaultyRedis) -> None:
    async def run() -> int:
        ticks = 0
        async with AsyncRedisStore(Target(server.url, wait=0.5)) as store:
            await store.read(SCOPE)
            server.pause()
            waiting = asyncio.create_task(store.read(SCOPE))
            while not waiting.done():
                await asyncio.sleep(0.01)
                ticks += 1
            server.resume()
            with pytest.raises(WaitError):
                await waiting
        return ticks

    assert asyncio.run(run()) > 10


def test_after_closing_no_task_and_no_connection_is_left(server: FaultyRedis, outside: Any) -> None:
    async def run() -> None:
        store = AsyncRedisStore(Target(server.url, pool_size=4))
        await asyncio.gather(*(store.read(SCOPE) for _ in range(20)))
        await store.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    with RedisStore(server.url) as store:
        store.read(SCOPE)
    deadline = time.monotonic() + 10
    while len(outside.client_list()) > 1:
        assert time.monotonic() < deadline, "connections of closed stores are left"


def test_the_machine_clock_and_its_zone_do_not_matter(plain: RedisStore, url: str) -> None:
    with redis.Redis.from_url(url) as client:
        seconds, micros = client.time()
    plain.append(SCOPE, said("a"))
    created = plain.read(SCOPE)[0].created_at
    assert created is not None
    assert abs(created.timestamp() - seconds - micros / 1e6) < 60
