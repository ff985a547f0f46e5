"""The user's own project as files: which ones belong to it, what their content is, and copies."""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_matrix.environments.processes import Finished, Runner
from memory_matrix.errors import UnavailableError

_NOT_SOURCE = frozenset(
    {
        ".git",
        ".hg",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "memory-matrix-report",
        "node_modules",
    }
)
_ELSEWHERE = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Variables that point git to another repository; set while a git hook runs."""
_MARKERS = ("pyvenv.cfg", "CACHEDIR.TAG", "conda-meta")
"""What is in a folder that is a virtual environment or a cache, whatever its name."""


@dataclass(frozen=True)
class Git:
    """The git repository that `root` is in."""

    root: Path
    runner: Runner

    def __call__(self, *arguments: str, cwd: Path | None = None) -> Finished:
        environ = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
        return self.runner.run(
            ("git", "-c", "core.hooksPath=/dev/null", *arguments),
            environ={**environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            cwd=cwd or self.root,
        )

    def must(self, *arguments: str, cwd: Path | None = None) -> str:
        """Return what git printed.

        Raises:
            UnavailableError: git failed.
        """
        done = self(*arguments, cwd=cwd)
        if done.code:
            said = done.stderr.strip().splitlines() or [f"status {done.code}"]
            raise UnavailableError(f"`git {arguments[0]}` failed in {self.root}: {said[-1]}.")
        return done.stdout

    @property
    def top(self) -> Path:
        """The repository's own folder."""
        return Path(self.must("rev-parse", "--show-toplevel").rstrip("\n"))

    @property
    def prefix(self) -> Path:
        """Where `root` is below `top`."""
        return Path(self.must("rev-parse", "--show-prefix").rstrip("\n"))

    def is_there(self) -> bool:
        try:
            return self("rev-parse", "--is-inside-work-tree").stdout.strip() == "true"
        except OSError:  # git is not installed
            return False

    def commit(self, ref: str) -> str | None:
        """Return the full name of the commit that `ref` means, or None."""
        if ref.startswith("-"):
            return None
        done = self("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return done.stdout.strip() if done.code == 0 else None

    def files(self) -> list[str]:
        """Return what git tracks or would add, as paths below `top`, present or not."""
        listed = self.must(
            *("ls-files", "-z", "--cached", "--others", "--exclude-standard"), cwd=self.top
        )
        return sorted({path for path in listed.split("\0") if path and not _is_report(path)})


@dataclass(frozen=True)
class Source:
    """The project at one state, which can be copied out."""

    stamp: str
    """Differs where the files, or the version that git gives them, differ."""
    title: str
    git: Git
    commit: str | None
    as_it_stands: bool

    def copy(self, folder: Path) -> Path:
        """Copy the project to `folder` and return where its root is there.

        It is a git repository again where it was one, since many projects take their version from git.
        """
        if self.commit is None:
            _copy_files(self.git.root, all_files(self.git.root), folder)
            return folder
        self.git.must(
            *(
                "clone",
                "--quiet",
                "--shared",
                "--no-checkout",
                "--template=",
                "--no-recurse-submodules",
            ),
            *(str(self.git.top), str(folder)),
        )
        if self.as_it_stands:
            _copy_files(self.git.top, self.git.files(), folder)
            self.git.must("reset", "--quiet", self.commit, cwd=folder)
        else:
            self.git.must("checkout", "--quiet", "--detach", self.commit, cwd=folder)
        return folder / self.git.prefix


def open_source(app: str, root: Path, runner: Runner) -> Source:
    """Return the project that `app` names: `.`, or `git:REF`, of the folder `root`.

    Raises:
        UnavailableError: there is no such ref, or no repository.
    """
    git = Git(root, runner)
    if app == ".":
        return _as_it_stands(git)
    ref = app.removeprefix("git:")
    if shutil.which("git") is None:
        raise UnavailableError(
            f"app {app!r} cannot be had: git is not on PATH, and the ref is its to find; install git."
        )
    if not git.is_there():
        raise UnavailableError(
            f"app {app!r} cannot be had: {root} is not in a git repository that git opens."
        )
    commit = git.commit(ref)
    if commit is None:
        raise UnavailableError(_unknown_ref(git, ref))
    return Source(_described(git, commit), app, git, commit, as_it_stands=False)


def content_stamp(path: Path) -> str:
    """Return a digest of the file `path`, or of all files in the folder `path` that are source."""
    if path.is_dir():
        return _stamp(path, all_files(path))
    return _stamp(path.parent, [path.name])


def _as_it_stands(git: Git) -> Source:
    commit = git.commit("HEAD") if git.is_there() else None
    if commit is None:
        return Source(content_stamp(git.root), ".", git, None, as_it_stands=True)
    stamp = f"{_described(git, commit)} {_stamp(git.top, git.files())}"
    return Source(stamp, ".", git, commit, as_it_stands=True)


def _described(git: Git, commit: str) -> str:
    """Return what a version may be made of, and which folder of the repository is the project."""
    tags = git("describe", "--tags", "--always", commit).stdout.strip()
    return f"{commit} {tags} {git.prefix}"


def _unknown_ref(git: Git, ref: str) -> str:
    names = git.must("for-each-ref", "--format=%(refname:short)").split()
    close = difflib.get_close_matches(ref, names, n=3, cutoff=0.5)
    shallow = git("rev-parse", "--is-shallow-repository").stdout.strip() == "true"
    advice = f"did you mean {', '.join(close)}?" if close else "correct the ref."
    if shallow or not names:
        advice = "the clone is shallow, so fetch the whole history and the tags (fetch-depth: 0)."
    return (
        f"app 'git:{ref}' cannot be had: {git.root} has no commit, tag or branch {ref!r}: {advice}"
    )


def _is_report(path: str) -> bool:
    return "memory-matrix-report" in path.split("/")


def all_files(folder: Path) -> list[str]:
    """Return the paths below `folder` of all files but those of environments, caches and reports."""
    return sorted(_walk(folder, ""))


def _walk(folder: Path, prefix: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            if not _is_skipped(Path(entry.path)):
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}"


def _is_skipped(folder: Path) -> bool:
    return (
        folder.name in _NOT_SOURCE
        or folder.name.endswith(".egg-info")
        or any((folder / marker).exists() for marker in _MARKERS)
    )


def _stamp(folder: Path, names: Iterable[str]) -> str:
    total = hashlib.sha256()
    for name in names:
        total.update(f"{name}\0{_digest(folder / name)}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if path.is_dir():  # a submodule
        return _stamp(path, all_files(path))
    if not path.is_file():
        return "missing"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return f"{digest.hexdigest()} {os.access(path, os.X_OK)}"


def _copy_files(source: Path, names: Iterable[str], target: Path) -> None:
    """Copy what is there of `names` from `source` to `target`, which has none of them yet."""
    for name in names:
        here, there = source / name, target / name
        if here.is_dir() and not here.is_symlink():
            _copy_files(here, all_files(here), there)
        elif here.is_symlink() or here.is_file():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(here, there, follow_symlinks=False)
