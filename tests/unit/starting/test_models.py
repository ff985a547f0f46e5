"""Classes that may be memory, found by looking and not by importing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.starting.models import MOST, Model, find_models, source_folder

MODELS = """
import attrs, dataclasses, pydantic
raise RuntimeError("this was imported")

class Message(pydantic.BaseModel): ...
class Kept(list[int], metaclass=type): ...
@dataclasses.dataclass(frozen=True)
class Turn: ...
@attrs.define
class State: ...
@dataclasses.dataclass
class _Private: ...
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_models_are_named_as_they_are_imported(tmp_path: Path):
    write(tmp_path / "src/agent/__init__.py", "class Top(BaseModel): ...")
    write(tmp_path / "src/agent/models.py", MODELS)
    assert source_folder(tmp_path) == "src"
    assert find_models(tmp_path) == (
        Model("agent", "Top", "pydantic"),
        Model("agent.models", "Message", "pydantic"),
        Model("agent.models", "Turn", "dataclass"),
        Model("agent.models", "State", "attrs"),
    )


def test_what_is_no_module_of_the_app_is_left_out(tmp_path: Path):
    for name in ("tests/x.py", "test_x.py", ".venv/x.py", "venv/lib/x.py", "a-b.py", "docs/x.py"):
        write(tmp_path / name, MODELS)
    write(tmp_path / "venv/pyvenv.cfg", "")
    assert find_models(tmp_path) == ()
    assert source_folder(tmp_path) == "."


def test_what_cannot_be_read_is_passed_by(tmp_path: Path):
    write(tmp_path / "a.py", "class X(BaseModel: ...")
    (tmp_path / "b.py").write_bytes(b"\xff")
    (tmp_path / "c.py").symlink_to(tmp_path / "nowhere")
    write(tmp_path / "d.py", f"x = {'-' * 100_000}1")
    write(tmp_path / "e.py", "class E(BaseModel): ...")
    assert find_models(tmp_path) == (Model("e", "E", "pydantic"),)


def test_some_are_enough(tmp_path: Path):
    write(tmp_path / "a.py", "\n".join(f"class X{n}(BaseModel): ..." for n in range(50)))
    assert len(find_models(tmp_path)) == MOST


@pytest.mark.parametrize(
    ("path", "folder", "module"),
    [
        ("src/mod.py", "src", "mod"),
        ("src/company/agent/models.py", "src", "company.agent.models"),
        ("src/agent/models.py", "src", "agent.models"),
        ("agent/src/models.py", ".", "agent.src.models"),
    ],
)
def test_a_model_can_be_imported_from_the_folder_that_is_named(
    tmp_path: Path, path: str, folder: str, module: str
):
    write(tmp_path / path, "class E(BaseModel): ...")
    assert source_folder(tmp_path) == folder
    assert find_models(tmp_path) == (Model(module, "E", "pydantic"),)


def test_a_package_that_is_called_src_is_no_folder_of_packages(tmp_path: Path):
    write(tmp_path / "src/__init__.py", "")
    write(tmp_path / "src/models.py", "class E(BaseModel): ...")
    assert source_folder(tmp_path) == "."
    assert find_models(tmp_path) == (Model("src.models", "E", "pydantic"),)


def test_what_python_says_of_odd_code_is_not_said_again(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
):
    write(tmp_path / "e.py", "TEXT = '\\d'\nclass E(BaseModel): ...")
    assert len(find_models(tmp_path)) == 1
    assert list(recwarn) == []
