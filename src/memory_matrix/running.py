"""What every run is made of, whatever it runs: its options, its environments, its report's frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_matrix import __version__
from memory_matrix.environments.build import build_all
from memory_matrix.environments.model import Environment, Unavailable
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
        return build_all(
            specs,
            cache=options.cache,
            root=matrix.root,
            jobs=options.jobs,
            download=options.download,
            refresh=options.refresh,
            on_event=on_event,
        )


def stops(had: Sequence[object], options: RunOptions) -> bool:
    """Say whether what could not be had ends the run: all of it, or with `strict` any."""
    missing = sum(isinstance(each, Unavailable | UnavailableServer) for each in had)
    return missing > 0 and (options.strict or missing == len(had))


def empty_report(
    matrix: Matrix,
    had: Sequence[Environment | Unavailable],
    servers: Sequence[Server | UnavailableServer],
) -> Report:
    """Return a report of what was had, with no cells and no cases yet."""
    return Report(
        environments=tuple(_environment_record(each) for each in had),
        servers=tuple(_server_record(each) for each in servers),
        fail_on=matrix.compat.fail_on,
        directions=matrix.compat.directions,
        version=__version__,
        matrix=None if matrix.source is None else _shown(matrix.source),
    )


def _shown(path: Path) -> str:
    """Return `path` as a user in this folder would name it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _environment_record(had: Environment | Unavailable) -> EnvironmentRecord:
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
        spec.name, had.python, had.packages, "ready", None, spec.packages, dict(spec.env)
    )


def _server_record(had: Server | UnavailableServer) -> ServerRecord:
    source = had.source
    if isinstance(had, UnavailableServer):
        return ServerRecord(source.name, source.kind, None, source.text, "unavailable", had.reason)
    return ServerRecord(source.name, source.kind, had.version, source.text)
