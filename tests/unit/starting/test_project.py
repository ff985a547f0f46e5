"""What a project says of itself: read where it can be, and noted where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.starting.project import read_project

PYPROJECT = """
[project]
name = "agent"
requires-python = ">=3.10"
dependencies = ["Pydantic[email]>=2.5", "fastapi", "msgpack", "agent[fast]"]
[project.optional-dependencies]
fast = ["orjson>=3", "pydantic"]
"""


@pytest.fixture
def folder(tmp_path: Path):
    def write(**files: str) -> Path:
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def names(project) -> list[str]:
    return [str(each) for each in project.requirements]


def test_dependencies_that_have_to_do_with_memory_are_taken_once_extras_too(folder):
    project = read_project(folder(pyproject_toml=PYPROJECT))
    assert names(project) == ["Pydantic[email]>=2.5", "msgpack", "orjson>=3"]
    assert project.serializers == ("pickle", "json", "orjson", "msgpack")
    assert str(project.pythons) == ">=3.10"
    assert project.notes == ()


def test_a_folder_without_anything_is_a_project_too(folder):
    project = read_project(folder())
    assert (project.requirements, project.notes, project.has_matrix) == ((), (), False)
    assert project.serializers == ("pickle", "json")


def test_requirements_txt_is_read_where_pyproject_names_none(folder):
    text = "# pinned\n-r other.txt\npydantic==2.5.3 \\\n  --hash=sha256:aa\nflask\nmsgpack==1.0.7  # why\n./local\n"
    project = read_project(folder(requirements_txt=text, pyproject_toml="[project]\nname='a'\n"))
    assert names(project) == ["pydantic==2.5.3", "msgpack==1.0.7"]
    assert project.source == "requirements.txt"


@pytest.mark.parametrize(
    ("pyproject", "said"),
    [
        ("[project", "pyproject.toml cannot be read"),
        ("[project]\nrequires-python = '3.10 or so'", "requires-python is '3.10 or so'"),
        ("[project]\nrequires-python = 3.10", "requires-python is 3.1"),
        ("[project]\ndependencies = ['>>> pydantic']", "'>>> pydantic' is no requirement"),
    ],
)
def test_what_cannot_be_read_is_noted_and_left_out(folder, pyproject: str, said: str):
    project = read_project(folder(pyproject_toml=pyproject))
    (note,) = project.notes
    assert said in note
    assert len(project.pythons) == 0
    assert project.requirements == ()


@pytest.mark.parametrize("odd", ["project = 1", "[project]\ndependencies = 'x'", "[tool]\nx = 1"])
def test_tables_of_other_types_say_nothing(folder, odd: str):
    assert read_project(folder(pyproject_toml=odd)).requirements == ()


def test_bytes_that_are_no_text_are_noted(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe")
    assert len(read_project(tmp_path).notes) == 2


def test_a_folder_of_that_name_is_noted(tmp_path: Path):
    (tmp_path / "pyproject.toml").mkdir()
    assert "Is a directory" in read_project(tmp_path).notes[0]


def test_a_matrix_in_pyproject_is_seen(folder):
    assert read_project(folder(pyproject_toml="[tool.memory-matrix]\n")).has_matrix


POETRY = """
[tool.poetry.dependencies]
python = "^3.11"
Pydantic = { version = "~2.5", extras = ["email"] }
msgpack = "1.0.8"
langgraph = { git = "https://github.com/langchain-ai/langgraph" }
orjson = ">=3, <4"
msgspec = "^0.18 || ^0.19"
redis = [{ version = "^5", python = "<3.12" }, { version = "^6", python = ">=3.12" }]
"""


def test_what_poetry_asks_for_is_taken_as_pip_writes_it(folder):
    project = read_project(folder(pyproject_toml=POETRY))
    assert names(project) == [
        "Pydantic[email]<2.6,>=2.5",
        "msgpack==1.0.8",
        "langgraph",
        "orjson<4,>=3",
    ]
    assert str(project.pythons) == "<4,>=3.11"
    assert [note.split()[1].strip("\"'[") for note in project.notes] == [
        "msgspec^0.18",
        "redis[{'version':",
    ]


@pytest.mark.parametrize(
    ("files", "places"),
    [
        ({"setup_py": "", "setup_cfg": ""}, "setup.cfg and setup.py"),
        ({"pyproject_toml": "[project]\ndynamic = ['dependencies']"}, "pyproject.toml as dynamic"),
    ],
)
def test_dependencies_that_are_named_elsewhere_are_noted(folder, files, places: str):
    (note,) = read_project(folder(**files)).notes
    assert note.startswith(f"Dependencies in {places} are not read")


@pytest.mark.parametrize(
    "odd", ["poetry = 1", "poetry.dependencies = [1]", "poetry.dependencies.x = 1"]
)
def test_an_odd_table_of_poetry_says_nothing(folder, odd: str):
    assert read_project(folder(pyproject_toml=f"[tool]\n{odd}\n")).requirements == ()
