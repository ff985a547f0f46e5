"""The settings that a private server is given, checked before they reach a file or a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import ServerKind

_NAMES: Mapping[ServerKind, re.Pattern[str]] = {
    "postgres": re.compile(r"[A-Za-z_][A-Za-z0-9_.]*"),
    "redis": re.compile(r"[A-Za-z][A-Za-z0-9-]*"),
}
_OWN: Mapping[ServerKind, frozenset[str]] = {
    "postgres": frozenset({
        "config_file", "data_directory", "external_pid_file", "hba_file", "ident_file",
        "listen_addresses", "log_destination", "logging_collector", "port",
        "unix_socket_directories",
    }),
    "redis": frozenset({
        "aclfile", "bind", "cluster-config-file", "cluster-enabled", "cluster-port", "daemonize",
        "dir", "include", "logfile", "masterauth", "pidfile", "port", "replicaof", "requirepass",
        "slaveof", "supervised", "unixsocket",
    }),
}  # fmt: skip
"""What says where a server is and how it is reached: that is not for its user to choose."""


def check_settings(kind: ServerKind, settings: Mapping[str, object]) -> None:
    """See that a server of `kind` can be given `settings`.

    Raises:
        UsageError: one of them is no setting, or not the user's to choose.
    """
    for sentence in _problems(kind, settings):
        raise UsageError(sentence)


def postgres_options(settings: Mapping[str, str]) -> list[str]:
    """Return `settings` as the server's arguments."""
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def redis_lines(settings: Mapping[str, str]) -> list[str]:
    """Return `settings` as lines of a configuration file."""
    nothing = '""'
    return [f"{name} {value or nothing}" for name, value in settings.items()]


def _problems(kind: ServerKind, settings: Mapping[str, object]) -> Iterator[str]:
    for name, value in settings.items():
        if not _NAMES[kind].fullmatch(name):
            yield f"{name!r} is no name of a setting of {kind}."
        elif name.lower() in _OWN[kind]:
            yield f"The setting {name} of a private {kind} server is not yours to choose: leave it out."
        elif not isinstance(value, str) or re.search(r"[\0\r\n]", value):
            yield f"The setting {name} must be one line of text, not {value!r}."
