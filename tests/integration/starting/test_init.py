"""`memory-matrix init` by the real command line: what it writes runs at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.project import COMMAND, Project

pytestmark = pytest.mark.integration

PYPROJECT = """
[project]
name = "agent"
version = "1"
requires-python = ">=3.10"
dependencies = ["msgpack>=1.0.5", "flask"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, "")


def texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("pyproject", ["", PYPROJECT, "[project", "[project]\nrequires-python = 3"])
def test_what_it_writes_runs_at_once(project: Project, pyproject: str):
    if pyproject:
        project.write("pyproject.toml", pyproject)
    assert project.run("init").code == 0
    done = project.run("compat")
    assert done.code == 0, done.stderr
    assert {cell["payload"] for cell in done.report["cells"]} == {"conversation"}
    assert {cell["outcome"] for cell in done.report["cells"]} == {"ok"}
    writers = {each["name"] for each in done.report["environments"]}
    assert writers == {"production", "next"}


def test_a_second_time_changes_nothing(project: Project):
    project.write("pyproject.toml", PYPROJECT)
    first = project.run("init")
    before = texts(project.folder)
    second = project.run("init")
    assert (first.code, second.code) == (0, 0)
    assert texts(project.folder) == before
    assert first.stdout.count("Written: ") == second.stdout.count("There already: ") == 3


def test_a_dry_run_writes_nothing(project: Project):
    done = project.run("init", "--dry-run")
    assert done.code == 0
    assert "To be written: .github/workflows/memory-matrix.yml" in done.stdout
    assert "Nothing was written" in done.stdout
    assert list(project.folder.iterdir()) == []


def test_what_is_there_is_left_and_a_matrix_without_the_payloads_is_told_of(project: Project):
    mine = project.write("memory-matrix.toml", '[compat]\npayloads = ["builtin"]\n')
    module = project.write("payloads.py", "SIZE = 1\n")
    done = project.run("init")
    assert done.code == 0
    assert "There already: memory-matrix.toml" in done.stdout
    assert 'name "memory_payloads.py" in memory-matrix.toml' in done.stdout
    assert mine.read_text(encoding="utf-8").endswith('["builtin"]\n')
    assert module.read_text(encoding="utf-8") == "SIZE = 1\n"


def test_a_matrix_in_pyproject_is_the_matrix(project: Project):
    project.write("pyproject.toml", "[tool.memory-matrix]\n")
    done = project.run("init")
    assert "There already: pyproject.toml (the matrix in [tool.memory-matrix])" in done.stdout
    assert not (project.folder / "memory-matrix.toml").exists()


def test_a_folder_in_a_repository_is_checked_from_its_top(project: Project):
    (project.folder / ".git").mkdir()
    (project.folder / "services").mkdir()
    done = project.run("init", "--dir", "services")
    assert done.code == 0
    assert "Written: services/memory-matrix.toml" in done.stdout
    workflow = project.folder / ".github/workflows/memory-matrix.yml"
    assert 'working-directory: "services"' in workflow.read_text(encoding="utf-8")


def test_a_folder_that_is_not_there_is_refused(project: Project):
    done = project.run("init", "--dir", "nowhere")
    assert (done.code, "there is no folder nowhere" in done.error) == (2, True)


def test_what_cannot_be_written_ends_with_one_sentence(project: Project):
    project.write(".github", "a file")
    done = project.run("init")
    assert done.code == 4
    assert "cannot be written" in done.error


def test_without_an_index_it_writes_what_files_say_and_says_so(project: Project):
    project.write("pyproject.toml", PYPROJECT)
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    no_links = {"UV_FIND_LINKS": "", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}
    done = project.run("init", **nowhere, **no_links)
    assert done.code == 0
    assert "msgpack>=1.0.5" in (project.folder / "memory-matrix.toml").read_text(encoding="utf-8")
    assert "note: The package index could not be asked" in done.stdout


def test_two_at_once_write_each_file_once(project: Project):
    runs = [
        subprocess.Popen(
            (*COMMAND, "init"), cwd=project.folder, env=project.variables(), stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = b"".join(run.communicate(timeout=60)[0] for run in runs).decode()
    assert [run.returncode for run in runs] == [0, 0], said
    assert said.count("Written: memory-matrix.toml") == 1, sys.version
