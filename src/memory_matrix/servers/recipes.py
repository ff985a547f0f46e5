"""What to run for a server from binaries: files, commands, signals."""

from __future__ import annotations

import secrets
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.folders import give
from memory_matrix.servers.ports import LOOPBACK
from memory_matrix.servers.processes import User
from memory_matrix.servers.scram import verifier
from memory_matrix.servers.settings import postgres_options, redis_lines

_LOCALE = "C.UTF-8" if sys.platform == "linux" else "C"

_POSTGRES_SETTINGS = {
    # The data is thrown away with the server: it has to survive a kill, but no crash of the machine.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    # Password-protected TCP only, since clients of any kind speak it; no socket file to clean up.
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    # Files in the data folder go with it, also after a kill, and /dev/shm is small in containers.
    "dynamic_shared_memory_type": "mmap",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "",
}
INITDB_OPTIONS = (
    *("--no-sync", "--encoding", "UTF8", "--locale", _LOCALE, "--lc-messages", "C"),
    *("--wal-segsize", "1", "-U", "postgres", "-A", "scram-sha-256"),
)
_REDIS_SETTINGS = {
    "save": "",
    "appendonly": "no",
    "appendfsync": "no",  # As for Postgres, where a user turns `appendonly` on.
    "databases": "64",  # One for each worker of a test run on the largest machines.
}


@dataclass(frozen=True)
class Recipe:
    """What to run in a folder for one server."""

    url: str
    prepare: Sequence[Sequence[str]]
    """Commands that are run once, before the server's first start."""
    command: Sequence[str]
    discard: signal.Signals
    """The signal that ends the server quickest, when its data is not wanted any more."""
    stop: signal.Signals
    """The signal that ends it in an orderly way."""


@dataclass(frozen=True)
class Part:
    """What a node is to be among those of its server."""

    role: str = "primary"
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    settings: Mapping[str, str] = field(default_factory=dict)
    """Those of the server's user, checked."""
    lines: Sequence[str] = ()
    """Further lines of a Redis configuration file."""

    @property
    def is_sentinel(self) -> bool:
        """Whether it watches over others and keeps no data."""
        return self.role == "sentinel"


@dataclass(frozen=True)
class Place:
    """Where a server from binaries is to run, and as whom."""

    binary: Path
    folder: Path
    user: User | None
    port: int
    part: Part = field(default_factory=Part)
    data: Path | None = None
    """A data folder to start from, of a Postgres with the part's password."""
    modules: Mapping[Path, Sequence[str]] = field(default_factory=dict)
    libraries: Mapping[str, Path] = field(default_factory=dict)
    """Both as `Binary` has them."""


def redis_config(port: int, part: Part, *, bind: str) -> str:
    """Return the text of a configuration file."""
    own = {"bind": bind, "port": str(port), "requirepass": part.password, "daemonize": "no"}
    kept = {} if part.is_sentinel else {"masterauth": part.password, **_REDIS_SETTINGS}
    return "\n".join((*redis_lines({**own, **kept, **part.settings}), *part.lines, ""))


def redis_flags(part: Part) -> Sequence[str]:
    """Return the arguments that follow the configuration file."""
    return ["--sentinel"] if part.is_sentinel else []


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def postgres_url(part: Part, host: str, port: int) -> str:
    """Return where a Postgres answers its superuser."""
    return f"postgresql://postgres:{part.password}@{_bracketed(host)}:{port}/postgres"


def redis_url(part: Part | None, host: str, port: int) -> str:
    """Return where a node answers; a sentinel has no databases, and None no password."""
    place = f"{_bracketed(host)}:{port}"
    if part is None:
        return f"redis://{place}/0"
    return f"redis://:{part.password}@{place}{'' if part.is_sentinel else '/0'}"


def _postgres(place: Place) -> Recipe:
    data = str(place.folder / "data")
    settings = {**_POSTGRES_SETTINGS, "port": str(place.port), **place.part.settings}
    return Recipe(
        url=postgres_url(place.part, LOOPBACK, place.port),
        prepare=[["cp", "-R", str(place.data), data] if place.data else initdb(place, data)],
        command=[str(place.binary), "-D", data, *postgres_options(settings)],
        discard=signal.SIGQUIT,  # At once: nothing is worth a checkpoint.
        stop=signal.SIGINT,
    )


def initdb(place: Place, data: str) -> Sequence[str]:
    """Return the command that makes the data folder `data`, with the place's password."""
    password_file = _private_file(place, "password", verifier(place.part.password))
    command = (str(place.binary.with_name("initdb")), "-D", data)
    return [*command, *INITDB_OPTIONS, "--pwfile", str(password_file)]


def new_password(place: Place, data: str) -> Sequence[str]:
    """Return the command that gives the data folder `data`, made with another password, the place's."""
    statement = f"ALTER ROLE postgres PASSWORD '{verifier(place.part.password)}'\n"
    file = _private_file(place, "password.sql", statement)
    single = 'exec "$0" --single -c fsync=off -D "$1" postgres < "$2"'
    return ["sh", "-c", single, str(place.binary), data, str(file)]


def _redis(place: Place) -> Recipe:
    # The password in a file, since everybody can read command lines.
    text = redis_config(place.port, _with_modules(place), bind=LOOPBACK)
    config = str(_private_file(place, "redis.conf", text))
    return Recipe(
        url=redis_url(place.part, LOOPBACK, place.port),
        prepare=[],
        command=[*_finding(place), str(place.binary), config, *redis_flags(place.part)],
        discard=signal.SIGKILL,
        stop=signal.SIGTERM,
    )


def _with_modules(place: Place) -> Part:
    """Return the place's part with its modules; a sentinel takes none."""
    if place.part.is_sentinel:
        return place.part
    lines = [
        " ".join(["loadmodule", _quoted(str(path)), *arguments])
        for path, arguments in place.modules.items()
    ]
    return replace(place.part, lines=(*place.part.lines, *lines))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _finding(place: Place) -> Sequence[str]:
    """Return what goes in front of a command that has to find the place's libraries."""
    if not place.libraries:
        return []
    folder = place.folder / "libraries"
    folder.mkdir()
    for name, path in place.libraries.items():
        (folder / name).symlink_to(path)
    return ["env", f"LD_LIBRARY_PATH={folder}"]


RECIPES: dict[ServerKind, Callable[[Place], Recipe]] = {"postgres": _postgres, "redis": _redis}


def _private_file(place: Place, name: str, text: str) -> Path:
    path = place.folder / name
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    give(path, place.user)
    return path
