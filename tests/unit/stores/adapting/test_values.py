"""Times, times to live and messages as libraries take them, and the keys of a prefix."""

from __future__ import annotations

import datetime as dt

import fakeredis
import pytest

from memory_matrix.stores.adapting.on_redis import keys_at
from memory_matrix.stores.adapting.values import epoch, extras, of_extras, whole_ttl
from memory_matrix.stores.protocol import Message, NotOffered, StoreEnv

TOOL = {"name": "search", "call_id": "1"}


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (Message("user", "hello"), {}),
        (Message("user", "hello", metadata={"a": 1}), {"metadata": {"a": 1}}),
        (Message("tool", "found", tool=TOOL), {"tool": TOOL}),
        (Message("tool", "found", tool={}), {"tool": {}}),
    ],
)
def test_what_has_no_place_is_kept_where_there_is_any_and_comes_back(
    message: Message, kept: dict[str, object]
) -> None:
    assert extras(message) == kept
    assert Message(message.role, message.text, **of_extras(kept)) == message


def test_a_time_is_the_seconds_since_1970() -> None:
    east = dt.timezone(dt.timedelta(hours=2))
    assert epoch(dt.datetime(1970, 1, 1, 2, 0, 1, 500_000, east)) == 1.5


def test_a_time_without_a_zone_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="without a zone"):
        epoch(dt.datetime.fromisoformat("2030-01-01"))


@pytest.mark.parametrize(("ttl", "whole"), [(None, None), (3.0, 3), (0, 0)])
def test_a_time_to_live_of_whole_seconds_is_taken(ttl: float | None, whole: int | None) -> None:
    assert whole_ttl(StoreEnv(ttl=ttl)) == whole


def test_a_part_of_a_second_is_refused() -> None:
    with pytest.raises(ValueError, match=r"whole seconds as a time to live, not 0\.5"):
        whole_ttl(StoreEnv(ttl=0.5))


def test_keys_are_those_that_begin_so_whatever_a_pattern_would_mean() -> None:
    client = fakeredis.FakeRedis(decode_responses=True)
    client.mset({"a*[b]?:2": "", "a*[b]?:1": "", "axbx:1": "", "a*[b]?": ""})
    assert keys_at(client, "a*[b]?:") == ["a*[b]?:1", "a*[b]?:2"]
