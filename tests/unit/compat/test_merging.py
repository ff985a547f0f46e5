"""However compat is cut into shards, and in whatever order they come, the report is the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.compat.merging import merge_compat
from memory_matrix.compat.model import ReadKey, ReadResult, Reads
from memory_matrix.compat.partial import load_read, load_written, save_read
from memory_matrix.errors import UsageError
from memory_matrix.matrix.packing import Shard
from memory_matrix.report.model import Cell, Report, to_json
from memory_matrix.worker.describe import digest
from support import shards
from support.shards import NAMES, save_all, save_written_shard, written_partial
from support.tables import table

pytestmark = pytest.mark.large  # every cut and every order of shards, each of which is a run


def merged(written: Sequence[Path], read: Sequence[Path]) -> Report:
    return merge_compat(
        [load_written(each) for each in written], [load_read(each) for each in read]
    )


def facts(report: Report) -> dict[str, Any]:
    """Return what has to be the same however many shards there were."""
    return to_json(replace(report, merged=()))


def place(cell: Cell) -> tuple[object, ...]:
    """Return what tells a cell from all others."""
    return cell.writer, cell.reader, cell.serializer, cell.payload, cell.via


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a single shard."""
    return merged(*save_all(tmp_path_factory.mktemp("whole"), 1, 1))


def test_a_single_shard_gives_all_cells(whole: Report) -> None:
    found = {
        (each.writer, each.reader, each.payload): each
        for each in whole.cells
        if each.outcome != "unstorable"
    }

    assert found["e0", "e3", "note"].outcome == "unreadable"
    assert found["e0", "e3", "note"].is_break
    assert found["e0", "e3", "note"].direction == "backward"
    assert found["e3", "e0", "note"].outcome == "changed"
    assert found["e3", "e0", "note"].known == "ticket 7"
    assert found["e0", "e1", "note"].outcome == "ok"
    assert found["e1", "e1", "odd"].outcome == "skipped"
    assert [each.payload for each in whole.payloads] == ["odd"]
    assert whole.missing == whole.stale_known == ()
    assert whole.environments[0].seconds == {"build": 0.5, "write": 1.5, "read": 2.5}
    assert whole.locations == {"list": "payloads.py:1"}


@table(("writers", "readers"), [(2, 1), (1, 3), (3, 2), (4, 4), (6, 5)])
def test_the_report_is_the_same_however_it_was_cut(
    tmp_path: Path, whole: Report, writers: int, readers: int
) -> None:
    report = merged(*save_all(tmp_path, writers, readers))

    assert facts(report) == facts(whole)
    assert report.merged == (
        *(f"compat write {each}" for each in shards.shards(writers)),
        *(f"compat read {each}" for each in shards.shards(readers)),
    )


def test_the_report_is_the_same_in_whatever_order_shards_come(tmp_path: Path) -> None:
    written, read = save_all(tmp_path, 3, 2)
    first = to_json(merged(written, read))
    wrote, had_read = list(map(load_written, written)), list(map(load_read, read))

    for writers in itertools.permutations(wrote):
        for readers in itertools.permutations(had_read):
            assert to_json(merge_compat(writers, readers)) == first


def test_a_copy_of_a_shard_changes_nothing(tmp_path: Path) -> None:
    written, read = save_all(tmp_path, 2, 2)

    assert to_json(merged([*written, *written], [*read, read[0]])) == to_json(merged(written, read))


@pytest.mark.parametrize("lost", range(3))
def test_a_lost_write_shard_is_missing_and_the_rest_is_judged(tmp_path: Path, lost: int) -> None:
    written = [save_written_shard(tmp_path, each) for each in shards.shards(3)]
    names = load_written(written[lost]).header.units[lost]
    kept = [each for number, each in enumerate(written) if number != lost]
    read = [
        save_read(shards.read_partial(tmp_path, each, kept), tmp_path / "found") / "read.json"
        for each in shards.shards(2)
    ]

    report = merged(kept, read)

    assert [(each.name, each.shard) for each in report.missing] == [
        (f"{name} as writer", f"{lost + 1}/3") for name in names
    ]
    here = set(NAMES) - set(names)
    assert {each.writer for each in report.cells} == {each.reader for each in report.cells} == here
    assert not report.stale_known


@pytest.mark.parametrize("lost", range(2))
def test_of_a_lost_read_shard_nothing_is_made_up(tmp_path: Path, whole: Report, lost: int) -> None:
    written, read = save_all(tmp_path, 3, 2)
    names = load_read(read[lost]).header.units[lost]

    report = merged(written, [read[1 - lost]])

    assert [(each.name, each.shard) for each in report.missing] == [
        (f"{name} as reader", f"{lost + 1}/2") for name in names
    ]
    assert names
    known = {place(each): each for each in whole.cells}
    for cell in report.cells:
        assert cell.reader not in names
        full = known[place(cell)]
        if cell != full:  # whether it is a break only the writer's own cell tells
            assert cell.writer in names
            assert full.is_break
            assert cell.outcome == "skipped"
            assert not cell.is_break


def test_without_any_reader_every_environment_is_missing(tmp_path: Path) -> None:
    written, _ = save_all(tmp_path, 2, 1)

    report = merged(written, [])

    assert [each.name for each in report.missing] == [f"{name} as reader" for name in NAMES]
    assert report.cells == ()


def test_a_shard_that_says_nothing_of_an_environment_does_not_hide_it(tmp_path: Path) -> None:
    partial = written_partial(tmp_path, Shard(1, 1))
    silent = replace(partial, environments=partial.environments[1:], writes=partial.writes[1:])
    written = [save_written_shard(tmp_path, Shard(1, 1), silent)]
    read = shards.read_partial(tmp_path, Shard(1, 1), written)

    report = merged(written, [save_read(read, tmp_path / "found") / "read.json"])

    assert [(each.name, each.shard) for each in report.missing] == [("e0 as writer", "1/1")]


def test_an_environment_that_does_not_work_is_unavailable_and_not_missing(tmp_path: Path) -> None:
    partial = shards.broken(written_partial(tmp_path, Shard(1, 1)), "e2")
    written = [save_written_shard(tmp_path, Shard(1, 1), partial)]
    read = shards.read_partial(tmp_path, Shard(1, 1), written)
    read = replace(read, reads=tuple(each for each in read.reads if each.environment != "e2"))

    report = merged(written, [save_read(read, tmp_path / "found") / "read.json"])

    assert report.missing == ()
    assert {each.name: each.reason for each in report.environments}["e2"] == "it does not work"
    assert "e2" not in {each.writer for each in report.cells}


def test_an_environment_that_could_not_be_built_to_read_is_unavailable(tmp_path: Path) -> None:
    written = [save_written_shard(tmp_path, Shard(1, 1))]
    read = shards.read_partial(tmp_path, Shard(1, 1), written)
    lost = replace(read.environments[1], status="unavailable", reason="no index")
    read = replace(
        read,
        environments=(read.environments[0], lost, *read.environments[2:]),
        reads=tuple(each for each in read.reads if each.environment != "e1"),
    )

    report = merged(written, [save_read(read, tmp_path / "found") / "read.json"])

    assert report.missing == ()
    assert {each.name: each.reason for each in report.environments}["e1"] == "no index"


def test_a_server_that_one_shard_had_not_could_not_be_had(tmp_path: Path) -> None:
    partial = written_partial(tmp_path, Shard(2, 2))
    down = replace(partial.servers[1], status="unavailable", reason="no Docker", version=None)
    written = [
        save_written_shard(tmp_path, Shard(1, 2)),
        save_written_shard(
            tmp_path, Shard(2, 2), replace(partial, servers=(partial.servers[0], down))
        ),
    ]

    report = merged(written, [])

    assert [(each.name, each.reason) for each in report.servers] == [
        ("redis", None),
        ("pg", "no Docker"),
    ]


def test_slots_of_all_shards_that_gave_back_a_blob_are_named(tmp_path: Path) -> None:
    """The first shard had a server that the second had not."""
    partial = written_partial(tmp_path, Shard(1, 2))
    shared = {
        name: tuple(replace(each, via=each.via[:1]) for each in found if each.blob)
        for name, found in partial.variants.items()
    }
    written = [
        save_written_shard(tmp_path, Shard(1, 2), replace(partial, variants=shared)),
        save_written_shard(tmp_path, Shard(2, 2)),
    ]
    read = shards.read_partial(tmp_path, Shard(1, 1), written)

    report = merged(written, [save_read(read, tmp_path / "found") / "read.json"])

    lists = [each for each in report.cells if each.payload == "list" and each.outcome == "ok"]
    assert {each.via for each in lists} == {("redis/string", "pg/bytea")}


def test_what_was_read_before_it_was_written_anew_is_refused(tmp_path: Path) -> None:
    written, read = save_all(tmp_path, 2, 1)
    partial = written_partial(tmp_path, Shard(2, 2))
    later = replace(
        partial,
        environments=(replace(partial.environments[0], python="3.12.2"), *partial.environments[1:]),
    )
    save_written_shard(tmp_path, Shard(2, 2), later)

    with pytest.raises(UsageError, match="from another compat write 2/2 than"):
        merged(written, read)


def test_what_was_read_without_a_shard_that_came_later_is_refused(tmp_path: Path) -> None:
    written = [save_written_shard(tmp_path, each) for each in shards.shards(2)]
    read = shards.read_partial(tmp_path, Shard(1, 1), written[:1])

    with pytest.raises(UsageError, match="was read without"):
        merged(written, [save_read(read, tmp_path / "found") / "read.json"])


def test_what_was_read_with_another_payloads_file_is_refused(tmp_path: Path) -> None:
    written, read = save_all(tmp_path, 1, 2)
    data = json.loads(read[1].read_bytes())
    data["header"]["files"]["payloads.py"] = "0123"
    read[1].write_text(json.dumps(data))

    with pytest.raises(UsageError, match=r"ran with two files 'payloads\.py'") as caught:
        merged(written, read[1:])

    assert str(read[1]) in str(caught.value)
    assert str(written[0]) in str(caught.value)


def test_two_shards_of_one_number_that_differ_are_refused_by_name(tmp_path: Path) -> None:
    written, read = save_all(tmp_path / "a", 2, 1)
    partial = written_partial(tmp_path / "a", Shard(1, 2))
    other = save_written_shard(tmp_path / "b", Shard(1, 2), replace(partial, fail_on="never"))

    with pytest.raises(UsageError) as caught:
        merged([*written, other], read)

    assert str(written[0]) in str(caught.value)
    assert str(other) in str(caught.value)
    assert "compat write 1/2" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"digest": "0123"}, "are of two matrices"),
        ({"select": "payload=list"}, "ran with other options"),
        ({"given": ["--redis", "x"]}, "ran with other options"),
        ({"units": [["e0"], ["e1", "e2", "e3"]]}, "other shares of the work"),
        ({"strict": True}, "other shares of the work"),
        ({"files": {"payloads.py": "0123"}}, "ran with two files 'payloads.py'"),
    ],
)
def test_shards_of_other_runs_are_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    written, _ = save_all(tmp_path, 2, 1)
    data = json.loads(written[1].read_bytes())
    data["header"] |= change
    if "units" in change:
        keep = change["units"][1]
        data["environments"] = [each for each in data["environments"] if each["name"] in keep]
        data["writes"] = [each for each in data["writes"] if each["environment"] in keep]
    written[1].write_text(json.dumps(data))

    with pytest.raises(UsageError, match=said) as caught:
        merged(written, [])

    assert str(written[0]) in str(caught.value)
    assert str(written[1]) in str(caught.value)


@pytest.mark.parametrize(
    "description",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b"7" * 5000,
        b"[" * 100_000,
        b'{"objects": null, "root": [0]}',
        b'{"objects": [], "root": [0]}',
        b'{"objects": [{"t": "list", "items": 7}], "root": [0]}',
    ],
    ids=lambda description: description[:40].decode("latin-1") or "empty",
)
def test_bytes_that_describe_no_value_are_refused_whatever_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, description: bytes
) -> None:
    of_value = b'{"objects": [{"t": "list", "items": [1]}], "root": [0]}'
    monkeypatch.setattr(shards, "described", lambda name: description if name == "e3" else of_value)
    monkeypatch.setattr(shards, "reads", all_loaded)
    written, read = save_all(tmp_path, 2, 2)

    with pytest.raises(UsageError, match=r"do not both describe a value .*run again the shards"):
        merged(written, read)


def all_loaded(name: str, writers: Sequence[str]) -> Reads:
    """Return that the environment loaded what each of `writers` wrote, as it builds it itself."""
    blobs = [digest(shards.own_bytes(each)) for each in writers]
    keys = [ReadKey("pickle", "note", each, text=False) for each in blobs]
    return Reads(name, dict.fromkeys(keys, ReadResult("loaded")))
