"""Adapters for libraries that are not installed here, and the page about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.read import read
from memory_matrix.stores.adapting.requiring import offered, required
from memory_matrix.stores.loading import load_store
from memory_matrix.stores.protocol import NotOffered
from support.libraries import PAGE, ROOT, faults, page, runs
from support.tables import table

MATRICES = sorted({run.matrix for run in runs()})


def stores(matrix: str) -> tuple[str, ...]:
    return read(ROOT / "matrix" / matrix).suite.stores


@table("store", [store for matrix in MATRICES for store in stores(matrix)])
def test_an_adapter_without_its_library_says_what_to_install(store: str) -> None:
    with pytest.raises(UsageError) as raised:
        load_store(store, Path())

    said = str(raised.value)
    assert said.startswith(f"{store}: ")
    assert said.count("cannot be imported") == 1
    assert "to the environment's packages." in said
    assert re.search(r"add a [\w-]+(\[\w+\])? that has it", said)


def test_what_a_release_has_is_given() -> None:
    assert offered("pytest", "pytest", "raises") is pytest.raises
    assert required("pytest", "pytest", "raises") is pytest.raises


@pytest.mark.parametrize(
    ("module", "name"), [("pytest", "no_such_thing"), ("pytest.no_such_module", "thing")]
)
def test_what_a_release_has_not_is_not_offered_once_it_is_used(module: str, name: str) -> None:
    absent = offered("pytest", module, name)

    with pytest.raises(NotOffered, match=f"pytest {pytest.__version__} has no {name}"):
        absent(1, of="it")
    with pytest.raises(NotOffered, match=name):
        _ = absent.from_url


def test_a_project_that_is_not_there_is_an_error_at_once() -> None:
    with pytest.raises(UsageError, match="add a no-such-project that has it"):
        offered("no-such-project", "no_such_module", "thing")


def test_the_page_shows_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert page(text, faults()) == text, "run PYTHONPATH=tests python -m support.libraries"


def test_every_store_and_release_of_the_table_is_in_its_matrix() -> None:
    for run in runs():
        matrix = read(ROOT / "matrix" / run.matrix)
        named = {store.rpartition(":")[2] for store in matrix.suite.stores}
        environments = {each.name for each in matrix.environments}
        for fault in run.faults:
            assert {store for store, _, _ in fault.expected()} <= named
            assert {fault.environment(release) for release in fault.outcomes} <= environments
