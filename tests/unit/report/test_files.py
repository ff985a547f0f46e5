"""Reports are written whole or not at all, and read back as they were or refused in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report import files
from memory_matrix.report.folders import check_folder
from memory_matrix.report.formats import FORMATS
from memory_matrix.report.model import Cell, Report, StoreRecord, SuiteResult, to_json
from support.tables import table

EVERY = ["report.html", "report.json", "report.md"]


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_read_back_equal(sample: Report, tmp_path: Path) -> None:
    written = files.write(sample, tmp_path / "new" / "folder")
    assert sorted(path.name for path in written) == EVERY
    assert all(path.is_file() for path in written)
    assert files.load(tmp_path / "new" / "folder") == sample
    assert files.load(written[0]) == sample


def test_report_json_is_what_the_model_says(sample: Report, tmp_path: Path) -> None:
    path, *_ = files.write(sample, tmp_path)
    assert json.loads(path.read_text("utf-8")) == to_json(sample)


def test_a_report_of_the_suite_alone_is_read_back_equal(
    suite_sample: Report, tmp_path: Path
) -> None:
    path, *_ = files.write(suite_sample, tmp_path)
    assert files.load(tmp_path) == suite_sample
    assert json.loads(path.read_text("utf-8")) == to_json(suite_sample)


def test_an_empty_report_is_read_back_equal(tmp_path: Path) -> None:
    files.write(Report(), tmp_path)
    assert files.load(tmp_path) == Report()


def test_each_cell_has_a_line_of_its_own(sample: Report, tmp_path: Path) -> None:
    path, *_ = files.write(sample, tmp_path)
    lines = path.read_text("utf-8").splitlines()
    cells = [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"writer"')]
    assert len(cells) == len(sample.cells)
    results = [json.loads(line.rstrip(",")) for line in lines if '"case"' in line]
    assert len(results) == len(sample.suite)


HOSTILE = ["\ud800", "\x00", "\x1b[31m", "\u202e", "😀", "a\nb", "", '"\\', "x" * 100_000]


@table("text", HOSTILE)
def test_any_text_is_read_back_equal(text: str, tmp_path: Path) -> None:
    report = Report(
        cells=(Cell(text, text, text, text, (text,), "ok", hint=text),),
        suite=(SuiteResult(text, (text,), text, text, "failed", text, text, 0.1, text),),
        stores=(StoreRecord(text, text, {text: text}, "unavailable", text),),
        stale_waivers=(text,),
    )
    files.write(report, tmp_path)
    assert files.load(tmp_path) == report


def test_an_older_report_is_replaced(sample: Report, tmp_path: Path) -> None:
    files.write(sample, tmp_path)
    files.write(Report(), tmp_path)
    assert files.load(tmp_path) == Report()
    assert _names(tmp_path) == EVERY


def test_reports_follow_the_umask(sample: Report, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    for path in files.write(sample, tmp_path):
        assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null/report"])
def test_a_folder_that_cannot_be_written_is_named(
    place: str, sample: Report, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(MemoryMatrixError, match=r"The report cannot be written to '.*") as caught:
        files.write(sample, tmp_path / place)
    assert caught.value.exit_code == 4
    assert str(tmp_path / place) in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(sample: Report, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(MemoryMatrixError, match="Permission denied"):
        files.write(sample, tmp_path)
    tmp_path.chmod(0o700)


def _taken(folder: Path) -> None:
    folder.write_text("mine")


def _closed(folder: Path) -> None:
    folder.mkdir(mode=0o500)


@pytest.mark.parametrize(
    ("make", "below", "why"),
    [
        (_taken, "", "'.*place' is no folder"),
        (_taken, "a/b", "'.*place' is no folder"),
        (lambda folder: folder.symlink_to("nowhere"), "", "'.*place' is no folder"),
        (lambda folder: folder.symlink_to(folder), "a", "'.*place' is no folder|Too many levels"),
        (Path.mkdir, "x" * 300, "File name too long"),
        pytest.param(
            _closed, "a/b", "'.*place' may not be written to",
            marks=pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere"),
        ),
    ],
    ids=["a file", "below a file", "link to nothing", "endless link", "long name", "no right to"],
)  # fmt: skip
def test_where_no_report_can_be_written_is_known_before_there_is_one(
    make: Callable[[Path], None], below: str, why: str, sample: Report, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    make(place)

    with pytest.raises(UsageError, match=rf"'{place / below}': .*({why}).*--report-dir"):
        check_folder(place / below)
    with pytest.raises(MemoryMatrixError):
        files.write(sample, place / below)


@pytest.mark.parametrize("below", ["", "made", "a/b/c", "a/../b"])
def test_a_folder_that_can_be_made_is_not_made_before_there_is_a_report(
    below: str, sample: Report, tmp_path: Path
) -> None:
    check_folder(tmp_path / below)

    assert not list(tmp_path.iterdir())
    assert files.write(sample, tmp_path / below)


def test_a_folder_in_the_place_of_a_report_is_named(sample: Report, tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(MemoryMatrixError, match="cannot be written"):
        files.write(sample, tmp_path)
    assert _names(tmp_path) == ["report.json"]


FULL_DISK = """
import resource, sys
from pathlib import Path
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.report import files
from memory_matrix.report.formats import FORMATS

folder = Path(sys.argv[1])
report = files.load(folder)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write(report, folder)
except MemoryMatrixError as error:
    print(error)
"""


@pytest.mark.large
def test_a_full_disk_leaves_the_older_report_whole(sample: Report, tmp_path: Path) -> None:
    files.write(sample, tmp_path)
    before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    said = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(tmp_path)],  # half of a .pyc would stay
        env={key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path) in said.stdout
    assert not said.stderr
    assert _names(tmp_path) == EVERY
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before


def test_a_run_that_is_interrupted_leaves_no_draft(
    sample: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(sample, tmp_path)
    assert _names(tmp_path) == []


@pytest.mark.large
def test_large_reports_are_not_held_twice(grown: Callable[..., Report], tmp_path: Path) -> None:
    tracemalloc = pytest.importorskip("tracemalloc")
    report = grown(10, payloads=40)
    path = tmp_path / "report.json"
    tracemalloc.start()
    try:
        files.write_one(FORMATS["json"].pieces(report), path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size


@pytest.mark.large
def test_a_report_of_40_000_cells_is_written_and_read(
    grown: Callable[..., Report], tmp_path: Path
) -> None:
    report = grown(20, payloads=25, serializers=4)
    assert len(report.cells) == 40_000
    files.write(report, tmp_path)
    assert files.load(tmp_path) == report


def test_a_missing_report_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "report.json", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="There is no report at"):
            files.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_no_report(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.json")
    with pytest.raises(UsageError, match="There is no report at"):
        files.load(tmp_path)


@table(
    ("content", "message"),
    [
        (b"", "no whole JSON"),
        (b"hello", "no whole JSON"),
        (b"\xff\xfe\x00", "no report that can be read"),
        (b"[" * 200_000, "no report that can be read"),
        (b'{"schema": ' + b"1" * 5000 + b"}", "no report that can be read|its schema is"),
        (b"[]", "not a report of memory-matrix"),
        (b"{}", "not a report of memory-matrix"),
        (b"null", "not a report of memory-matrix"),
        (b'{"schema": true}', "not a report of memory-matrix"),
        (b'{"schema": NaN}', "not a report of memory-matrix"),
        (b'{"schema": 2}', "its schema is 2, this release reads 1"),
        (b'{"schema": 1}', "has no 'environments'"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        files.load(tmp_path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_a_report_cut_off_anywhere_is_refused(sample: Report, tmp_path: Path) -> None:
    path, *_ = files.write(sample, tmp_path)
    whole = path.read_bytes().rstrip()
    for end in range(0, len(whole), 97):
        path.write_bytes(whole[:end])
        with pytest.raises(UsageError):
            files.load(path)


def _at(data: Any, *path: str | int) -> Any:
    for step in path:
        data = data[step]
    return data


WRONG: list[tuple[tuple[str | int, ...], object, str]] = [
    (("cells",), {}, r"cells is {}, not a list"),
    (("cells", 3), None, r"cells\[3\] is None, not an object"),
    (("cells", 3, "outcome"), "okay", r"cells\[3\].outcome is 'okay', not one of ok, changed"),
    (("cells", 3, "break"), 1, r"cells\[3\].break is 1, not true or false"),
    (("cells", 3, "via"), "x", r"cells\[3\].via is 'x', not a list"),
    (("cells", 3, "via"), [1], r"cells\[3\].via\[0\] is 1, not a text"),
    (("cells", 6, "error", "stage"), ["load"], r"cells\[6\].error.stage is \['load'\]"),
    (("cells", 1, "diff", 0, "path"), 7, r"cells\[1\].diff\[0\].path is 7, not a text"),
    (("environments", 0, "packages"), [], r"environments\[0\].packages is \[\], not an object"),
    (("environments", 0, "packages", "x"), 2, r"environments\[0\].packages.x is 2, not a text"),
    (("environments", 0, "packages", "x\n\x1b[1m"), 2, r"packages.x\\n\\x1b\[1m is 2, not a text"),
    (("servers", 0, "kind"), "mysql", r"servers\[0\].kind is 'mysql', not one of postgres, redis"),
    (("suite", 0, "outcome"), "flaky", r"suite\[0\].outcome is 'flaky', not one of passed, failed"),
    (("suite", 0, "seconds"), "1", r"suite\[0\].seconds is '1', not a number"),
    (("suite", 0, "seconds"), True, r"suite\[0\].seconds is True, not a number"),
    (("suite", 0, "seconds"), float("nan"), r"suite\[0\].seconds is nan, not a number"),
    (("suite", 0, "seconds"), 10**400, r"suite\[0\].seconds is 1000.*, not a number"),
    (("suite", 0, "servers"), "pg18", r"suite\[0\].servers is 'pg18', not a list"),
    (("stores", 0, "policy"), [], r"stores\[0\].policy is \[\], not an object"),
    (("stores", 0, "status"), "gone", r"stores\[0\].status is 'gone', not one of ready"),
    (("strategy", "name"), "random", r"strategy.name is 'random', not one of full, pairwise"),
    (("strategy", "pairs"), 1.5, r"strategy.pairs is 1.5, not a whole number"),
    (("strategy",), [], r"strategy is \[\], not an object"),
    (("directions",), ["up"], r"directions\[0\] is 'up'"),
]


@table(("path", "value", "message"), WRONG)
def test_a_wrong_value_is_named_with_its_place(
    path: tuple[str | int, ...], value: object, message: str, sample: Report, tmp_path: Path
) -> None:
    data = to_json(sample)
    _at(data, *path[:-1])[path[-1]] = value
    (tmp_path / "report.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match=message):
        files.load(tmp_path)


@table(
    "path",
    [
        ("cells", 0, "break"),
        ("cells", 0, "outcome"),
        ("cells", 0, "writer"),
        ("environments", 0, "status"),
        ("servers", 0, "source"),
        ("suite",),
        ("suite", 0, "outcome"),
        ("suite", 0, "store"),
        ("stores", 0, "status"),
        ("strategy", "covered"),
    ],
)
def test_a_missing_field_is_never_guessed(
    path: tuple[str | int, ...], sample: Report, tmp_path: Path
) -> None:
    data = to_json(sample)
    del _at(data, *path[:-1])[path[-1]]
    (tmp_path / "report.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match=f"has no '{path[-1]}'"):
        files.load(tmp_path)


def test_fields_of_a_later_release_are_left_out(sample: Report, tmp_path: Path) -> None:
    data = to_json(sample)
    data["colour"] = data["cells"][0]["seconds"] = data["servers"][0]["port"] = 1
    data["suite"][0]["worker"] = data["stores"][0]["path"] = data["strategy"]["seed"] = 1
    (tmp_path / "report.json").write_text(json.dumps(data))
    assert files.load(tmp_path) == sample


def test_a_report_with_the_contract_alone_is_read(sample: Report, tmp_path: Path) -> None:
    data = to_json(sample)
    for added in ("version", "matrix", "fail_on", "directions", "payloads", "stale_known"):
        del data[added]
    for added in ("stores", "strategy", "stale_waivers", "suite_summary"):
        del data[added]
    for result in data["suite"]:
        del result["serializer"], result["seconds"], result["group"]
    for cell in data["cells"]:
        del cell["cause"]
    for environment in data["environments"]:
        del environment["requires"], environment["env"]
    (tmp_path / "report.json").write_text(json.dumps(data))
    cells = tuple(replace(cell, cause=None) for cell in sample.cells)
    suite = tuple(
        replace(result, seconds=0.0, group="", serializer=None) for result in sample.suite
    )
    assert (files.load(tmp_path).cells, files.load(tmp_path).suite) == (cells, suite)


def test_whole_seconds_are_seconds(suite_sample: Report, tmp_path: Path) -> None:
    data = to_json(suite_sample)
    data["suite"][0]["seconds"] = 2
    (tmp_path / "report.json").write_text(json.dumps(data))
    assert files.load(tmp_path).suite[0].seconds == 2.0


def test_other_formats_are_written_where_asked_for(sample: Report, tmp_path: Path) -> None:
    written = files.write(sample, tmp_path, ("sarif", "junit", "sarif", "json"))
    names = [path.name for path in written]
    assert {"report.sarif", "report.junit.xml"} <= {*names}
    assert sorted(names) == _names(tmp_path)


def test_what_an_earlier_run_wrote_in_another_format_is_not_left(
    sample: Report, tmp_path: Path
) -> None:
    (tmp_path / "mine.junit.xml").write_text("mine")
    files.write(sample, tmp_path, ("sarif", "junit"))
    files.write(sample, tmp_path, ("sarif",))
    assert "report.junit.xml" not in _names(tmp_path)
    assert {"report.sarif", "mine.junit.xml"} <= {*_names(tmp_path)}


@pytest.mark.parametrize("other", [None, b"", b'{"other": 1}', b"{"])
def test_nothing_is_removed_where_no_run_has_written(
    other: bytes | None, sample: Report, tmp_path: Path
) -> None:
    mine = {each.file for each in FORMATS.values() if each.file not in EVERY}
    for name in mine:
        (tmp_path / name).write_text("mine")
    if other is not None:
        (tmp_path / "report.json").write_bytes(other)
    files.write(sample, tmp_path)
    assert {*_names(tmp_path)} == mine | {*EVERY}


ENDLESS_WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from memory_matrix.report import files

folder = Path(sys.argv[1])
report = replace(files.load(folder), digest=sys.argv[2])
for _ in range(30):
    files.write(report, folder, sys.argv[3:])
"""


@pytest.mark.concurrency
def test_what_two_runs_write_at_the_same_time_is_never_mixed(
    sample: Report, tmp_path: Path
) -> None:
    """One of them writes a format that the other does not."""
    files.write(sample, tmp_path)
    command = [sys.executable, "-c", ENDLESS_WRITER, str(tmp_path)]
    with (
        subprocess.Popen([*command, "one", "junit"]) as one,
        subprocess.Popen([*command, "other"]) as other,
    ):
        pass
    assert (one.returncode, other.returncode) == (0, 0)
    has_junit = "report.junit.xml" in _names(tmp_path)
    assert files.load(tmp_path).digest == ("one" if has_junit else "other")


def test_one_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    path = tmp_path / "new" / "folder" / "out.xml"
    files.write_one(("é\n", "b"), path)
    with pytest.raises(KeyboardInterrupt):
        files.write_one(pieces(), path)
    assert path.read_bytes() == "é\nb".encode()
    assert _names(path.parent) == ["out.xml"]


def test_a_link_goes_on_pointing_where_it_does(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    files.write_one(("new",), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        files.write_one(("x" * 100_000,), pipe)
        assert reader.stdout is not None
        assert len(reader.stdout.read()) == 100_000


@pytest.mark.parametrize("place", ["folder", "file/below"])
def test_a_file_that_cannot_be_written_is_named(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match=f"{place}' cannot be written: (Is|Not) a directory"):
        files.write_one(("x",), tmp_path / place)
    assert _names(tmp_path) == ["file", "folder"]
