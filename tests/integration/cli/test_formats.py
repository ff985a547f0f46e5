"""A large report in any format goes through pipes, and ends quietly where nobody reads on."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from memory_matrix.report import files
from memory_matrix.report.formats import FORMATS
from memory_matrix.report.model import Cell, Error, Report
from support.project import COMMAND

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report that no pipe holds at once."""
    folder = tmp_path_factory.mktemp("large")
    error = Error("load", "KeyError", "x" * 500)
    cell = Cell("a", "b", "json", "", (), "unreadable", True, None, "backward", error)
    cells = tuple(replace(cell, payload=f"payload {number}") for number in range(2000))
    files.write(Report(cells=cells), folder)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_that_ends_early_is_no_error(name: str, large: Path) -> None:
    command = [*COMMAND, "report", "--from", str(large), "--format", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in {0, 141}


@pytest.mark.parametrize("name", ["json", "junit", "sarif"])
def test_all_of_it_comes_out_of_a_pipe(name: str, large: Path) -> None:
    command = [*COMMAND, "report", "--from", str(large), "--format", name]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert printed.decode() == "".join(FORMATS[name].pieces(files.load(large)))


def test_a_full_disk_is_said_and_leaves_nothing(large: Path) -> None:
    command = [*COMMAND, "report", "--from", str(large), "--format", "junit", "-o", "/dev/full"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "'/dev/full' cannot be written: No space left" in ended.stderr
