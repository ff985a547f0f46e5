"""What a shard leaves comes back as it was; what is damaged, or does not fit together, is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_matrix import __version__
from memory_matrix.compat.partial import (
    adopt,
    load_read,
    load_written,
    reads_of,
    reads_record,
    save_read,
    writes_of,
    writes_record,
)
from memory_matrix.errors import UsageError
from memory_matrix.matrix.packing import Shard
from memory_matrix.worker.describe import digest
from support import shards
from support.shards import NAMES, SAME, save_written_shard, written_partial
from support.tables import table

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what a shard left that wrote."""
    return save_written_shard(tmp_path_factory.mktemp("left"), Shard(1, 2)).parent


@pytest.fixture
def written(left: Path, tmp_path: Path) -> Path:
    """The JSON file of a shard that wrote."""
    folder = shutil.copytree(left, tmp_path / "found" / left.name, copy_function=shutil.copyfile)
    return Path(folder) / "written.json"


@pytest.fixture
def whole(written: Path) -> bytes:
    """What `written` holds before a test changes it."""
    return written.read_bytes()


@pytest.fixture
def read(tmp_path: Path, written: Path) -> Path:
    """The JSON file of a shard that read what `written` says."""
    partial = shards.read_partial(tmp_path, Shard(1, 1), [written])
    return save_read(partial, tmp_path / "found") / "read.json"


@table("name", NAMES)
def test_writes_and_reads_survive_being_records(name: str) -> None:
    assert writes_of(writes_record(shards.writes(name))) == shards.writes(name)
    assert reads_of(reads_record(shards.reads(name, NAMES))) == shards.reads(name, NAMES)


def test_a_shard_comes_back_as_it_was(tmp_path: Path, written: Path, read: Path) -> None:
    assert load_written(written).partial == written_partial(tmp_path, Shard(1, 2))
    assert load_read(read).partial == shards.read_partial(tmp_path, Shard(1, 1), [written])


def test_only_what_a_shard_is_about_is_kept_with_it(written: Path) -> None:
    blobs = {each.name for each in (written.parent / "blobs").iterdir()}

    assert blobs == {digest(SAME), digest(shards.own_bytes("e0")), digest(shards.own_bytes("e2"))}
    assert {each.name for each in written.parent.iterdir()} == {
        "written.json",
        "blobs",
        "descriptions",
    }


def put(value: object, *path: str | int) -> Change:
    """Return what puts `value` at a place of plain data."""

    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        data[last] = value

    return change


def drop(*path: str | int) -> Change:
    """Return what takes out a place of plain data."""

    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        del data[last]

    return change


SAME_NAME = digest(SAME)

WRONG: dict[str, Change] = {
    "no header": drop("header"),
    "a header of another kind": put("read", "header", "kind"),
    "no shard": put("1/0", "header", "shard"),
    "a shard of other shares": put("1/3", "header", "shard"),
    "a path for a blob": put("../../../etc/passwd", "variants", SAME_NAME, 0, "blob"),
    "an absolute path for a blob": put("/etc/passwd", "variants", SAME_NAME, 0, "blob"),
    "a path for a description": put("../x", "writes", 0, "meanings", "note", "expected"),
    "a path for what a probe sees": put("../x", "writes", 0, "meanings", "note", "probe"),
    "a digest with a line end": put("0" * 64 + "\n", "variants", SAME_NAME, 0, "blob"),
    "a digest in capitals": put("A" * 64, "variants", SAME_NAME, 0, "blob"),
    "a payload without a description": put(None, "writes", 0, "meanings", "note", "expected"),
    "a blob that nothing came back for": drop("variants", SAME_NAME),
    "written, and no blob": put(None, "writes", 0, "written", "list", "json", "blob"),
    "not written, and a blob": put(SAME_NAME, "writes", 0, "written", "note", "json", "blob"),
    "a payload that it has not": drop("writes", 0, "meanings", "list"),
    "a module that is code": put(["os; import x"], "writes", 0, "modules"),
    "an environment of another shard": put("e1", "writes", 0, "environment"),
    "an environment that the matrix has not": put("e9", "environments", 0, "name"),
    "an environment twice": put("e2", "writes", 0, "environment"),
    "an environment of no age": drop("ages", "e3"),
    "an outcome that there is not": put("fine", "writes", 0, "written", "list", "json", "outcome"),
    "a number for a text": put(1, "serializers"),
    "an entry with no date": put("soon", "known", 0, "until"),
    "a list": lambda data: data.clear(),
}


@table("change", WRONG)
def test_what_does_not_fit_together_is_refused_by_name(
    written: Path, whole: bytes, change: Change
) -> None:
    data = json.loads(whole)
    change(data)
    written.write_text(json.dumps(data))

    with pytest.raises(UsageError) as caught:
        load_written(written)

    assert str(caught.value).startswith(f"{str(written)!r} is damaged: ")
    assert str(caught.value).endswith("Run its shard again.")


@table(
    "text", ["", "{", "[]", "null", "0", '"x"', "[" * 100_000, "\x00", '{"header": 1}', "\udcff"]
)
def test_what_is_no_shard_at_all_is_refused(written: Path, read: Path, text: str) -> None:
    for path in (written, read):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(UsageError, match="is damaged"):
        load_written(written)
    with pytest.raises(UsageError, match="is damaged"):
        load_read(read)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_what_is_cut_off_is_refused(written: Path, share: float) -> None:
    data = written.read_bytes()
    written.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(UsageError, match="is damaged"):
        load_written(written)


def test_another_release_is_refused_by_both_names(read: Path) -> None:
    data = json.loads(read.read_bytes())
    data["header"] = {"version": "9.9", "shape": "unknown"}
    read.write_text(json.dumps(data))

    with pytest.raises(UsageError, match=f"'9.9', and this is '{__version__}'"):
        load_read(read)


@pytest.mark.parametrize("folder", ["blobs", "descriptions"])
@pytest.mark.parametrize("fate", ["changed", "cut", "gone", "a folder", "a link elsewhere"])
def test_bytes_that_are_not_what_their_name_says_are_refused(
    tmp_path: Path, written: Path, folder: str, fate: str
) -> None:
    victim = min((written.parent / folder).iterdir())
    data = victim.read_bytes()
    victim.unlink()
    if fate == "changed":
        victim.write_bytes(data[::-1] + b"x")
    elif fate == "cut":
        victim.write_bytes(data[:-1])
    elif fate == "a folder":
        victim.mkdir()
    elif fate == "a link elsewhere":
        victim.symlink_to("/etc/hostname")

    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match=f"{folder}/{victim.name}' is damaged"):
        adopt([load_written(written)], tmp_path / "taken")


def test_what_is_taken_over_is_just_what_belongs_to_it(tmp_path: Path, written: Path) -> None:
    (written.parent / "blobs" / "stray").write_text("x")
    (tmp_path / "taken").mkdir()

    adopt([load_written(written)], tmp_path / "taken")

    assert not (tmp_path / "taken" / "blobs" / "stray").exists()
    assert (tmp_path / "taken" / "blobs" / SAME_NAME).read_bytes() == SAME
