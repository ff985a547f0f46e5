"""Interpreters are found where developers keep them, in the order that people expect."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_matrix.environments.interpreters import find
from memory_matrix.errors import UnavailableError

pytestmark = pytest.mark.integration


@dataclass(frozen=True)
class Machine:
    """A machine of fake interpreters: small scripts that answer as interpreters do."""

    home: Path

    @property
    def asked(self) -> list[str]:
        """The interpreters that were run, in order."""
        log = self.home / "asked"
        return log.read_text().split() if log.exists() else []

    def running(self, version: str) -> Path:
        return self.put("running/bin/python", version)

    def on_path(self, name: str, version: str, folder: str = "one") -> Path:
        return self.put(f"path/{folder}/{name}", version)

    def in_pyenv(self, version: str, name: str | None = None) -> Path:
        return self.put(f"pyenv/versions/{name or version}/bin/python", version)

    def of_uv(self, version: str) -> Path:
        return self.put(f"uv/cpython-{version}-linux-x86_64-gnu/bin/python", version)

    def put(
        self, name: str, version: str, *, implementation: str = "cpython", threads: bool = False
    ) -> Path:
        path = self.home / name
        answer = {
            "path": str(path),
            "version": version,
            "implementation": implementation,
            "free_threaded": threads,
            "identity": [str(path), version],
        }
        return self.script(name, f"echo '{json.dumps(answer)}'")

    def script(self, name: str, code: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {path} >> {self.home}/asked\n{code}\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(sys, "executable", str(machine.running("3.10.2")))
    monkeypatch.setenv("PATH", f"{tmp_path}/path/one:{tmp_path}/path/two")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("RUNNER_TOOL_CACHE", str(tmp_path / "tools"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    return machine


def test_current_is_the_running_interpreter(machine: Machine) -> None:
    found = find("current")

    assert (found.path, found.version) == (machine.home / "running/bin/python", "3.10.2")


def test_the_running_interpreter_comes_before_newer_ones_elsewhere(machine: Machine) -> None:
    machine.on_path("python3.10", "3.10.9")

    assert find("3.10").version == "3.10.2"


def test_the_tool_cache_of_a_runner_is_looked_through(machine: Machine) -> None:
    machine.put("tools/Python/3.11.9/x64/bin/python", "3.11.9")
    older = machine.put("tools/Python/3.12.1/x64/bin/python", "3.12.1")
    newer = machine.put("tools/Python/3.12.10/x64/bin/python", "3.12.10")
    assert find("3.12").path == newer
    assert find("3.12.1").path == older
    with pytest.raises(UnavailableError, match=r"3\.11\.9, 3\.12\.1, 3\.12\.10"):
        find("3.14")


def test_path_comes_before_pyenv_and_pyenv_before_uv(machine: Machine) -> None:
    uv = machine.of_uv("3.12.9")
    assert find("3.12").path == uv

    pyenv = machine.in_pyenv("3.12.8")
    assert find("3.12").path == pyenv

    path = machine.on_path("python3.12", "3.12.7")
    assert find("3.12").path == path


def test_the_newest_patch_of_one_place_is_taken(machine: Machine) -> None:
    for version in ("3.12.9", "3.12.10", "3.12.2"):
        machine.in_pyenv(version)

    assert find("3.12").version == "3.12.10"


def test_an_exact_version_is_exact(machine: Machine) -> None:
    machine.in_pyenv("3.12.9")
    machine.in_pyenv("3.12.1")

    assert find("3.12.1").version == "3.12.1"


@pytest.mark.parametrize("name", ["PATH", "PYENV_ROOT"])
def test_a_place_that_cannot_be_read_is_passed_over(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/" + "x" * 5000)
    machine.of_uv("3.12.9")

    assert find("3.12").version == "3.12.9"
    with pytest.raises(UnavailableError, match="was not found"):
        find("3.14")


@pytest.mark.parametrize("name", ["python", "python3"])
def test_a_plain_name_on_path_is_asked_for_its_version(machine: Machine, name: str) -> None:
    path = machine.on_path(name, "3.12.3", folder="two")

    assert find("3.12").path == path


def test_a_shim_that_fails_is_passed_over(machine: Machine) -> None:
    machine.script("path/one/python3.12", "echo 'command not found' >&2; exit 127")
    machine.script("path/one/python3", "echo nonsense")
    machine.script("path/one/python", 'echo \'{"version": "3.12"}\'')
    behind = machine.on_path("python3.12", "3.12.3", folder="two")

    assert find("3.12").path == behind


def test_a_name_that_says_another_version_is_not_even_asked(machine: Machine) -> None:
    machine.in_pyenv("3.9.1")
    machine.of_uv("3.8.1")
    machine.in_pyenv("3.12.3")

    find("3.12")

    assert not [path for path in machine.asked if "3.9.1" in path or "3.8.1" in path]


def test_an_installation_with_a_name_of_its_own_is_asked(machine: Machine) -> None:
    path = machine.in_pyenv("3.12.3", name="my-conda")

    assert find("3.12").path == path


def test_each_interpreter_is_asked_once(machine: Machine) -> None:
    machine.in_pyenv("3.12.3")

    find("3.12")
    find("3.12.3")

    assert len(machine.asked) == len(set(machine.asked))


def test_a_prerelease_is_taken_only_where_no_place_has_a_release(machine: Machine) -> None:
    machine.on_path("python3.14", "3.14.0rc2")
    assert find("3.14").version == "3.14.0rc2"

    machine.of_uv("3.14.0")
    assert find("3.14").version == "3.14.0"


def test_a_patch_version_does_not_mean_its_prereleases(machine: Machine) -> None:
    machine.on_path("python3.14", "3.14.0rc2")

    assert find("3.14.0rc2").version == "3.14.0rc2"
    with pytest.raises(UnavailableError):
        find("3.14.0")


def test_the_development_version_is_whatever_there_is(machine: Machine) -> None:
    machine.in_pyenv("3.15.0a3")

    assert find("3.15-dev").version == "3.15.0a3"


def test_a_free_threaded_build_is_meant_only_by_its_own_name(machine: Machine) -> None:
    machine.put("path/one/python3.13t", "3.13.1", threads=True)
    machine.put("path/one/python3.13", "3.13.0", threads=True)
    with pytest.raises(UnavailableError):
        find("3.13")

    assert find("3.13t").version == "3.13.1"


def test_another_implementation_is_taken_only_where_no_place_has_cpython(machine: Machine) -> None:
    machine.put("path/one/python3.11", "3.11.13", implementation="pypy")
    assert find("3.11").implementation == "pypy"

    machine.of_uv("3.11.2")
    assert find("3.11").implementation == "cpython"


def test_equal_versions_in_two_places_have_two_identities(machine: Machine) -> None:
    first = find(str(machine.put("a/python", "3.12.1")))
    second = find(str(machine.put("b/python", "3.12.1")))

    assert first.identity != second.identity


def test_a_path_may_name_the_folder_of_an_installation(machine: Machine) -> None:
    path = machine.put("mine/bin/python", "3.12.1")

    assert find(str(machine.home / "mine")).path == path


def test_a_path_may_start_at_home(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = machine.put("mine/python", "3.12.1")
    monkeypatch.setenv("HOME", str(machine.home))

    assert find("~/mine/python").path == path


def test_a_missing_version_says_what_there_is_and_what_to_do(machine: Machine) -> None:
    machine.on_path("python3.9", "3.9.1")
    machine.in_pyenv("3.8.18")
    machine.of_uv("3.13.0")

    with pytest.raises(UnavailableError) as caught:
        find("3.14")

    text = str(caught.value)
    assert "3.8.18, 3.9.1, 3.10.2, 3.13.0" in text
    for advice in ("uv python install 3.14", "pyenv install 3.14", "--download-pythons"):
        assert advice in text


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("/nowhere/python", "There is no interpreter at /nowhere/python"),
        ("/" + "x" * 5000, "There is no interpreter at /xxx"),
        ("2.7", "older than 3.6"),
        ("3.5.1", "older than 3.6"),
        ("three", "neither a version"),
        ("", "neither a version"),
        ("image:python:3.15-slim", "neither a version"),
    ],
)
@pytest.mark.usefixtures("machine")
def test_a_value_that_cannot_be_had_says_why(python: str, says: str) -> None:
    with pytest.raises(UnavailableError, match=says):
        find(python)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("exit 0", "it said nothing of itself"),
        ("echo 'Unknown option: -I' >&2; exit 2", "Unknown option: -I"),
        ("echo '[]'", "it said nothing of itself"),
    ],
)
def test_a_path_that_does_not_answer_says_how(machine: Machine, code: str, says: str) -> None:
    path = machine.script("odd/python", code)

    with pytest.raises(UnavailableError, match=says):
        find(str(path))


def test_a_path_that_cannot_be_run_says_so(machine: Machine) -> None:
    path = machine.put("mine/python", "3.12.1")
    path.chmod(0o644)

    with pytest.raises(UnavailableError, match="Permission denied"):
        find(str(path))
