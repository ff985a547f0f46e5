"""A store whose connections leave the schema of its case: a failed case says where its tables are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from memory_matrix.stores.loading import check
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.suite.advice import advice
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed
from memory_matrix.suite.running import opened
from memory_matrix.suite.stores import StoreParameter
from memory_matrix.suite.worker import Worker

pytestmark = pytest.mark.integration

FAILED = CaseFailed("it did not")


class LeavesItsSchema(PostgresAdapter):
    """Connects without the options of the DSN."""

    def open(self, env: StoreEnv) -> Any:
        assert env.postgres_dsn is not None
        bare = urlsplit(env.postgres_dsn)._replace(query="").geturl()
        return super().open(replace(env, postgres_dsn=bare))


@pytest.fixture
def memory(request: pytest.FixtureRequest, suite_worker: Worker) -> Iterator[Memory]:
    source = suite_worker.options.sources("postgres")[0]
    store = check(request.param(), "tests:store")
    with opened(suite_worker, StoreParameter(store, {"postgres": source}, (), None)) as memory:
        memory.setup()
        yield memory
        for name in ("messages", "sessions", "records", "writes"):
            memory.site.sql(f"DROP TABLE IF EXISTS public.memory_{name} CASCADE")


@pytest.mark.parametrize("memory", [LeavesItsSchema], indirect=True)
def test_tables_elsewhere_are_named(memory: Memory) -> None:
    said = advice(memory, FAILED)

    assert "public.memory_messages and public.memory_records" in said
    assert "keep the `options` of the DSN" in said


@pytest.mark.parametrize("memory", [PostgresAdapter], indirect=True)
def test_a_store_that_stays_in_its_schema_has_none(memory: Memory) -> None:
    assert "options" not in advice(memory, FAILED)
