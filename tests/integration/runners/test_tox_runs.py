"""Real runs of tox on a project whose tox.ini names none of the matrix."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.workshop import ONE_CASE, VERSION, Workshop

pytestmark = pytest.mark.integration

PYTHON = f'[axes]\npython = ["{VERSION}"]\n'
FACTOR = f"py{VERSION.replace('.', '')}"
NAME = f"mm-{FACTOR}-valkey9"


def test_each_environment_is_listed_and_none_is_run_by_tox_alone(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("tox", "list")

    assert ended.code == 0, ended.said
    default, additional = ended.said.split("additional environments:")
    assert f"{NAME} -> test stores: py{VERSION}, valkey9" in additional
    assert NAME not in default


def test_an_environment_is_run_by_name(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("tox", "run", "-e", NAME, *ONE_CASE)

    assert ended.code == 0, ended.said
    assert f"{NAME}: OK" in ended
    ((folder, report),) = workshop.reports().items()
    assert folder == NAME.removeprefix("mm-")
    assert [each["outcome"] for each in report["suite"]] == ["passed"]


@pytest.mark.parametrize("chosen", [("-m", "memory-matrix"), ("-f", FACTOR, "valkey9")])
def test_environments_are_chosen_by_label_and_factors(
    workshop: Workshop, chosen: tuple[str, ...]
) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("tox", "run", *chosen, "--", "--unheard-of")  # what runs, refuses that

    assert f"{NAME}: FAIL" in ended, ended.said
    assert "unrecognized arguments: --unheard-of" in ended, ended.said


def test_each_serializer_has_an_environment(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)
    path = workshop.folder / "memory-matrix.toml"
    path.write_text(path.read_text() + 'serializers = ["json", "pickle"]\n')

    ended = workshop.run("tox", "list", "--no-desc")
    assert [line for line in ended.said.splitlines() if line.startswith("mm-")] == [
        f"{NAME}-json",
        f"{NAME}-pickle",
    ]

    ended = workshop.run("tox", "run", "-e", f"{NAME}-pickle", *ONE_CASE)
    assert ended.code == 0, ended.said
    ((_, report),) = workshop.reports().items()
    assert [each["serializer"] for each in report["suite"]] == ["pickle"]


def test_the_matrix_may_stand_in_pyproject_toml(workshop: Workshop) -> None:
    workshop.write("pyproject.toml", f'[tool.memory-matrix.axes]\npython = ["{VERSION}"]\n')

    assert f"mm-{FACTOR}-pg18-valkey9" in workshop.run("tox", "list")


def test_the_matrix_file_may_be_named(workshop: Workshop) -> None:
    workshop.write("tox.ini", "[tox]\nmemory_matrix_file = elsewhere.toml\n")
    workshop.write("elsewhere.toml", PYTHON)

    assert f"mm-{FACTOR}-pg18-valkey9" in workshop.run("tox", "list")


def test_a_project_without_a_matrix_sees_nothing_and_waits_for_nothing(workshop: Workshop) -> None:
    script = (
        "import sys; from tox.run import main; main(['config']); "
        "print([name for name in sys.modules if name.startswith('memory_matrix.')])"
    )
    done = subprocess.run(
        (sys.executable, "-c", script),
        cwd=workshop.folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    *said, modules = done.stdout.splitlines()

    assert modules == "['memory_matrix.errors', 'memory_matrix.tox']"
    assert not [line for line in said if "matrix" in line]


def test_options_that_are_wrong_fail_the_environment_alone(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)

    assert workshop.run("tox", "list", "--", "--unheard-of").code == 0

    ended = workshop.run("tox", "run", "-e", NAME, "--", "--unheard-of")
    assert ended.code == 1
    assert "unrecognized arguments: --unheard-of" in ended, ended.said
    assert "Traceback" not in ended


def test_what_is_not_selected_is_skipped(workshop: Workshop) -> None:
    workshop.matrix(
        '[[environment]]\nname = "a"\npython = "current"\n'
        '[[environment]]\nname = "b"\npython = "current"\n'
    )

    ended = workshop.run("tox", "run", "-e", "mm-a-valkey9", "--", "--select", "environment=b")

    assert "skipped because --select leaves nothing of it" in ended, ended.said
    assert workshop.reports() == {}


@pytest.mark.parametrize("ci", ["", "true"])
def test_an_interpreter_that_is_missing_skips_at_home_and_fails_in_ci(
    workshop: Workshop, ci: str
) -> None:
    workshop.matrix('[axes]\npython = ["3.12.99"]\n')

    ended = workshop.run("tox", "run", "-e", "mm-py31299-valkey9", *ONE_CASE, CI=ci)

    assert "Python 3.12.99 was not found" in ended, ended.said
    if ci:
        assert ended.code != 0
        assert "mm-py31299-valkey9: FAIL" in ended
    else:
        assert "mm-py31299-valkey9: SKIP" in ended


def test_a_matrix_file_that_is_wrong_is_one_paragraph(workshop: Workshop) -> None:
    workshop.write("memory-matrix.toml", "[axes]\npython = 3.12\n")

    ended = workshop.run("tox", "list")

    assert ended.code != 0
    assert "memory-matrix.toml has 1 error:" in ended, ended.said
    assert "Traceback" not in ended
