"""Find the processes of a run by what only they carry: the run's own temporary folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def processes_of(folder: Path) -> dict[int, str]:
    """Return the live processes that name `folder`, or stand in it, with their command lines."""
    return dict(_found(str(folder)))


def parent(pid: int) -> int:
    """Return the process that started `pid`."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _found(mark: str) -> Iterator[tuple[int, str]]:
    for pid, command in _all():
        with suppress(OSError):
            about = Path(f"/proc/{pid}")
            environ = (about / "environ").read_bytes().decode(errors="replace")
            if any(mark in text for text in (command, environ, str((about / "cwd").readlink()))):
                yield pid, command


def _all() -> Iterator[tuple[int, str]]:
    for about in Path("/proc").iterdir():
        if not about.name.isdigit() or int(about.name) == os.getpid():
            continue
        with suppress(OSError):
            words = (about / "cmdline").read_bytes().split(b"\0")
            if words != [b""]:  # neither a kernel thread nor a zombie
                yield int(about.name), b" ".join(words).decode(errors="replace")
