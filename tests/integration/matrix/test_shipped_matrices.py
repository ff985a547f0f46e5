"""Every environment of the shipped matrices resolves to wheels, on every interpreter it is for."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from uv import find_uv_bin

from memory_matrix.matrix.model import CURRENT_PYTHON, EnvironmentSpec
from memory_matrix.matrix.read import builtin_quick, read

pytestmark = pytest.mark.integration

MATRICES = Path(__file__).parents[3] / "matrix"
SUPPORTED = ("3.10", "3.11", "3.12", "3.13", "3.14")


def wanted() -> Iterator[tuple[str, EnvironmentSpec]]:
    for spec in (
        *builtin_quick(MATRICES).environments,
        *read(MATRICES / "default.toml").environments,
    ):
        for python in SUPPORTED if spec.python == CURRENT_PYTHON else (spec.python,):
            yield python, spec


@pytest.mark.parametrize(
    ("python", "spec"), [pytest.param(*each, id=f"{each[0]}-{each[1].name}") for each in wanted()]
)
def test_the_environment_resolves_to_wheels(python: str, spec: EnvironmentSpec) -> None:
    done = subprocess.run(
        [
            find_uv_bin(),
            "pip",
            "compile",
            "--only-binary",
            ":all:",
            "--no-python-downloads",
            "--python-version",
            python,
            "-",
        ],
        input="\n".join(spec.packages),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
