"""Which client a store is on, and whether its library admits that: case srv_client_newest_and_oldest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.stores.protocol import Message, Scope
from memory_matrix.stores.redis import RedisAdapter
from memory_matrix.suite.outcomes import CaseFailed, NotOffered
from memory_matrix.suite.worker import Worker
from support.mutants import try_case

pytestmark = pytest.mark.integration

CASE = "srv_client_newest_and_oldest"


class OfALibrary(RedisAdapter):
    """Names the library that it is of."""

    project = "an-old-library[redis]"


class OnNothing(RedisAdapter):
    """Names a client that is not here."""

    client_project = "no-such-client"


class Forgets(RedisAdapter):
    """Keeps nothing, and names a client."""

    client_project = "psycopg"

    def append(self, store: Any, scope: Scope, messages: Sequence[Message], **options: Any) -> None:
        pass


@pytest.fixture
def requires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the library's installed metadata are written to."""
    folder = tmp_path / "an_old_library-1.0.dist-info"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder / "METADATA"


def _write(path: Path, *requirements: str) -> None:
    lines = ["Metadata-Version: 2.1", "Name: an-old-library", "Version: 1.0"]
    lines += ["Provides-Extra: redis", *(f"Requires-Dist: {each}" for each in requirements)]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    "requirement", ["redis<2", "redis<2; extra == 'redis'", "Redis<2; python_version > '3'"]
)
def test_a_client_that_the_library_does_not_admit_is_not_offered(
    requirement: str, requires: Path, suite_worker: Worker
) -> None:
    _write(requires, requirement)

    error = try_case(suite_worker, OfALibrary, CASE)

    assert isinstance(error, NotOffered)
    assert str(error).startswith("an-old-library requires ")


@pytest.mark.parametrize(
    "requirement", ["redis>2", "redis<2; python_version < '3'", "redis-other<2"]
)
def test_a_client_that_the_library_admits_is_tried(
    requirement: str, requires: Path, suite_worker: Worker
) -> None:
    _write(requires, requirement)

    assert try_case(suite_worker, OfALibrary, CASE) is None


def test_a_client_that_is_not_here_is_not_offered(suite_worker: Worker) -> None:
    error = try_case(suite_worker, OnNothing, CASE)

    assert isinstance(error, NotOffered)
    assert "no-such-client" in str(error)


def test_a_failure_names_the_client_that_the_adapter_names(suite_worker: Worker) -> None:
    error = try_case(suite_worker, Forgets, CASE)

    assert isinstance(error, CaseFailed)
    assert str(error).startswith("with psycopg 3.")
