"""`memory-matrix report` writes a saved report in any format, and never loses the one it reads."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from memory_matrix import cli
from memory_matrix.report import files
from memory_matrix.report.formats import FORMATS
from memory_matrix.report.model import Cell, EnvironmentRecord, Error, Report
from support.tables import table

CELL = Cell("old", "next", "pickle", "grüße", (), "unreadable", True, None, "backward")


REPORT = Report(
    environments=(EnvironmentRecord("old", "3.10"), EnvironmentRecord("next", "3.12")),
    cells=(Cell("old", "old", "pickle", "x", (), "ok"), CELL),
    matrix="m.toml",
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report folder, as a run leaves it."""
    folder = tmp_path_factory.mktemp("report")
    files.write(REPORT, folder)
    return folder


@pytest.fixture
def saved(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """A report that is saved where the command looks for it."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written, "memory-matrix-report")
    return REPORT


@table("name", list(FORMATS))
def test_output_is_what_the_format_says(name: str, saved: Report) -> None:
    assert cli.main(["report", "--format", name, "--output", "new/out"]) == 0
    assert Path("new/out").read_text("utf-8") == "".join(FORMATS[name].pieces(saved))


@table("name", [name for name in FORMATS if name != "terminal"])
@table("output", [[], ["-o", "-"]])
def test_standard_output_is_utf_8_whatever_the_terminal_has(
    name: str, output: list[str], saved: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(printed, "ascii"))
    assert cli.main(["report", "--format", name, *output]) == 0
    assert printed.getvalue().decode() == "".join(FORMATS[name].pieces(saved))


def test_verbose_counts_in_a_file_too(saved: Report) -> None:
    cells = tuple(
        Cell("a", "b", "s", "p", (), "unreadable", True, None, None, Error("load", f"E{each}", ""))
        for each in range(99)
    )
    files.write(Report(cells=cells), Path("memory-matrix-report"))
    sizes = []
    for more in ([], ["-v"]):
        assert cli.main(["report", "-o", "out.txt", *more]) == 0
        sizes.append(len(Path("out.txt").read_text()))
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("place", ["memory-matrix-report/report.json", "link.json"])
def test_the_report_itself_is_not_overwritten_by_another_format(
    place: str, saved: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("link.json").symlink_to("memory-matrix-report/report.json")
    assert cli.main(["report", "--format", "junit", "-o", place]) == 2
    assert "is the report itself" in capsys.readouterr().err
    assert files.load(Path("memory-matrix-report")) == saved
    assert cli.main(["report", "--format", "json", "-o", place]) == 0
    assert files.load(Path("memory-matrix-report")) == saved


def test_a_place_that_cannot_be_written_is_an_error_of_the_command_line(
    saved: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "-o", "memory-matrix-report"]) == 2
    assert "'memory-matrix-report' cannot be written: Is a directory" in capsys.readouterr().err


def test_help_says_what_each_format_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["report", "--help"])
    shown = capsys.readouterr().out
    assert all(f"  {name}" in shown and each.about in shown for name, each in FORMATS.items())
