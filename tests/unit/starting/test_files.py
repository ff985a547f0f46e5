"""The texts that `init` writes, and that it never writes over anything."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memory_matrix.errors import MemoryMatrixError
from memory_matrix.github.inputs import Inputs
from memory_matrix.matrix.read import read
from memory_matrix.starting import files
from memory_matrix.starting.choosing import Chosen
from memory_matrix.starting.files import StartingFile, put
from memory_matrix.starting.models import Model
from memory_matrix.starting.project import Project
from support.definitions import action, parsed, workflows

ODD = ("pydantic[email]==2.5.0", 'numpy>=1; python_version >= "3.10"', "msgpack", "attrs", "orjson")


def requirements(*texts: str) -> tuple[Requirement, ...]:
    return tuple(map(Requirement, texts))


@pytest.mark.parametrize("packages", [(), ODD[:2], ODD])
@pytest.mark.parametrize("folder", [".", "src"])
def test_the_matrix_file_says_what_was_chosen(
    tmp_path: Path, packages: tuple[str, ...], folder: str
):
    (tmp_path / "src").mkdir()
    chosen = Chosen("3.10", requirements(*packages), "As pinned."), Chosen("3.13")
    project = Project(tmp_path, requirements=requirements("msgpack"))
    put(files.payloads_file(tmp_path, "payloads.py", ()))
    put(files.matrix_file(tmp_path, project, chosen, "payloads.py", folder))
    matrix = read(tmp_path / "memory-matrix.toml")
    production, following = matrix.environments
    assert (production.name, production.python) == ("production", "3.10")
    assert (following.name, following.python, following.packages) == ("next", "3.13", ())
    assert list(requirements(*production.packages)) == list(requirements(*packages))
    assert production.path == ((tmp_path / "src",) if folder == "src" else ())
    assert matrix.compat.serializers == ("pickle", "json", "msgpack")


def test_the_payloads_file_runs_and_gives_equal_values(tmp_path: Path):
    models = (Model("agent.models", "Turn", "dataclass"),)
    file = files.payloads_file(tmp_path, "payloads.py", models)
    put(file)
    found = runpy.run_path(str(file.path))
    assert found["payload_conversation"]() == found["payload_conversation"]()
    assert "from agent.models import Turn  # dataclass" in file.text


def steps(file: StartingFile) -> list[dict]:
    return parsed(file.text)["jobs"]["memory"]["steps"]


def test_the_workflow_is_at_the_top_of_the_repository_and_names_the_folder(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "services" / "agent one"
    inside.mkdir(parents=True)
    file = files.workflow_file(inside)
    assert file.path == tmp_path / ".github/workflows/memory-matrix.yml"
    assert steps(file)[1]["with"]["working-directory"] == "services/agent one"
    assert "working-directory" not in steps(files.workflow_file(tmp_path))[1]["with"]


def test_the_workflow_gives_inputs_that_there_are_and_that_are_allowed(tmp_path: Path):
    given = steps(files.workflow_file(tmp_path))[1]["with"]
    assert set(given) <= set(action()["inputs"])
    variables = {
        f"MEMORY_MATRIX_INPUT_{name.upper().replace('-', '_')}": str(value).lower()
        for name, value in given.items()
    }
    assert list(Inputs.taken_from(variables).problems()) == []


def test_the_workflow_checks_out_by_the_pin_that_our_own_workflows_have(tmp_path: Path):
    own = next(
        step["uses"]
        for job in workflows()["ci.yml"]["jobs"].values()
        for step in job.get("steps", ())
        if "actions/checkout" in step.get("uses", "")
    )
    assert steps(files.workflow_file(tmp_path))[0]["uses"] == own


@pytest.mark.parametrize(
    ("there", "name"),
    [
        (None, "payloads.py"),
        ("def payload_x(): ...", "payloads.py"),
        ("class Payload: ...", "memory_payloads.py"),
    ],
)
def test_a_module_of_another_meaning_keeps_its_name(tmp_path: Path, there: str | None, name: str):
    if there is not None:
        (tmp_path / "payloads.py").write_text(there, encoding="utf-8")
    assert files.payloads_name(tmp_path) == name


def test_a_file_is_written_once_and_never_over_anything(tmp_path: Path):
    file = StartingFile(tmp_path / "a/b.txt", "new", "x")
    assert put(file, dry=True) == "to be written"
    assert not file.path.exists()
    assert put(file) == "written"
    file.path.write_text("mine", encoding="utf-8")
    assert put(file) == "there already"
    assert file.path.read_text(encoding="utf-8") == "mine"


def test_a_link_to_nowhere_and_a_folder_are_there_too(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert put(StartingFile(tmp_path / "link", "new", "x")) == "there already"
    assert put(StartingFile(tmp_path, "new", "x")) == "there already"
    assert not (tmp_path / "nowhere").exists()


def test_what_cannot_be_written_is_said_in_one_sentence(tmp_path: Path):
    (tmp_path / ".github").write_text("a file", encoding="utf-8")
    with pytest.raises(MemoryMatrixError, match=r"cannot be written .*name another folder"):
        put(StartingFile(tmp_path / ".github/workflows/x.yml", "new", "x"))


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path: Path):
    file = StartingFile(tmp_path / "a.txt", "cut off \ud800", "x")
    with pytest.raises(UnicodeEncodeError):
        put(file)
    assert not file.path.exists()
