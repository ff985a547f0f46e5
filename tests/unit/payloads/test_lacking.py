"""What an environment does not have is told apart from what it has and cannot import."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.payloads.lacking import Lacking, needs, needs_python


@pytest.fixture(autouse=True)
def broken_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "mm_broken_library"
    package.mkdir()
    (package / "__init__.py").write_text("import mm_gone_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_module_that_is_there_is_returned() -> None:
    assert needs("pathlib").Path is Path


@pytest.mark.parametrize("module", ["mm_gone_library", "mm_gone_library.part"])
def test_missing_module_is_lacking_by_its_project(module: str) -> None:
    with pytest.raises(Lacking, match=r"^Needs gone-library, which this environment .*\.$"):
        needs(module, "gone-library")


def test_missing_part_of_a_module_that_is_there_is_lacking() -> None:
    with pytest.raises(Lacking, match=r"^Needs the-part,"):
        needs("json.gone", "the-part")


def test_module_that_cannot_import_its_dependency_is_not_lacking() -> None:
    with pytest.raises(ModuleNotFoundError, match="mm_gone_dependency"):
        needs("mm_broken_library")


def test_older_interpreter_is_told_which_python_it_takes() -> None:
    assert str(needs_python("3.11", "StrEnum")) == "Needs Python 3.11 or later for StrEnum."
