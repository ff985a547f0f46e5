"""Shards of the suite become the report of one machine, in any order; what is lost is missing."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memory_matrix import __version__
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import Waiver
from memory_matrix.partials import Header
from memory_matrix.report.model import (
    Baseline,
    EnvironmentRecord,
    Report,
    ServerRecord,
    StoreRecord,
    Strategy,
    SuiteResult,
    to_json,
)
from memory_matrix.suite.shards import load_suite, merge_suite, save_suite

UNITS = (("a on pg17", "c on pg17"), ("b on pg17",), ("a on pg18", "b on pg18"))
WAIVERS = (
    Waiver("ticket 1", "suite.waiver[0]", dt.date(2999, 1, 1), case="needed"),
    Waiver("ticket 2", "suite.waiver[1]", dt.date(2999, 1, 1), case="passes"),
)


def header(number: int) -> Header:
    return Header(
        "suite", __version__, "d" * 16, f"{number}/3", UNITS, ("a", "b", "c"), "memory-matrix.toml"
    )


def report(number: int) -> Report:
    """Return what a shard found."""
    places = [unit.split(" on ") for unit in UNITS[number - 1]]
    environments = dict.fromkeys(environment for environment, _ in places)
    return Report(
        environments=tuple(EnvironmentRecord(each, "3.12.1") for each in environments),
        servers=tuple(
            ServerRecord(each, "postgres", each[2:], f"image:{each}")
            for each in dict.fromkeys(server for _, server in places)
        ),
        suite=tuple(
            SuiteResult(environment, (server,), "S", case, outcome, new=outcome == "failed" or None)
            for environment, server in places
            for case, outcome in (("passes", "passed"), ("needed", "waived"), ("fails", "failed"))
        ),
        stores=tuple(StoreRecord("S", each) for each in environments),
        strategy=Strategy("full", 6, 6, 5),
        version=__version__,
        digest="d" * 16,
        shard=f"{number}/3",
        locations={"S": "store.py:1"},
        baseline=Baseline("base"),
    )


def save(folder: Path, number: int, found: Report | None = None) -> Path:
    """Save a shard, and return its JSON file."""
    save_suite(
        header(number),
        found or report(number),
        report_dir=folder,
        waivers=WAIVERS,
        servers=["pg17", "pg18"],
    )
    return folder / f"suite-{number}-of-3" / "suite.json"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report folder that all shards leave."""
    folder = tmp_path_factory.mktemp("left")
    for number in (1, 2, 3):
        save(folder, number)
    return folder


@pytest.fixture
def saved(left: Path, tmp_path: Path) -> list[Path]:
    """The JSON files of all shards."""
    shutil.copytree(left, tmp_path, dirs_exist_ok=True)
    return [tmp_path / each.relative_to(left) for each in sorted(left.glob("*/suite.json"))]


def merged(paths: Sequence[Path]) -> Report:
    return merge_suite(list(map(load_suite, paths)))


def test_all_shards_are_one_report(saved: list[Path]) -> None:
    found = merged(saved)

    assert [each.name for each in found.environments] == ["a", "b", "c"]
    assert [each.name for each in found.servers] == ["pg17", "pg18"]
    assert [(each.environment, each.servers[0]) for each in found.suite[::3]] == [
        ("a", "pg17"), ("a", "pg18"), ("b", "pg17"), ("b", "pg18"), ("c", "pg17"),
    ]  # fmt: skip
    assert [each.environment for each in found.stores] == ["a", "b", "c"]
    assert found.strategy == Strategy("full", 6, 6, 5)
    assert found.stale_waivers == (
        "suite.waiver[1] (ticket 2): every case it covers passes; take it out.",
    )
    assert (found.shard, found.missing, found.baseline) == (None, (), None)
    assert found.merged == ("suite 1/3", "suite 2/3", "suite 3/3")
    assert {each.new for each in found.suite} == {None}
    assert found.locations == {"S": "store.py:1"}


def test_their_order_and_copies_of_them_change_nothing(saved: list[Path]) -> None:
    first = to_json(merged(saved))

    for order in itertools.permutations(saved):
        assert to_json(merged(order)) == first
    assert to_json(merged([*saved, saved[1]])) == first


@pytest.mark.parametrize("lost", range(3))
def test_a_lost_shard_is_missing_process_by_process(saved: list[Path], lost: int) -> None:
    found = merged([each for number, each in enumerate(saved) if number != lost])

    assert [(each.part, each.name, each.shard) for each in found.missing] == [
        ("suite", unit, f"{lost + 1}/3") for unit in UNITS[lost]
    ]
    assert found.stale_waivers == ()


def test_an_environment_that_one_shard_had_not_could_not_be_had(tmp_path: Path) -> None:
    down = EnvironmentRecord("a", "3.12", status="unavailable", reason="no index")
    lost = replace(report(3), environments=(down, EnvironmentRecord("b", "3.12.1")), strategy=None)
    found = merged([save(tmp_path, 1), save(tmp_path, 2), save(tmp_path, 3, lost)])

    assert found.environments[0] == down
    assert found.strategy is not None


@pytest.mark.parametrize("fate", ["gone", "changed", "another"])
def test_a_report_that_is_not_the_shards_own_is_refused(saved: list[Path], fate: str) -> None:
    beside = saved[0].with_name("report.json")
    if fate == "gone":
        beside.unlink()
    elif fate == "changed":
        beside.write_text(beside.read_text().replace("passed", "failed"))
    else:
        beside.write_bytes(saved[1].with_name("report.json").read_bytes())

    with pytest.raises(UsageError) as caught:
        load_suite(saved[0])

    assert str(beside) in str(caught.value)


def test_shards_of_other_shares_are_refused_by_both_names(saved: list[Path]) -> None:
    data = json.loads(saved[2].read_bytes())
    data["header"]["units"][2] = ["b on pg18"]
    saved[2].write_text(json.dumps(data))

    with pytest.raises(UsageError, match="other shares of the work") as caught:
        merged(saved)

    assert str(saved[0]) in str(caught.value)
    assert str(saved[2]) in str(caught.value)
