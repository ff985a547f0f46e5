"""What every run is made of, whatever it runs: its options, its environments, its report's frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_matrix import __version__
from memory_matrix.environments.build import BuildEvent, build_all
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.matrix.digest import digest
from memory_matrix.matrix.model import EnvironmentSpec, Matrix
from memory_matrix.matrix.select import Selection
from memory_matrix.progress import Progress
from memory_matrix.report.model import EnvironmentRecord, Report, ServerRecord
from memory_matrix.servers.model import Server
from memory_matrix.servers.model import Unavailable as UnavailableServer


@dataclass(frozen=True)
class RunOptions:
    """How a run is done, as opposed to what the matrix says."""

    cache: Path
    jobs: int = 2
    strict: bool = False
    """Whether an environment or a server that cannot be had ends the run before anything is run."""
    download: bool = False
    refresh: bool = False
    selection: Selection = field(default_factory=Selection)


def build(
    matrix: Matrix, specs: Sequence[EnvironmentSpec], options: RunOptions, progress: Progress
) -> tuple[Environment | Unavailable, ...]:
    """Return the environments of `specs`, in their order, and show how far that is."""
    with progress.environments([spec.name for spec in specs]) as on_event:
        clock = _Clock(on_event)
        had = build_all(
            specs,
            cache=options.cache,
            root=matrix.root,
            jobs=options.jobs,
            download=options.download,
            refresh=options.refresh,
            on_event=clock,
        )
    return tuple(map(clock.timed, had))


def stops(had: Sequence[object], *, strict: bool) -> bool:
    """Say whether what could not be had ends the run: all of it, or with `strict` any."""
    missing = sum(map(_is_missing, had))
    return missing > 0 and (strict or missing == len(had))


def _is_missing(had: object) -> bool:
    if isinstance(had, EnvironmentRecord):
        return had.status != "ready"
    return isinstance(had, Unavailable | UnavailableServer)


class _Clock:
    """Hears how environments are built, and knows how long each of them took."""

    def __init__(self, on_event: Callable[[BuildEvent], None]) -> None:
        self._on_event = on_event
        self._heard: dict[str, list[float]] = {}

    def __call__(self, event: BuildEvent) -> None:
        if event.state != "waiting":
            self._heard.setdefault(event.environment, []).append(time.monotonic())
        self._on_event(event)

    def timed(self, had: Environment | Unavailable) -> Environment | Unavailable:
        """Return `had` with how long it took."""
        if isinstance(had, Unavailable):
            return had
        heard = self._heard[had.spec.name]
        return replace(had, seconds=round(heard[-1] - heard[0], 2))


def empty_report(
    matrix: Matrix,
    had: Sequence[Environment | Unavailable],
    servers: Sequence[Server | UnavailableServer],
) -> Report:
    """Return a report of what was had, with no cells and no cases yet."""
    return Report(
        environments=tuple(map(environment_record, had)),
        servers=tuple(map(server_record, servers)),
        fail_on=matrix.compat.fail_on,
        directions=matrix.compat.directions,
        version=__version__,
        matrix=shown_source(matrix),
        digest=digest(matrix),
    )


def shown_source(matrix: Matrix) -> str | None:
    """Return the matrix file as a user in this folder would name it; None for the built-in matrix."""
    return None if matrix.source is None else _shown(matrix.source)


def _shown(path: Path) -> str:
    """Return `path` as a user in this folder would name it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def environment_record(had: Environment | Unavailable) -> EnvironmentRecord:
    """Return what reports say of an environment."""
    spec = had.spec
    if isinstance(had, Unavailable):
        return EnvironmentRecord(
            spec.name,
            spec.python,
            status="unavailable",
            reason=had.reason,
            requires=spec.packages,
            env=dict(spec.env),
            interpreter_missing=had.interpreter_missing,
        )
    return EnvironmentRecord(
        spec.name,
        had.python,
        had.packages,
        requires=spec.packages,
        env=dict(spec.env),
        seconds={"build": had.seconds},
    )


def server_record(had: Server | UnavailableServer) -> ServerRecord:
    """Return what reports say of a server."""
    source = had.source
    if isinstance(had, UnavailableServer):
        return ServerRecord(source.name, source.kind, None, source.text, "unavailable", had.reason)
    return ServerRecord(source.name, source.kind, had.version, source.text)
