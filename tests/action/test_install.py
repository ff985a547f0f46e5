"""The action's installation, by the script that the action runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from uv import find_uv_bin

from support.act import ROOT, base_python

pytestmark = pytest.mark.integration

Install = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Run the script as the action does, with variables besides."""

    def call(**variables: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "runner's $(temp)").mkdir(exist_ok=True)
        return subprocess.run(
            ("bash", ROOT / "tools/action-install"),
            env={
                **os.environ,
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                "RUNNER_TEMP": str(tmp_path / "runner's $(temp)"),
                **variables,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def without_uv(folder: Path) -> str:
    """Return a PATH where nothing but the wanted tools of the shell are."""
    folder.mkdir()
    for name in ("bash", "mktemp", "dirname", "uname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return str(folder)


def test_without_uv_it_gets_one_for_itself_by_pip_and_nothing_in_the_workspace_stands_in_for_a_tool(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("pip", "memory_matrix", "venv", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('of the caller')", "utf-8")
        (tmp_path / name / "__main__.py").write_text("raise SystemExit('of the caller')", "utf-8")
    monkeypatch.chdir(tmp_path)
    done = install(PATH=without_uv(tmp_path / "bin"), MEMORY_MATRIX_PYTHON=str(base_python()))
    assert done.returncode == 0, done.stdout + done.stderr
    venv = Path((tmp_path / "output").read_text(encoding="utf-8").removeprefix("venv=").strip())
    assert (tmp_path / "runner's $(temp)") in venv.parents
    asked = (
        venv / "bin/python",
        "-I",
        "-c",
        "import docker, memory_matrix; print(memory_matrix.__file__)",
    )
    module = subprocess.check_output(asked, text=True)
    assert module.startswith(str(venv))


def test_two_calls_have_folders_of_their_own_whatever_the_job_has_set(
    install: Install, tmp_path: Path
):
    variables = {
        "PATH": f"{Path(find_uv_bin()).parent}:{os.environ['PATH']}",
        "MEMORY_MATRIX_PYTHON": str(base_python()),
        "UV_PYTHON": "2.7",
        "UV_TARGET": str(tmp_path / "elsewhere"),
        "VIRTUAL_ENV": str(tmp_path / "elsewhere"),
        "UV_CONSTRAINT": str(tmp_path / "none.txt"),
        "PYTHONPATH": str(tmp_path / "elsewhere"),
    }
    for done in (install(**variables), install(**variables)):
        assert done.returncode == 0, done.stdout + done.stderr
        first, *_, last = done.stdout.splitlines()
        assert (first, last) == ("::group::Install memory-matrix", "::endgroup::")
    first, second = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert first != second
    assert not (tmp_path / "elsewhere").exists()


def test_a_python_that_is_too_old_is_refused_with_what_to_do(install: Install, tmp_path: Path):
    old = tmp_path / "python3"
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1\nexit 1\n', encoding="utf-8"
    )
    old.chmod(0o755)
    done = install(MEMORY_MATRIX_PYTHON=str(old))
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error title=memory-matrix::")
    assert (
        "is Python 3.9.1, and memory-matrix needs 3.10 or later: set the input python-version"
        in line
    )


def test_a_python_that_only_says_what_it_lacks_is_refused_in_one_line(
    install: Install, tmp_path: Path
):
    stub = tmp_path / "python3"
    stub.write_text("#!/bin/sh\nprintf 'no tools\\n::error::x\\n' >&2\nexit 1\n", encoding="utf-8")
    stub.chmod(0o755)
    done = install(MEMORY_MATRIX_PYTHON=str(stub))
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert "python3 is no tools, and memory-matrix needs 3.10 or later" in line


def test_the_python_of_path_is_taken_whatever_uv_prefers(install: Install, tmp_path: Path):
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "python3").symlink_to(base_python())
    done = install(
        PATH=f"{bin_}:{Path(find_uv_bin()).parent}:{os.environ['PATH']}",
        UV_PYTHON_PREFERENCE="only-managed",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    venv = Path((tmp_path / "output").read_text(encoding="utf-8").removeprefix("venv=").strip())
    asked = (venv / "bin/python", "-I", "-c", "import sys; print(sys.base_prefix)")
    own = subprocess.check_output((base_python(), *asked[1:]), text=True)
    assert subprocess.check_output(asked, text=True) == own


def test_a_python_without_pip_is_refused_where_there_is_no_uv(install: Install, tmp_path: Path):
    bare = tmp_path / "bare"
    subprocess.run((base_python(), "-m", "venv", "--without-pip", bare), check=True)
    done = install(PATH=without_uv(tmp_path / "bin"), MEMORY_MATRIX_PYTHON=str(bare / "bin/python"))
    assert done.returncode == 1
    assert "neither uv on this runner nor a pip" in done.stdout
    assert "set the input python-version" in done.stdout


def test_a_runner_without_python_is_told_what_to_do(install: Install, tmp_path: Path):
    done = install(PATH=without_uv(tmp_path / "bin"))
    assert done.returncode == 1
    assert "there is no python3 on this runner: set the input python-version" in done.stdout


def test_what_cannot_be_installed_ends_the_step_and_the_group(install: Install, tmp_path: Path):
    done = install(
        PATH=f"{Path(find_uv_bin()).parent}:{os.environ['PATH']}",
        MEMORY_MATRIX_PYTHON=str(base_python()),
        GITHUB_ACTION_PATH=str(tmp_path),
    )
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1] == "::endgroup::"
    assert not (tmp_path / "output").exists()
