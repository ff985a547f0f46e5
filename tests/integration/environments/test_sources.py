"""Which files are the user's project, whether they changed, and copies of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_matrix.environments.processes import Runner
from memory_matrix.environments.sources import Source, content_stamp, open_source
from memory_matrix.errors import UnavailableError

pytestmark = pytest.mark.integration


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.test", "-c", "tag.gpgSign=false")
    command = ["git", *who, "-c", "commit.gpgSign=false", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(autouse=True)
def git_of_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A project that is in no repository."""
    root = tmp_path / "plain"
    (root / "demo").mkdir(parents=True)
    (root / "demo" / "__init__.py").write_text("VERSION = 1\n")
    (root / "link").symlink_to("demo/__init__.py")
    return root


@pytest.fixture
def repository(plain: Path) -> Path:
    """The same project with a first release, tagged v1.0, and a change after it."""
    git(plain, "init", "--quiet", "--initial-branch=main")
    (plain / ".gitignore").write_text("*.log\n")
    git(plain, "add", ".")
    git(plain, "commit", "--quiet", "-m", "first")
    git(plain, "tag", "v1.0")
    (plain / "demo" / "__init__.py").write_text("VERSION = 2\n")
    git(plain, "commit", "--quiet", "-am", "second")
    return plain


def opened(app: str, root: Path) -> Source:
    return open_source(app, root, Runner())


def version_in(folder: Path) -> str:
    return (folder / "demo" / "__init__.py").read_text()


def _write(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return change


CHANGES = {
    "content": _write("demo/__init__.py", "VERSION = 3\n"),
    "a new file": _write("demo/new.py", ""),
    "a removed file": lambda root: (root / "demo" / "__init__.py").unlink(),
    "a mode": lambda root: (root / "demo" / "__init__.py").chmod(0o755),
    "a link": lambda root: _relink(root / "link"),
}
NO_CHANGES = {
    "bytecode": _write("demo/__pycache__/x.pyc", "x"),
    "a virtual environment": _write("my-env/pyvenv.cfg", "home = /x"),
    "a cache": _write("stuff/CACHEDIR.TAG", "Signature: x"),
    "the report": _write("memory-matrix-report/report.json", "{}"),
}


def _relink(link: Path) -> None:
    link.unlink()
    link.symlink_to("elsewhere")


@pytest.mark.parametrize("kind", ["plain", "repository"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_project_changes_its_stamp(
    request: pytest.FixtureRequest, kind: str, change: str
) -> None:
    root = request.getfixturevalue(kind)
    before = opened(".", root).stamp

    assert opened(".", root).stamp == before
    CHANGES[change](root)
    assert opened(".", root).stamp != before


@pytest.mark.parametrize("change", NO_CHANGES)
def test_what_is_no_source_does_not_change_the_stamp(plain: Path, change: str) -> None:
    before = opened(".", plain).stamp

    NO_CHANGES[change](plain)

    assert opened(".", plain).stamp == before


def test_what_git_ignores_and_the_report_do_not_change_the_stamp(repository: Path) -> None:
    before = opened(".", repository).stamp

    (repository / "today.log").write_text("x")
    NO_CHANGES["the report"](repository)

    assert opened(".", repository).stamp == before


def test_a_new_tag_changes_the_stamp_since_versions_are_made_of_tags(repository: Path) -> None:
    before = opened(".", repository).stamp

    git(repository, "tag", "v2.0")

    assert opened(".", repository).stamp != before


def test_a_single_file_is_stamped_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "demo.whl"
    file.write_text("one")
    before = content_stamp(file)

    file.write_text("two")

    assert content_stamp(file) != before
    assert content_stamp(tmp_path / "missing") != before


def test_a_ref_is_copied_as_it_was_then(repository: Path, tmp_path: Path) -> None:
    (repository / "demo" / "__init__.py").write_text("VERSION = 'not committed'\n")

    copy = opened("git:v1.0", repository).copy(tmp_path / "copy")

    assert version_in(copy) == "VERSION = 1\n"
    assert git(copy, "describe", "--tags") == "v1.0\n"
    assert "not committed" in version_in(repository)


def test_the_project_is_copied_as_it_stands(repository: Path, tmp_path: Path) -> None:
    (repository / "demo" / "__init__.py").write_text("VERSION = 'not committed'\n")
    (repository / "new.py").write_text("")
    (repository / "today.log").write_text("ignored")
    (repository / ".gitignore").unlink()
    (repository / ".git" / "info" / "exclude").write_text("*.log\n")

    copy = opened(".", repository).copy(tmp_path / "copy")

    assert "not committed" in version_in(copy)
    assert sorted(path.name for path in copy.iterdir()) == [".git", "demo", "link", "new.py"]
    status = git(copy, "status", "--porcelain")
    assert status.split() == ["D", ".gitignore", "M", "demo/__init__.py", "??", "new.py"]


def test_a_project_without_git_is_copied_without_what_is_no_source(
    plain: Path, tmp_path: Path
) -> None:
    for change in NO_CHANGES.values():
        change(plain)

    copy = opened(".", plain).copy(tmp_path / "copy")

    names = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if not path.is_dir())
    assert names == ["demo/__init__.py", "link"]
    assert (copy / "link").is_symlink()


def test_a_folder_in_the_place_of_a_committed_link_is_copied_beside_nothing_else(
    repository: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository / "data").symlink_to(outside)
    git(repository, "add", "data")
    git(repository, "commit", "--quiet", "-m", "a link")
    (repository / "data").unlink()
    _write("data/file.py", "x")(repository)

    copy = opened(".", repository).copy(tmp_path / "copy")

    assert (copy / "data" / "file.py").read_text() == "x"
    assert list(outside.iterdir()) == []


def test_a_project_below_its_repository_keeps_its_place(repository: Path, tmp_path: Path) -> None:
    root = repository / "packages" / "one"
    _write("pyproject.toml", "")(root)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "below")

    for number, app in enumerate((".", "git:main")):
        copy = opened(app, root).copy(tmp_path / f"copy{number}")

        assert copy == tmp_path / f"copy{number}" / "packages" / "one"
        assert (copy / "pyproject.toml").is_file()


def test_a_repository_without_commits_is_copied_as_it_stands(plain: Path, tmp_path: Path) -> None:
    git(plain, "init", "--quiet")

    assert version_in(opened(".", plain).copy(tmp_path / "copy")) == "VERSION = 1\n"


def test_hooks_of_the_user_are_not_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    hook = hooks / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-was-run\n")
    hook.chmod(0o755)
    config = tmp_path / "config"
    config.write_text(f"[core]\nhooksPath = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))

    opened("git:v1.0", repository).copy(tmp_path / "copy")

    assert not (tmp_path / "hook-was-run").exists()


def test_a_git_hook_that_starts_us_does_not_change_the_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert opened("git:v1.0", repository).commit is not None


def test_an_unknown_ref_names_close_ones(repository: Path) -> None:
    with pytest.raises(
        UnavailableError, match=r"no commit, tag or branch 'v1.1': did you mean v1.0"
    ):
        opened("git:v1.1", repository)


@pytest.mark.parametrize("ref", ["", "--help", "-v1.0", "no such", "main:demo"])
def test_an_odd_ref_is_an_unknown_one(repository: Path, ref: str) -> None:
    with pytest.raises(UnavailableError, match="has no commit, tag or branch"):
        opened(f"git:{ref}", repository)


def test_a_ref_in_a_shallow_clone_says_to_fetch_more(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(clone))

    with pytest.raises(UnavailableError, match="fetch-depth: 0"):
        opened("git:v1.0", clone)
    for app in (".", "git:HEAD"):
        copy = opened(app, clone).copy(tmp_path / app.replace(":", "-").replace(".", "dot"))
        assert version_in(copy) == "VERSION = 2\n"


def test_a_ref_without_a_repository_says_so(plain: Path) -> None:
    with pytest.raises(UnavailableError, match="not in a git repository"):
        opened("git:v1.0", plain)


def test_a_machine_without_git_still_has_the_project_as_it_stands(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    assert version_in(opened(".", plain).copy(tmp_path / "copy")) == "VERSION = 1\n"
    with pytest.raises(UnavailableError, match="git is not on PATH"):
        opened("git:v1.0", plain)
