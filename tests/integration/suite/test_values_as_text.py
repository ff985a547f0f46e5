"""Stores that keep as text what JSON has not, and say so."""

from __future__ import annotations

import datetime as dt
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from memory_matrix.stores.errors import RefusedError
from memory_matrix.stores.policy import VALUE_KINDS
from memory_matrix.stores.postgres import PostgresAdapter
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.worker import Worker
from support.mutants import try_case
from support.mutations import leaves, of_writes

pytestmark = pytest.mark.integration


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else str(value)


class SaysWhatPythonSays(of_writes(RedisAdapter, metadata=leaves(_text))):  # type: ignore[misc]
    """Writes the text of each value, as `json.dumps(..., default=str)` does."""

    policy = replace(RedisAdapter.policy, value_kinds=dict.fromkeys(VALUE_KINDS, "text"))


def _canonical(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise RefusedError(f"{value} has no zone")
        return value.astimezone(dt.timezone.utc).isoformat()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return str(value) if isinstance(value, UUID | Decimal) else value


class SaysItInUtc(of_writes(PostgresAdapter, metadata=leaves(_canonical))):  # type: ignore[misc]
    """Writes one text for one moment and refuses a time without a zone."""

    policy = replace(
        PostgresAdapter.policy,
        value_kinds=dict.fromkeys(("datetime", "uuid", "decimal", "bytes"), "text"),
    )


@pytest.mark.parametrize("adapter", [SaysWhatPythonSays, SaysItInUtc])
@pytest.mark.parametrize("case", ["meta_datetime_uuid_decimal_bytes", "meta_set_tuple_enum"])
def test_texts_that_tell_values_apart_are_good(
    case: str, adapter: type[Any], suite_worker: Worker
) -> None:
    assert try_case(suite_worker, adapter, case) is None
