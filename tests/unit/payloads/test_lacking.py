"""What an environment does not have is told apart from what it has and cannot import."""

from __future__ import annotations

import sys
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from memory_matrix.payloads import embeddings, libraries, records, times
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


def test_library_too_old_for_a_payload_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("numpy.random", "pydantic", "memory_matrix.payloads.pydantic_models"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    with pytest.raises(Lacking, match=r"^Needs numpy 1\.17 or later"):
        embeddings.payload_numpy_generator()
    with pytest.raises(Lacking, match=r"^Needs pydantic 1\.7 or later"):
        libraries.payload_pydantic_private()


def test_machine_without_time_zone_data_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found(key: str) -> None:
        raise zoneinfo.ZoneInfoNotFoundError(key)

    monkeypatch.setattr(zoneinfo, "ZoneInfo", not_found)
    with pytest.raises(Lacking, match=r"^Needs the time zone Europe/Berlin; .*tzdata.*\.$"):
        times.payload_datetime_zone()


@pytest.mark.parametrize(
    ("module", "payload", "python"),
    [
        ("zoneinfo", times.payload_datetime_zone, "3.9"),
        ("dataclasses", records.payload_dataclass, "3.7"),
    ],
)
def test_standard_module_that_is_too_new_names_its_python(
    module: str, payload: Callable[[], object], python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Lacking, match=f"^Needs Python {python} or later for {module}"):
        payload()
