"""What nox calls the sessions of a matrix file."""

from __future__ import annotations

from pathlib import Path

import pytest
from nox import registry

from memory_matrix.nox import grouped, sessions
from memory_matrix.runners import offer

PYTHONS = '[axes]\npython = ["3.11", "3.12"]\n'
NAMED = '[[environment]]\nname = "production"\npython = "3.12"\n'
SERVERS = """
[servers]
postgres = ["image:pgvector/pgvector:pg17"]
redis = ["image:redis:8.0"]
"""


@pytest.fixture(autouse=True)
def _no_other_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", {})
    monkeypatch.chdir(tmp_path)


def write(text: str) -> Path:
    path = Path("memory-matrix.toml")
    path.write_text(text)
    return path


def names(text: str) -> list[str]:
    groups = grouped("integration", offer(write(text + SERVERS)).sessions)
    return [f"{group}({name})" for group in groups for name in groups[group]]


def test_environments_of_the_axis_python_are_told_apart_by_the_python() -> None:
    assert names(PYTHONS) == [
        "integration-3.11(pg17, redis8.0)",
        "integration-3.12(pg17, redis8.0)",
    ]


def test_what_else_tells_them_apart_stands_before_the_servers() -> None:
    assert names(PYTHONS + 'packages.pydantic = ["<2", ">=2"]\n')[:2] == [
        "integration-3.11(pydantic<2, pg17, redis8.0)",
        "integration-3.11(pydantic>=2, pg17, redis8.0)",
    ]


def test_named_environments_are_called_by_their_names() -> None:
    assert names(NAMED) == ["integration(production, pg17, redis8.0)"]


def test_beside_named_environments_those_of_the_axes_have_their_whole_names() -> None:
    assert names(PYTHONS + NAMED) == [
        "integration(py3.11, pg17, redis8.0)",
        "integration(py3.12, pg17, redis8.0)",
        "integration(production, pg17, redis8.0)",
    ]


def test_one_session_of_all_requires_every_other_one() -> None:
    write(PYTHONS + SERVERS)
    sessions()

    registered = registry.get()
    assert list(registered) == ["integration-3.11", "integration-3.12", "integration", "compat"]
    assert registered["integration"].requires == [
        "integration-3.11(pg17, redis8.0)",
        "integration-3.12(pg17, redis8.0)",
    ]
    assert "memory-matrix.toml" in str(registered["integration"].__doc__)


def test_named_environments_are_all_run_by_the_name_they_share() -> None:
    write(NAMED + SERVERS)
    sessions(compat=None)

    assert list(registry.get()) == ["integration"]


def test_names_are_the_noxfile_s_choice() -> None:
    write(PYTHONS + SERVERS)
    sessions(name="stores", compat="skew")

    assert list(registry.get()) == ["stores-3.11", "stores-3.12", "stores", "skew"]


@pytest.mark.parametrize("default", [False, True])
def test_nox_alone_runs_them_where_the_noxfile_says_so(default: bool) -> None:
    write(PYTHONS + SERVERS)
    sessions(default=default)

    assert {each.default for each in registry.get().values()} == {default}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[axis]\n", "memory-matrix.toml: axis: no such key; "),
        ("[axes\n", "memory-matrix.toml is not TOML: "),
    ],
)
def test_a_matrix_file_that_is_wrong_ends_nox_with_its_errors(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)

    with pytest.raises(SystemExit) as ended:
        sessions()

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_without_a_matrix_file_nox_ends_and_says_how_to_name_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()

    with pytest.raises(SystemExit) as ended:
        sessions()

    assert ended.value.code == 2
    assert 'sessions("matrix.toml")' in capsys.readouterr().err
