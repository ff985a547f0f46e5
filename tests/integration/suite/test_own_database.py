"""A store that needs a database of its own gets one, and what looks from outside looks into that one."""

from __future__ import annotations

import pytest

from memory_matrix.stores.postgres import AsyncPostgresAdapter, PostgresAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration

CASES = (
    "text_ascii_round_trip",
    "order_survives_row_rewrite",
    "pool_after_empty_read",
    "ttl_set_on_every_key",
    "re_backend_killed_once",
    "iso_two_schemas_or_databases",
)


class InADatabase(PostgresAdapter):
    own_database = True


class AsyncInADatabase(AsyncPostgresAdapter):
    own_database = True


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("adapter", [InADatabase, AsyncInADatabase])
def test_cases_pass_in_a_database_of_the_cases_own(
    adapter: type[PostgresAdapter], case: str, suite_worker: Worker
) -> None:
    assert try_case(suite_worker, adapter, case) is None
