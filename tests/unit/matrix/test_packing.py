"""Shards: every unit is in exactly one, and none has much more to do than another."""

from __future__ import annotations

import random

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec, ServerSource
from memory_matrix.matrix.packing import Shard, pack_processes, packed, parse_shard
from memory_matrix.matrix.suite import SuiteCell, SuiteProcess
from support.tables import table


@table("text", ["1/1", "1/256", "256/256", "2/4"])
def test_a_shard_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_shard(text)) == text


@table(
    "text",
    ["", "0/1", "2/1", "1/257", "1", "1/", "/1", "-1/2", "1/2/3", " 1/2", "a/b", "1/0", "¹/2"],
)
def test_what_is_no_shard_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError, match="such as 2/4, from 1/256 to 256/256"):
        parse_shard(text)


def test_a_shard_may_have_leading_zeros() -> None:
    assert parse_shard("02/04") == Shard(2, 4)


def weights_of(seed: int) -> list[float | None]:
    dice = random.Random(seed)
    count = dice.randrange(1, 40)
    return [
        dice.choice([None, 0.0, dice.uniform(0, 5), dice.expovariate(0.1)]) for _ in range(count)
    ]


@table("seed", range(40))
def test_every_item_is_in_one_share_and_in_its_order(seed: int) -> None:
    weights = weights_of(seed)
    items = list(range(len(weights)))

    for shards in (1, 2, 3, 7, len(items), len(items) + 3):
        shares = packed(items, weights, shards)

        assert len(shares) == shards
        assert sorted(item for share in shares for item in share) == items
        assert all(list(share) == sorted(share) for share in shares)
        assert shares == packed(items, weights, shards)
        assert sum(map(bool, shares)) == min(shards, len(items))


@table("seed", range(40))
def test_no_share_has_more_than_one_item_too_much(seed: int) -> None:
    weights = [each or 0.0 for each in weights_of(seed)]

    for shards in (2, 3, 7):
        loads = [sum(share) for share in packed(weights, weights, shards)]

        assert max(loads) - min(loads) <= max(weights) + 1e-9


@pytest.mark.parametrize("weight", [None, 0.0, 2.5])
def test_equal_items_are_dealt_out_evenly(weight: float | None) -> None:
    sizes = [len(share) for share in packed(range(20), [weight] * 20, 6)]

    assert sorted(sizes) == [3, 3, 3, 3, 4, 4]


def test_the_heaviest_has_a_share_of_its_own() -> None:
    assert set(packed("abcd", [1, 9, 2, 3], 2)) == {("b",), ("a", "c", "d")}


def test_what_nobody_knows_counts_as_the_median() -> None:
    unknown = packed("abcd", [10, None, 2, 4], 2)

    assert unknown == packed("abcd", [10, 4, 2, 4], 2)


def test_nothing_is_packed_into_empty_shares() -> None:
    assert packed((), (), 3) == ((), (), ())


def test_a_process_weighs_what_its_cells_took() -> None:
    pg, redis = (ServerSource(kind, "image", kind, kind) for kind in ("postgres", "redis"))
    processes = []
    for name in ("a", "b", "c"):
        environment = EnvironmentSpec(name, "3.12")
        cells = tuple(SuiteCell(environment, (server,), server.kind) for server in (pg, redis))
        processes.append(SuiteProcess(environment, pg, redis, cells))
    seconds = {
        ("a", ("postgres",), "postgres", None): 5.0,
        ("a", ("redis",), "redis", None): 6.0,
        ("b", ("redis",), "redis", None): 4.0,
        ("c", ("postgres",), "postgres", None): 3.0,
        ("gone", ("redis",), "redis", None): 99.0,
    }

    shares = pack_processes(processes, seconds, 2)

    assert [[each.name for each in share] for share in shares] == [
        ["a on postgres, redis"],
        ["b on postgres, redis", "c on postgres, redis"],
    ]
