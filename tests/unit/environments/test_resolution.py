"""What is resolved is remembered: for an hour, and for longer where the index is out of reach."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.environments.processes import Runner
from memory_matrix.environments.resolution import Resolver, stamped
from memory_matrix.environments.uv_commands import Uv, UvError
from memory_matrix.errors import UnavailableError

PYTHON = Interpreter(Path("/fake/python"), "3.12.1", "cpython", "one")
OTHER_PYTHON = Interpreter(Path("/other/python"), "3.12.1", "cpython", "another")
OFFLINE = "echo 'error: Failed to fetch: `https://index.test/`' >&2; exit 2"
REFUSES = "echo 'error: No solution found' >&2; exit 1"


@dataclass(frozen=True)
class Index:
    """A uv that answers as a script says, and counts how often it was asked."""

    folder: Path

    def says(self, code: str) -> None:
        script = self.folder / "uv"
        script.write_text(f'#!/bin/sh\necho "$*" >> {self.folder}/asked\n{code}\n')
        script.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        log = self.folder / "asked"
        return log.read_text().splitlines() if log.exists() else []

    def resolver(self, *, refresh: bool = False) -> Resolver:
        uv = Uv(str(self.folder / "uv"), os.environ, Runner(), self.folder)
        return Resolver(uv, self.folder / "memory", refresh)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "memory").mkdir()
    index = Index(tmp_path)
    index.says("cat > /dev/null; echo demo==2.0; echo; echo '# a comment'; echo base==1.0")
    return index


def test_lines_are_what_uv_pins_in_one_order(index: Index) -> None:
    assert index.resolver().resolve(("demo",), PYTHON) == ("base==1.0", "demo==2.0")


def test_nothing_to_resolve_asks_nobody(index: Index) -> None:
    assert index.resolver().resolve((), PYTHON) == ()
    assert index.asked == []


def test_a_second_time_asks_nobody(index: Index) -> None:
    first = index.resolver().resolve(("demo",), PYTHON)

    assert index.resolver().resolve(("demo",), PYTHON) == first
    assert len(index.asked) == 1


def test_refreshing_asks_anew(index: Index) -> None:
    index.resolver().resolve(("demo",), PYTHON)
    index.says("echo demo==3.0")

    assert index.resolver(refresh=True).resolve(("demo",), PYTHON) == ("demo==3.0",)
    assert index.resolver().resolve(("demo",), PYTHON) == ("demo==3.0",)


@pytest.mark.parametrize("age", [3601, -60])
def test_what_is_older_than_an_hour_or_from_the_future_is_asked_anew(
    index: Index, age: int
) -> None:
    index.resolver().resolve(("demo",), PYTHON)
    _make_older(index, age)

    index.resolver().resolve(("demo",), PYTHON)

    assert len(index.asked) == 2


def test_an_old_answer_will_do_where_the_index_is_out_of_reach(index: Index) -> None:
    first = index.resolver().resolve(("demo",), PYTHON)
    _make_older(index, 10**7)
    index.says(OFFLINE)

    assert index.resolver().resolve(("demo",), PYTHON) == first


def test_an_old_answer_will_not_do_where_the_index_refuses(index: Index) -> None:
    index.resolver().resolve(("demo",), PYTHON)
    _make_older(index, 10**7)
    index.says(REFUSES)

    with pytest.raises(UvError, match="No solution found"):
        index.resolver().resolve(("demo",), PYTHON)


def test_refreshing_out_of_reach_is_an_error(index: Index) -> None:
    index.resolver().resolve(("demo",), PYTHON)
    index.says(OFFLINE)

    with pytest.raises(UvError) as caught:
        index.resolver(refresh=True).resolve(("demo",), PYTHON)

    assert caught.value.offline


def test_interpreters_requirements_and_settings_each_have_their_own_answer(index: Index) -> None:
    resolver = index.resolver()
    resolver.resolve(("demo",), PYTHON)
    resolver.resolve(("demo",), OTHER_PYTHON)
    resolver.resolve(("demo", "base"), PYTHON)
    told = replace(resolver.uv, environ={**os.environ, "UV_INDEX_URL": "https://other.test"})
    replace(resolver, uv=told).resolve(("demo",), PYTHON)
    (index.folder / "uv.toml").write_text("offline = true\n")
    resolver.resolve(("demo",), PYTHON)
    (index.folder / "pyproject.toml").write_text("[tool.uv]\noffline = true\n")
    resolver.resolve(("demo",), PYTHON)

    assert len(index.asked) == 6


def test_a_project_file_that_does_not_configure_uv_changes_nothing(index: Index) -> None:
    index.resolver().resolve(("demo",), PYTHON)
    (index.folder / "pyproject.toml").write_text("[project]\nname = 'demo'\n")

    index.resolver().resolve(("demo",), PYTHON)

    assert len(index.asked) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"time": "soon", "lines": []}', "\udcff"])
def test_a_spoilt_memory_is_passed_over(index: Index, text: str) -> None:
    first = index.resolver().resolve(("demo",), PYTHON)
    _memory(index).write_text(text, errors="surrogateescape")

    assert index.resolver().resolve(("demo",), PYTHON) == first


def test_a_memory_is_for_its_owners_eyes(index: Index) -> None:
    index.resolver().resolve(("demo",), PYTHON)

    assert _memory(index).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("requirement", ["demo=1", "-r /etc/passwd", "", "demo==1; nonsense"])
def test_what_is_no_requirement_is_refused_before_uv_sees_it(
    index: Index, requirement: str
) -> None:
    with pytest.raises(UnavailableError, match="is no requirement"):
        index.resolver().resolve((requirement,), PYTHON)

    assert index.asked == []


def test_a_local_project_counts_with_its_content(index: Index, tmp_path: Path) -> None:
    project = tmp_path / "local demo"
    project.mkdir()
    (project / "demo.py").write_text("VERSION = 1")
    requirement = f"demo @ {project.as_uri()}"
    before = stamped((requirement, "base"))

    assert stamped((requirement, "base")) == before
    (project / "demo.py").write_text("VERSION = 2")
    assert stamped((requirement, "base")) != before
    assert stamped((requirement, "base"))[1] == "base"


def test_a_local_project_is_built_anew(index: Index, tmp_path: Path) -> None:
    index.resolver().resolve((f"demo @ {tmp_path.as_uri()}/gone.whl",), PYTHON)

    assert "--refresh-package=demo" in index.asked[0]


def _memory(index: Index) -> Path:
    (memory,) = (index.folder / "memory").iterdir()
    return memory


def _make_older(index: Index, seconds: int) -> None:
    memory = _memory(index)
    data = json.loads(memory.read_text())
    memory.write_text(json.dumps({**data, "time": data["time"] - seconds}))
