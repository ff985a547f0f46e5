"""Shards: a share of the work for each of several machines, the same shares on every one of them."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec
from memory_matrix.matrix.problems import show
from memory_matrix.matrix.suite import SuiteCell, SuiteProcess

MOST_SHARDS = 256
"""Jobs that a matrix of GitHub may have."""

Item = TypeVar("Item")
SuiteKey = tuple[str, tuple[str, ...], str, str | None]
"""Environment, servers, store and serializer: what tells the cells of the suite apart."""


@dataclass(frozen=True)
class Shard:
    """One of the shares that the work is cut into; the first one is number 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE = Shard(1, 1)


@dataclass(frozen=True)
class Seconds:
    """How long everything took in an earlier run, as far as that is known."""

    write: Mapping[str, float] = field(default_factory=dict)
    """By environment, its building included."""
    read: Mapping[str, float] = field(default_factory=dict)
    suite: Mapping[SuiteKey, float] = field(default_factory=dict)


def parse_shard(text: str) -> Shard:
    """Return the shard that `text` names, such as `2/4`.

    Raises:
        UsageError: it names none.
    """
    parts = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", text)
    shard = Shard(int(parts[1]), int(parts[2])) if parts else Shard(0, 0)
    if not 1 <= shard.number <= shard.of <= MOST_SHARDS:
        raise UsageError(
            f"--shard {show(text)}: this is no shard; write NUMBER/OF, such as 2/4, from 1/{MOST_SHARDS}"
            f" to {MOST_SHARDS}/{MOST_SHARDS}."
        )
    return shard


def packed(
    items: Sequence[Item], weights: Sequence[float | None], shards: int
) -> tuple[tuple[Item, ...], ...]:
    """Return `items` in `shards` shares of about the same weight, in each in their order.

    What nobody knows the weight of counts as the median of what is known. The heaviest goes first,
    always to the share that is lightest so far; there is an empty one only where items are too few.
    """
    heavy = _filled(weights)
    taken: list[list[int]] = [[] for _ in range(shards)]
    loads = [(0.0, 0, number) for number in range(shards)]
    for place in sorted(range(len(items)), key=lambda place: -heavy[place]):
        load, count, number = loads[0]
        heapq.heapreplace(loads, (load + heavy[place], count + 1, number))
        taken[number].append(place)
    return tuple(tuple(items[place] for place in sorted(places)) for places in taken)


def pack_environments(
    environments: Sequence[EnvironmentSpec], seconds: Mapping[str, float], shards: int
) -> tuple[tuple[EnvironmentSpec, ...], ...]:
    """Return the environments of each shard of a phase that took `seconds` before."""
    return packed(environments, [seconds.get(each.name) for each in environments], shards)


def pack_processes(
    processes: Sequence[SuiteProcess], seconds: Mapping[SuiteKey, float], shards: int
) -> tuple[tuple[SuiteProcess, ...], ...]:
    """Return the processes of each shard of the suite, whose cells took `seconds` before."""
    return packed(processes, [_weight(each, seconds) for each in processes], shards)


def _filled(weights: Sequence[float | None]) -> list[float]:
    known = [max(each, 0.0) for each in weights if each is not None]
    usual = median(known) if known else 1.0
    return [usual if each is None else max(each, 0.0) for each in weights]


def _weight(process: SuiteProcess, seconds: Mapping[SuiteKey, float]) -> float | None:
    if not seconds:
        return None
    known = [seconds[key] for key in map(_key, process.cells) if key in seconds]
    return sum(known) if known else None


def _key(cell: SuiteCell) -> SuiteKey:
    servers = tuple(server.name for server in cell.servers)
    return cell.environment.name, servers, cell.store, cell.serializer
