"""Removes a container when the process that owns it is killed before it could.

Runs as `python -m memory_matrix.servers.janitor ID` with its standard input held open by the owner,
who writes a word to it when the container is gone; the pipe's end without that word is the order.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory_matrix.servers.owner import LABEL, is_abandoned

_DONE = b"done\n"
_IN_FLIGHT = 3.0
"""Seconds in which a container may still appear that the owner asked for before it was killed."""


@contextmanager
def watched(identity: str) -> Iterator[None]:
    """Have the containers called `identity` removed should this process be killed in the block."""
    janitor = subprocess.Popen(
        [sys.executable, "-m", __name__, identity],
        # `-m` would look for modules in the current folder first.
        cwd="/",
        env={**os.environ, "PYTHONPATH": _modules()},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert janitor.stdin is not None
    try:
        yield
        with contextlib.suppress(BrokenPipeError):
            janitor.stdin.write(_DONE)
    finally:
        with contextlib.suppress(BrokenPipeError):
            janitor.stdin.close()
        janitor.wait()


def _modules() -> str:
    """Return where this process finds its modules, however it came to know it."""
    return os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder)


def remove_containers(client: Any, identity: str) -> None:
    """Remove the containers called `identity` with their volumes."""
    _remove(client.containers.list(all=True, filters={"label": f"{LABEL}={identity}"}))


def remove_abandoned(client: Any) -> None:
    """Remove the containers of processes of this host that are gone."""
    ours = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
    _remove([container for container in ours if is_abandoned(container.labels)])


def main() -> int:
    """Wait for the owner's end, and remove what it left."""
    if sys.stdin.buffer.read() == _DONE:
        return 0
    from testcontainers.core.docker_client import DockerClient

    client = DockerClient().client
    remove_containers(client, sys.argv[1])
    time.sleep(_IN_FLIGHT)
    remove_containers(client, sys.argv[1])
    return 0


def _remove(containers: list[Any]) -> None:
    from docker.errors import APIError, NotFound

    for container in containers:
        try:
            container.remove(force=True, v=True)
        except NotFound:
            continue
        except APIError as error:
            if error.status_code != 409:  # Somebody is removing it already.
                raise


if __name__ == "__main__":
    sys.exit(main())
