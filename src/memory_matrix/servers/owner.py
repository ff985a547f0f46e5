"""Which process a container belongs to, so that those of a killed one can be told from live ones."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

LABEL = "memory-matrix.id"
_HOST = "memory-matrix.host"
_PID = "memory-matrix.pid"
_STARTED = "memory-matrix.started"
_PROC = Path("/proc")


def labels(identity: str) -> dict[str, str]:
    """Return the labels of a container called `identity` that this process owns."""
    pid = os.getpid()
    return {LABEL: identity, _HOST: _host(), _PID: str(pid), _STARTED: _started(pid) or ""}


def is_abandoned(labels: Mapping[str, str]) -> bool:
    """Return whether the process that wrote `labels` ran on this host and is gone."""
    pid = labels.get(_PID, "")
    if labels.get(_HOST) != _host() or not pid.isdecimal():
        return False
    return _started(int(pid)) != labels.get(_STARTED)


def _host() -> str:
    """Return what tells this machine's process numbers from those of another, or of a container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".strip()


def _started(pid: int) -> str | None:
    """Return when the process `pid` started, in whatever unit; None when there is none."""
    if not (_PROC / "self" / "stat").exists():
        return _started_by_ps(pid)
    try:
        status = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name, in brackets, may hold spaces and brackets itself.
    return status.rpartition(")")[2].split()[19]


def _started_by_ps(pid: int) -> str | None:
    reply = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return reply.stdout.strip() or None
