"""Start servers side by side, and leave nothing of them behind."""

from __future__ import annotations

import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import cast

from memory_matrix.errors import MemoryMatrixError, UnavailableError
from memory_matrix.matrix.model import ServerSource, SourceForm
from memory_matrix.servers.addresses import open_address
from memory_matrix.servers.images import open_image
from memory_matrix.servers.launch import Launch, ReleasedError
from memory_matrix.servers.local import open_local
from memory_matrix.servers.model import Server, Unavailable
from memory_matrix.servers.versions import broken_promise

_PATIENCE = 30.0
"""Seconds that all servers together have to stop."""

_FORMS: dict[SourceForm, Callable[[Launch], AbstractContextManager[Server]]] = {
    "bin": open_local,
    "image": open_image,
    "url": open_address,
    "wheel": open_local,
}


@contextmanager
def start(
    source: ServerSource, *, folder: Path, cache: Path, timeout: float = 60
) -> Iterator[Server]:
    """Start the server that `source` names, or connect to it, and stop it afterwards.

    Raises:
        UnavailableError: see `start_all`.
    """
    with start_all([source], folder=folder, cache=cache, timeout=timeout, strict=True) as servers:
        yield cast("Server", servers[0])


@contextmanager
def start_all(
    sources: Sequence[ServerSource],
    *,
    folder: Path,
    cache: Path,
    timeout: float = 60,
    strict: bool = False,
) -> Iterator[tuple[Server | Unavailable, ...]]:
    """Start the servers that `sources` name, side by side, and stop them when the block is left.

    Yields one Server or Unavailable for each source, in the order of `sources`. What the servers
    write goes to folders of their own in `folder`; downloads go to `cache`. `timeout` counts from
    each server's start, without downloads, until it answers, in seconds. No process, container or
    folder is left behind, also when this process is killed.

    Raises:
        UnavailableError: with `strict`, one of the servers could not be had.
        MemoryMatrixError: one could not be stopped.
    """
    prepare(folder)
    starts = [Starting(Launch(source, folder, cache, timeout)) for source in sources]
    try:
        for each in starts:
            each.begin()
        yield tuple(each.result(strict=strict) for each in starts)
    finally:
        left = stop_all(starts)
    if left:
        raise MemoryMatrixError(f"These servers could not be stopped: {'; '.join(left)}.")


def prepare(folder: Path) -> None:
    """Make ready for servers that are started in `folder`, each from a thread of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    # Fills a cache that threads would otherwise see half filled: uv is found through it.
    sysconfig.get_config_vars()


class Starting:
    """A server in a thread of its own, that starts it, waits for its release, and stops it."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._result: Server | BaseException | None = None
        self._known = threading.Event()
        self._ran = False
        # A daemon, so that a download that hangs cannot hold up a run that is interrupted.
        self._thread = threading.Thread(target=self._live, daemon=True)

    def begin(self) -> None:
        """Start to start the server."""
        self._thread.start()

    def result(self, *, strict: bool) -> Server | Unavailable:
        """Wait for the server to answer, and return it."""
        self._known.wait()
        result = self._result
        assert result is not None
        if isinstance(result, Server):
            return result
        source = self._launch.source
        if not isinstance(result, UnavailableError):
            raise result
        if strict:
            raise unavailable(source, result)
        return Unavailable(source, str(result))

    def release(self) -> None:
        """Say that the server is not wanted any more."""
        self._launch.released.set()

    def stopped(self, timeout: float) -> str | None:
        """Wait for the server's end; return None, or what went wrong with it."""
        if self._thread.ident is None:
            return None
        self._thread.join(timeout)
        if self._thread.is_alive():
            return f"{self._launch.source.name} (it takes too long)"
        if self._result is None or isinstance(self._result, Server | ReleasedError):
            return None
        if isinstance(self._result, UnavailableError) and not self._ran:
            return None  # There was nothing to stop.
        return f"{self._launch.source.name} ({self._result})"

    def _live(self) -> None:
        try:
            with _FORMS[self._launch.source.form](self._launch) as server:
                check(server)
                self._tell(server)
                self._launch.released.wait()
        except ReleasedError as error:
            self._tell(error)  # To those who wait for it all the same.
        except OSError as error:
            started = self._known.is_set()
            self._tell(error if started else no_place(error))
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            self._tell(error)

    def _tell(self, result: Server | BaseException) -> None:
        self._result = result
        self._ran = self._ran or isinstance(result, Server)
        self._known.set()


def unavailable(source: ServerSource, reason: object) -> UnavailableError:
    """Return the error that says which server could not be had, and why."""
    return UnavailableError(f"{source.name} ({source.text}) is unavailable: {reason}")


def no_place(error: OSError) -> UnavailableError:
    """Return the error that says why the machine has no room for a server."""
    where = f" ({error.filename})" if error.filename else ""
    return UnavailableError(f"It has no place to run in{where}: {error.strerror or error}.")


def check(server: Server) -> None:
    """See that `server` is what its source names.

    Raises:
        UnavailableError: it is another version, or another server.
    """
    if reason := broken_promise(server):
        raise UnavailableError(reason)


def stop_all(starts: Sequence[Starting]) -> list[str]:
    """Stop the servers side by side; return what went wrong, each with the server's name."""
    for each in starts:
        each.release()
    deadline = time.monotonic() + _PATIENCE
    reasons = [each.stopped(max(0.0, deadline - time.monotonic())) for each in starts]
    return [reason for reason in reasons if reason]
