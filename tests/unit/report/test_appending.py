"""What is added to a file is there whole, or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_matrix.github import outputs, summary
from memory_matrix.report.appending import append_whole

WRITERS: dict[str, Callable[[Path], None]] = {
    "summary": lambda path: summary.append(path, "y" * 5000),
    "outputs": lambda path: outputs.write(path, {"matrix": "y\n" * 2500, "result": "pass"}),
}

FULL_DISK = """
import resource, sys
from pathlib import Path
from unit.report.test_appending import WRITERS

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    WRITERS[sys.argv[1]](Path(sys.argv[2]))
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.large
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before\n")
    said = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, name, str(path)],
        cwd=Path(__file__).parents[2],
        env={key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
        | {"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{os.strerror(errno.ENOSPC)}\n"
    assert path.read_text() == "before\n"


@pytest.mark.parametrize("name", WRITERS)
def test_a_device_is_written_to_as_it_is(name: str) -> None:
    WRITERS[name](Path("/dev/null"))
    with pytest.raises(OSError, match="No space left"):
        WRITERS[name](Path("/dev/full"))


def test_a_pipe_is_written_to() -> None:
    out, into = os.pipe()
    append_whole(into, b"whole")
    assert os.read(out, 10) == b"whole"
    os.close(out)
    os.close(into)
