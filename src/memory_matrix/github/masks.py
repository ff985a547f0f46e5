"""Passwords in URLs of servers, told to GitHub's runner so that no log shows them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from typing import TextIO
from urllib.parse import urlsplit

from memory_matrix.github.commands import add_mask
from memory_matrix.github.log import is_github, issue

SHORTEST = 4
"""Characters of a password that is masked: `***` for each "a" would leave nothing of a log."""

_KNOWN = frozenset({"postgres", "postgresql", "redis", "valkey"})
"""Passwords that everybody knows, and words of each log."""


def mask(urls: Iterable[str]) -> None:
    """Tell the runner to hide the passwords in `urls`, under GitHub Actions.

    Not where standard error is kept in a file: only the runner takes such a line out of what it shows.
    """
    if not is_github() or _is_file(sys.stderr):
        return
    for secret in dict.fromkeys(each for url in urls for each in secrets_in(url)):
        issue(add_mask(secret))


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the passwords in `url` that are worth hiding, as they stand there and decoded.

    One that is the user's or the database's name too is none: GitHub would drop each output of a job
    in which that word stands.
    """
    from memory_matrix.servers.asking import passwords

    if "://" not in url:
        return ()
    public = _KNOWN | _names(url)
    found = (each for each in passwords(url) if len(each) >= SHORTEST and each not in public)
    return tuple(sorted(found))


def _names(url: str) -> frozenset[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return frozenset()
    return frozenset({parts.username or "", parts.path.strip("/")})


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # a stream of a test, or closed
        return False
