"""Files that are wrong, and places that cannot be written: one sentence each, and no traceback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.project import VALKEY, Project

pytestmark = pytest.mark.integration


@pytest.fixture
def small(project: Project) -> Project:
    """A project that is fine and small."""
    project.servers = VALKEY
    project.environment("only")
    project.payloads("def payload_text():\n    return 'a'\n")
    project.matrix()
    return project


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "memory-matrix.toml"),
        (b"", "memory-matrix.toml"),
        (b"[[environment]\nname =", "memory-matrix.toml"),
        (b"name = '\xff\xfe'", "UTF-8"),
        (b"[compat]\nserialisers = ['json']\n", "serialisers"),
    ],
    ids=["a folder", "empty", "not TOML", "not UTF-8", "an unknown key"],
)
def test_a_matrix_file_that_cannot_be_read_is_refused(
    project: Project, content: bytes | None, said: str
) -> None:
    path = project.folder / "memory-matrix.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    for command in ("plan", "compat"):
        run = project.run(command, "-c", "memory-matrix.toml")
        assert run.code == 2
        assert said in run.error


def test_a_matrix_of_ten_thousand_environments_is_planned(project: Project) -> None:
    numbers = ", ".join(f'"=={number}.0"' for number in range(100))
    project.payloads("def payload_text():\n    return 'a'\n")
    project.write(
        "memory-matrix.toml",
        f"""
[axes]
python = ["3.11"]

[axes.packages]
alpha = [{numbers}]
beta = [{numbers}]

[compat]
payloads = ["payloads.py"]
""",
    )

    run = project.run("plan")

    assert run.code == 0
    assert "environments: 10000\n" in run.stdout


@pytest.mark.parametrize(
    ("payloads", "said"),
    [
        ("def payload_a(:\n", "payloads.py: line 1: no environment can import this payloads file:"),
        ("TEXT = 'a'\n", "payloads.py: it defines no payload;"),
        ("raise SystemExit(3)\n", "payloads.py: line 1: no environment can import"),
        ("\0", "payloads.py: "),
    ],
    ids=["a syntax error", "no payload", "it exits", "a NUL"],
)
def test_a_payloads_file_that_no_environment_can_use_is_refused(
    small: Project, payloads: str, said: str
) -> None:
    small.payloads(payloads)

    run = small.compat("-q")

    assert run.code == 2
    assert run.error.startswith(said)
    assert len(run.error.splitlines()) == 1


def test_a_payloads_file_that_is_missing_is_refused_before_anything_is_started(
    small: Project,
) -> None:
    (small.folder / "payloads.py").unlink()

    run = small.compat()

    assert run.code == 2
    assert "payloads.py" in run.error
    assert "Starting servers" not in run.stderr


def test_a_report_folder_that_is_a_file_is_refused_before_anything_is_started(
    small: Project,
) -> None:
    small.write("taken", "mine")

    run = small.compat("--report-dir", "taken")

    assert run.code == 2
    assert run.error.startswith("No report can be written to 'taken': ")
    assert len(run.error.splitlines()) == 1
    assert not run.stdout
    assert (small.folder / "taken").read_text() == "mine"


@contextmanager
def full_disk(folder: Path, kibibytes: int) -> Iterator[None]:
    """Make `folder` a file system of its own that is soon full. Skips the test where that is not allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_under_the_report_costs_the_report_and_leaves_the_older_one(
    small: Project,
) -> None:
    folder = small.folder / "memory-matrix-report"
    folder.mkdir()
    small.payloads(
        "def payload_text():\n    return 'a'\n\n"
        + "".join(f"def payload_text_{number}():\n    return 'a'\n\n" for number in range(300))
    )
    with full_disk(folder, 64):
        (folder / "report.json").write_text("older")

        run = small.compat("-q")

        assert run.code == 4
        assert run.error.startswith("The report cannot be written to 'memory-matrix-report': ")
        assert "No space left" in run.error
        assert [each.name for each in folder.iterdir()] == ["report.json"]
        assert (folder / "report.json").read_text() == "older"


def test_a_full_disk_under_the_runs_own_files_ends_it_and_is_no_finding(
    small: Project, temporary: Path
) -> None:
    small.payloads("""
        def payload_large():
            return "large" * 100_000

        def payload_text():
            return "a"
        """)
    with full_disk(temporary, 256):
        run = small.compat("-q")

        assert run.code == 4, run.stdout
        assert "No space left on device" in run.error
        assert len(run.error.splitlines()) == 1
        assert list(temporary.iterdir()) == []


def test_names_with_odd_characters_are_names_like_others(project: Project) -> None:
    names = ["räum 1", "a/b", "[x] *", "it's", '"q"', "-dash", "100%"]
    project.servers = VALKEY
    for name in names:
        project.environment(name)
    project.payloads("""
        def payload_größe():
            return 1

        def payload_():
            return 2

        globals()["payload_odd name/[x]"] = lambda: 3
        """)
    project.matrix()

    run = project.compat(PYTHONIOENCODING="ascii")

    assert run.code == 0, run.stderr
    assert [each["name"] for each in run.report["environments"]] == names
    assert run.report["summary"]["ok"] == len(names) ** 2 * 3
    again = project.run("report", "--format", "markdown")
    assert again.code == 0
    assert "Traceback" not in run.stderr + again.stderr
