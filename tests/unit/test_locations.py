"""Reports name where the user's own payloads and adapters are, as a user in this folder would."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.locations import location
from memory_matrix.suite.describe import describe
from memory_matrix.worker.errors import defined
from support.tables import table


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is reached through a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "link")
    return tmp_path / "link"


def _file(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_a_file_below_is_named_from_here(project: Path) -> None:
    assert location(_file(project / "app" / "payloads.py"), 12) == "app/payloads.py:12"


def test_a_file_elsewhere_is_named_in_full(project: Path) -> None:
    elsewhere = project.parent / "shared.py"
    assert location(_file(elsewhere), 3) == f"{elsewhere.resolve()}:3"


@table("file", [None, "", "<string>", "/nowhere/payloads.py", "a\0b"])
def test_what_no_file_defines_has_no_place(file: str | None, project: Path) -> None:
    assert location(file, 1) is None


def test_what_is_installed_has_no_place(project: Path) -> None:
    installed = project / ".venv" / "lib" / "python3.12" / "site-packages" / "lib.py"
    assert location(_file(installed), 1) is None


def test_a_payload_of_the_user_is_found_and_none_that_is_built_in() -> None:
    from memory_matrix.payloads import builtin

    line = test_a_payload_of_the_user_is_found_and_none_that_is_built_in.__code__.co_firstlineno
    found = defined(test_a_payload_of_the_user_is_found_and_none_that_is_built_in)
    assert found == {"file": __file__, "line": line}
    built_in = [value for name, value in vars(builtin).items() if name.startswith("payload_")]
    assert built_in
    assert [each for each in built_in if defined(each)] == []
    assert defined(len) == {}


CLASS = """
import os

class Adapter:
    policy = {}
    needs = ("redis",)
    def open(self, env): ...
    def append(self, store, scope, messages): ...
    def read(self, store, scope): ...

adapter = Adapter()
"""


@pytest.mark.parametrize("name", ["adapter", "Adapter"])
def test_an_adapter_is_found_at_its_class(name: str, project: Path) -> None:
    file = _file(project / f"memory_at_class_{name}.py", CLASS)
    answer = describe(f"memory_at_class_{name}.py:{name}", project)
    assert "error" not in answer, answer
    assert location(answer.get("file"), answer["line"]) == f"{Path(file).name}:4"


def test_an_adapter_of_a_built_in_class_is_found_where_it_is_made(project: Path) -> None:
    text = "from memory_matrix.stores import PostgresStore\nstore = PostgresStore\n"
    _file(project / "memory_made_here.py", text)
    for source in ("memory_made_here.py:store", "memory_made_here:store"):
        answer = describe(source, project)
        assert location(answer.get("file"), answer["line"]) == "memory_made_here.py:1"


def test_a_store_that_is_built_in_has_no_place(project: Path) -> None:
    assert "file" not in describe("memory_matrix.stores:PostgresStore", project)
