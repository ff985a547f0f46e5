"""Environments are really built, kept, shared and repaired."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.environments.build import BuildEvent, build_all
from memory_matrix.environments.interpreters import find
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.matrix.model import EnvironmentSpec

pytestmark = pytest.mark.integration


@dataclass
class Builder:
    """Builds in a cache of the test's own and keeps what was announced."""

    cache: Path
    root: Path
    events: list[BuildEvent] = field(default_factory=list)

    def all(self, *specs: EnvironmentSpec, **options: Any) -> list[Environment | Unavailable]:
        self.events.clear()
        options = {"on_event": self.events.append, **options}
        return list(build_all(specs, cache=self.cache, root=self.root, **options))

    def one(self, spec: EnvironmentSpec, **options: Any) -> Environment:
        (result,) = self.all(spec, **options)
        assert isinstance(result, Environment), result.reason
        return result

    def refused(self, spec: EnvironmentSpec, **options: Any) -> str:
        (result,) = self.all(spec, **options)
        assert isinstance(result, Unavailable)
        assert result.spec is spec
        return result.reason

    def states(self, name: str) -> list[str]:
        return [event.state for event in self.events if event.environment == name]


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    root = tmp_path / "root"
    root.mkdir()
    return Builder(tmp_path / "cache", root)


def spec(name: str = "env", *packages: str, **rest: Any) -> EnvironmentSpec:
    return EnvironmentSpec(name, rest.pop("python", "current"), packages, **rest)


def says(environment: Environment, code: str) -> str:
    command = (*environment.command, "-c", code)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def folders(builder: Builder, section: str = "environments") -> list[str]:
    return [path.name for path in (builder.cache / section).iterdir() if path.is_dir()]


def test_an_environment_without_packages_holds_nothing(builder: Builder) -> None:
    environment = builder.one(spec())

    assert environment.packages == {}
    assert environment.cached is False
    assert says(environment, "import sys; print(sys.prefix)") == str(environment.folder)
    assert says(environment, "import sys; print(sys.version.split()[0])") == environment.python
    assert builder.states("env") == ["waiting", "resolving", "installing", "ready"]


def test_a_package_of_the_real_index_is_installed(builder: Builder) -> None:
    environment = builder.one(spec("env", "attrs==22.2.0"))

    assert environment.packages == {"attrs": "22.2.0"}
    assert says(environment, "import attr; print(attr.__version__)") == "22.2.0"


@pytest.mark.parametrize("requirement", ["attrs==99", "memory-matrix-there-is-no-such-project"])
def test_what_the_real_index_does_not_have_is_said_in_words(
    builder: Builder, requirement: str
) -> None:
    reason = builder.refused(spec("env", requirement))

    assert requirement in reason
    assert "://" not in reason
    assert "\n" not in reason
    assert "matrix file" in reason
    assert builder.states("env") == ["waiting", "resolving", "unavailable"]


@pytest.mark.parametrize("python", ["3.6", "3.7", "3.8", "3.9", "3.12", "3.13", "3.14"])
@pytest.mark.usefixtures("index")
def test_every_interpreter_of_the_machine_gets_its_environment(
    builder: Builder, python: str
) -> None:
    try:
        interpreter = find(python)
    except UnavailableError as error:
        pytest.skip(str(error))

    environment = builder.one(spec("env", "demo==1.0", python=python))

    assert environment.python == interpreter.version
    assert environment.packages == {"base": "1.0", "demo": "1.0"}
    assert says(environment, "import demo; print(demo.VERSION)") == "1.0"


@pytest.mark.usefixtures("index")
def test_results_are_in_the_order_of_the_specs(builder: Builder) -> None:
    results = builder.all(
        spec("one", "demo==1.0"), spec("bad", "demo==9"), spec("two", "demo>1"), jobs=3
    )

    assert [result.spec.name for result in results] == ["one", "bad", "two"]
    kept = [result.packages["demo"] for result in results if isinstance(result, Environment)]
    assert kept == ["1.0", "2.0"]
    assert isinstance(results[1], Unavailable)


@pytest.mark.usefixtures("index")
def test_specs_that_differ_only_in_what_is_set_share_one_folder(builder: Builder) -> None:
    first = spec("first", "demo", "base")
    second = spec("second", "base", "demo", env=(("A", "1"),), path=(builder.root,))

    results = builder.all(first, second)

    assert [result.spec for result in results] == [first, second]
    assert len({result.command for result in results if isinstance(result, Environment)}) == 1
    assert builder.states("second") == ["waiting", "resolving", "installing", "ready"]
    assert len(folders(builder)) == 1


@pytest.mark.usefixtures("index")
def test_other_words_for_the_same_versions_share_one_folder(builder: Builder) -> None:
    builder.all(spec("loose", "demo>=2"), spec("pinned", "demo==2.0", "base==1.0"))

    assert len(folders(builder)) == 1


def test_a_second_run_is_served_from_the_cache_without_an_index(
    builder: Builder, index: Any
) -> None:
    first = builder.one(spec("env", "demo"))
    for wheel in index.folder.iterdir():
        wheel.unlink()

    second = builder.one(spec("env", "demo"))

    assert second == replace(first, cached=True)
    assert builder.states("env") == ["waiting", "resolving", "cached"]


def test_a_new_release_is_seen_when_refreshing(builder: Builder, index: Any) -> None:
    assert builder.one(spec("env", "demo")).packages["demo"] == "2.0"
    index.add("demo", "3.0")

    assert builder.one(spec("env", "demo")).packages["demo"] == "2.0"
    assert builder.one(spec("env", "demo"), refresh=True).packages["demo"] == "3.0"


def test_an_index_out_of_reach_is_not_blamed_on_the_packages(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    reason = builder.refused(spec("env", "demo"))

    assert "Check the network" in reason
    assert "secret" not in reason
    assert "127.0.0.1:9" in reason  # which index it was


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "bin" / "python").unlink(),
        lambda folder: (folder / "memory-matrix.json").write_text("{"),
        lambda folder: (folder / "memory-matrix.json").unlink(),
        lambda folder: next(folder.rglob("demo-2.0.dist-info")).rename(folder / "gone"),
        lambda folder: _replace_python(folder, "exit 1"),
        lambda folder: _replace_python(folder, "echo '[[3, 99, 0], []]'"),
    ],
    ids=["no python", "half a record", "no record", "no package", "silent", "other version"],
)
@pytest.mark.usefixtures("index")
def test_a_spoilt_environment_is_built_anew(
    builder: Builder, spoil: Callable[[Path], object]
) -> None:
    before = builder.one(spec("env", "demo"))
    assert before.folder is not None
    spoil(before.folder)

    after = builder.one(spec("env", "demo"))

    assert after == before
    assert says(after, "import demo; print(demo.VERSION)") == "2.0"


def _replace_python(folder: Path, code: str) -> None:
    python = folder / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\n{code}\n")
    python.chmod(0o755)


@pytest.mark.usefixtures("index")
def test_the_environment_that_we_run_in_does_not_leak_in(
    builder: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leak").mkdir()
    (tmp_path / "leak" / "sitecustomize.py").write_text("print('leaked')\n")
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.setenv(name, str(tmp_path / "leak"))
    monkeypatch.setenv("UV_VENV_SEED", "1")
    monkeypatch.setenv("UV_PYTHON", "3.99")

    assert builder.one(spec("env", "demo")).packages == {"base": "1.0", "demo": "2.0"}


def test_a_missing_interpreter_costs_only_its_environment(builder: Builder) -> None:
    missing, there = builder.all(spec("missing", python="3.99"), spec("there"))

    assert isinstance(missing, Unavailable)
    assert "Python 3.99 was not found" in missing.reason
    assert isinstance(there, Environment)


def test_no_specs_give_no_environments(builder: Builder) -> None:
    assert builder.all() == []


def test_a_listener_that_raises_ends_the_run_and_leaves_nothing(builder: Builder) -> None:
    def listen(event: BuildEvent) -> None:
        if event.state == "installing":
            raise LookupError(event.environment)

    with pytest.raises(LookupError, match="env"):
        builder.all(spec(), on_event=listen)

    assert folders(builder) == []


def test_a_cache_that_is_a_file_is_said_plainly(builder: Builder) -> None:
    builder.cache.write_text("")

    with pytest.raises(MemoryMatrixError, match="cannot be written"):
        builder.all(spec())


def test_a_requirement_that_does_not_build_ends_with_what_its_backend_said(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    project = make_project(before_build="raise OSError('needs libfoo')")

    reason = builder.refused(spec("env", f"demo-app @ {project.as_uri()}"))

    assert "OSError: needs libfoo" in reason


def test_a_local_requirement_is_built_anew_when_its_files_change(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    project = make_project()
    wanted = spec("env", f"demo-app @ {project.as_uri()}")
    builder.one(wanted)
    (project / "demo_app.py").write_text("def main():\n    print('changed')\n")

    environment = builder.one(wanted)

    assert says(environment, "import demo_app; demo_app.main()") == "changed"


def test_scripts_of_an_environment_run_from_where_it_is(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    environment = builder.one(spec("env", f"demo-app @ {make_project().as_uri()}"))
    assert environment.folder is not None

    done = subprocess.run(
        (environment.folder / "bin" / "demo-app",), check=True, capture_output=True, text=True
    )

    assert done.stdout == "demo-app runs\n"


@pytest.mark.usefixtures("index")
def test_the_project_itself_is_installed_with_the_packages_and_left_as_it_is(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    builder.root = make_project()
    before = sorted(builder.root.iterdir())

    environment = builder.one(spec("env", "demo==1.0", app="."))

    assert environment.packages == {"base": "1.0", "demo": "1.0", "demo-app": "1.0"}
    assert says(environment, "import demo_app; print(demo_app.__file__)").startswith(
        str(environment.folder)
    )
    assert sorted(builder.root.iterdir()) == before
    assert builder.one(spec("env", "demo==1.0", app=".")).cached


def test_temporary_files_of_a_build_are_gone_after_it(
    builder: Builder,
    make_project: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builder.root = make_project(before_build="import tempfile; tempfile.mkdtemp()")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))

    environment = builder.one(spec("env", app="."))

    assert environment.folder is not None
    assert list((tmp_path / "temporary").iterdir()) == []
    assert folders(builder) == [environment.folder.name]


def test_the_project_is_built_anew_when_its_files_change(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    builder.root = make_project()
    builder.one(spec("env", app="."))
    (builder.root / "demo_app.py").write_text("def main():\n    print('changed')\n")

    environment = builder.one(spec("env", app="."))

    assert not environment.cached
    assert says(environment, "import demo_app; demo_app.main()") == "changed"


def test_the_project_at_a_ref_and_as_it_stands_are_two_environments(
    builder: Builder, make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder.root = make_project()
    _commit(builder.root, monkeypatch)
    pyproject = builder.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("1.0", "2.0"))

    results = builder.all(spec("old", app="git:v1"), spec("new", app="."))

    versions = [result.packages for result in results if isinstance(result, Environment)]
    assert versions == [{"demo-app": "1.0"}, {"demo-app": "2.0"}]


def test_an_unknown_ref_costs_only_its_environment(
    builder: Builder, make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder.root = make_project()
    _commit(builder.root, monkeypatch)

    gone, there = builder.all(spec("gone", app="git:v2"), spec("there", app="git:v1"))

    assert isinstance(gone, Unavailable)
    assert "did you mean v1?" in gone.reason
    assert isinstance(there, Environment)


def _commit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.test")
    for arguments in (
        ("init", "--quiet"),
        ("add", "."),
        (*who, "commit", "-qm", "x"),
        ("tag", "v1"),
    ):
        subprocess.run(("git", *arguments), cwd=root, check=True)


def test_a_folder_that_is_no_project_is_said_plainly(builder: Builder) -> None:
    assert "neither a pyproject.toml nor a setup.py" in builder.refused(spec("env", app="."))


def test_a_project_that_does_not_build_ends_with_what_its_backend_said(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    builder.root = make_project(before_build="raise OSError('needs libfoo')")

    reason = builder.refused(spec("env", app="."))

    assert "OSError: needs libfoo" in reason
    assert str(builder.cache) not in reason
    assert folders(builder, "apps") == []


@pytest.mark.usefixtures("index")
def test_a_project_and_packages_that_exclude_each_other_are_one_resolution(
    builder: Builder, make_project: Callable[..., Path]
) -> None:
    builder.root = make_project()

    assert "demo-app" in builder.refused(spec("env", "demo-app==9", app="."))
