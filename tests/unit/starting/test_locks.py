"""Exact versions, from whichever file holds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memory_matrix.starting.locks import pinned_version, read_pins
from support.tables import table

UV = """
[[package]]
name = "Pydantic"
version = "2.5.3"
[[package]]
name = "numpy"
version = "2.4.0"
[[package]]
name = "numpy"
version = "2.2.6"
[[package]]
name = "agent"
source = { virtual = "." }
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", UV),
        ("poetry.lock", UV),
        ("pylock.toml", UV.replace("[[package]]", "[[packages]]")),
        (
            "requirements.txt",
            "pydantic==2.5.3\nnumpy==2.2.6 ; python_version < '3.11'\nnumpy==2.4.0\n?\n",
        ),
    ],
)
def test_every_kind_of_file_pins_the_oldest_release_that_it_holds(
    tmp_path: Path, name: str, text: str
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_pins(tmp_path) == (name, {"pydantic": "2.5.3", "numpy": "2.2.6"})


def test_a_lock_goes_before_requirements(tmp_path: Path):
    (tmp_path / "requirements.txt").write_text("pydantic==1.10.2\n", encoding="utf-8")
    (tmp_path / "uv.lock").write_text(UV, encoding="utf-8")
    assert read_pins(tmp_path)[0] == "uv.lock"


@table(
    "text",
    [
        "",
        "[[package]",
        "package = 1",
        "[[package]]\nversion = 'x'",
        "[[package]]\nname = 3\nversion = 'x'",
        "[[package]]\nname = 'a'\nversion = [2]",
        "\0",
    ],
)
def test_a_file_that_cannot_be_read_pins_nothing(tmp_path: Path, text: str):
    (tmp_path / "uv.lock").write_text(text, encoding="utf-8")
    assert read_pins(tmp_path) == ("", {})


@table(
    ("requirement", "version"),
    [("a==1.2", "1.2"), ("a===1.2", "1.2"), ("a==1.*", None), ("a>=1", None), ("a", None)],
)
def test_one_version_is_pinned_or_none(requirement: str, version: str | None):
    assert pinned_version(Requirement(requirement)) == version
