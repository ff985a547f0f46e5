"""Build the virtual environments that a matrix asks for, several at a time, into the cache."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Literal

from packaging.utils import canonicalize_name
from packaging.version import Version

from memory_matrix.environments import cache as caches
from memory_matrix.environments.app import AppBuilder
from memory_matrix.environments.interpreters import Interpreter, find
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.environments.processes import Runner, parallel
from memory_matrix.environments.resolution import Resolver, digest, refreshing, stamped
from memory_matrix.environments.uv_commands import Uv, UvError, open_uv, without_leaks
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import EnvironmentSpec

BuildState = Literal["waiting", "resolving", "installing", "ready", "cached", "unavailable"]

_FORMAT = 1
"""Raised when the same requirements are to be built differently."""
_RECORD = "memory-matrix.json"
_ANSWER_TIMEOUT = 60.0
_ANSWER = """
import json, sys, sysconfig
paths = sysconfig.get_paths()
print(json.dumps([sys.version_info[:3], sorted({paths["purelib"], paths["platlib"]})]))
"""


@dataclass(frozen=True)
class BuildEvent:
    """One step of one environment's way."""

    environment: str
    """The environment's name."""
    state: BuildState
    detail: str = ""


@dataclass(frozen=True)
class _Job:
    """What is built once: specs that differ only in what is set when their interpreter runs."""

    python: str
    packages: tuple[str, ...]
    app: str | None
    specs: tuple[EnvironmentSpec, ...]


@dataclass(frozen=True)
class _Record:
    """What an environment in the cache holds, written when it is complete."""

    python: str
    packages: dict[str, str]


@dataclass(frozen=True)
class _Built:
    folder: Path
    record: _Record
    cached: bool


@dataclass(frozen=True)
class _Missing:
    reason: str
    interpreter: bool = False


@dataclass(frozen=True)
class _Answer:
    version: str
    site_packages: tuple[Path, ...]


@dataclass(frozen=True)
class _Announcer:
    """Hands events on, one at a time, for every environment of a job."""

    on_event: Callable[[BuildEvent], None]
    lock: Lock

    def __call__(self, job: _Job, state: BuildState, detail: str = "") -> None:
        with self.lock:
            for spec in job.specs:
                self.on_event(BuildEvent(spec.name, state, detail))


@dataclass(frozen=True)
class _Workshop:
    """What every job is built with."""

    uv: Uv
    resolver: Resolver
    apps: AppBuilder
    folder: Path
    """The section of the cache that holds the environments."""
    announce: _Announcer


def build_all(
    specs: Sequence[EnvironmentSpec],
    *,
    cache: Path,
    root: Path,
    jobs: int = 2,
    download: bool = False,
    refresh: bool = False,
    on_event: Callable[[BuildEvent], None] = lambda _: None,
) -> tuple[Environment | Unavailable, ...]:
    """Return the environments that `specs` ask for, in their order, built or from the cache.

    `root` is the folder of the user's project. At most `jobs` are built at a time. With `download`,
    uv fetches interpreters that are missing; with `refresh`, the index is asked anew for versions.
    `on_event` is called from other threads, never twice at once. An exception in this thread, such as
    KeyboardInterrupt, ends every process that was started and removes what is half-built.

    Raises:
        MemoryMatrixError: the cache cannot be written, or uv is missing.
    """
    runner = Runner()
    announce = _Announcer(on_event, Lock())
    todo = _jobs(specs)
    for job in todo:
        announce(job, "waiting")
    with _opened(cache, root, runner, announce, refresh=refresh) as workshop:
        interpreters = _interpreters({job.python for job in todo}, download, runner)
        results = parallel(runner, jobs, lambda job: _had(job, interpreters, workshop), todo)
    by_spec = {
        spec: result for job, result in zip(todo, results, strict=True) for spec in job.specs
    }
    return tuple(_handed_on(spec, by_spec[spec]) for spec in specs)


@contextmanager
def _opened(
    cache: Path, root: Path, runner: Runner, announce: _Announcer, *, refresh: bool
) -> Iterator[_Workshop]:
    """Open the cache, clear what killed runs left in it, and give uv a place for temporary files."""
    uv = open_uv(runner, root)
    folder = caches.section(cache, "environments")
    apps = caches.section(cache, "apps")
    resolutions = caches.section(cache, "resolutions")
    for section in (folder, apps):
        caches.sweep(section)
    with caches.scratch(folder) as scratch:
        uv = replace(uv, environ={**uv.environ, "TMPDIR": str(scratch)})
        yield _Workshop(
            uv=uv,
            resolver=Resolver(uv, resolutions, refresh),
            apps=AppBuilder(uv, apps, root),
            folder=folder,
            announce=announce,
        )


def _jobs(specs: Sequence[EnvironmentSpec]) -> list[_Job]:
    groups: dict[tuple[str, tuple[str, ...], str | None], list[EnvironmentSpec]] = {}
    for spec in specs:
        key = (spec.python, tuple(sorted(set(spec.packages))), spec.app)
        groups.setdefault(key, []).append(spec)
    return [_Job(*key, tuple(group)) for key, group in groups.items()]


def _handed_on(spec: EnvironmentSpec, result: _Built | _Missing) -> Environment | Unavailable:
    if isinstance(result, _Missing):
        return Unavailable(spec, result.reason, result.interpreter)
    return Environment(
        spec=spec,
        command=(str(_python_of(result.folder)),),
        python=result.record.python,
        packages=result.record.packages,
        folder=result.folder,
        cached=result.cached,
    )


def _interpreters(
    pythons: Iterable[str], download: bool, runner: Runner
) -> dict[str, Interpreter | str]:
    """Return the interpreter for each value of the `python` axis, or the reason why there is none."""
    found: dict[str, Interpreter | str] = {}
    for python in sorted(pythons):
        try:
            found[python] = find(python, download=download, runner=runner)
        except UnavailableError as error:
            found[python] = str(error)
    return found


def _had(
    job: _Job, interpreters: Mapping[str, Interpreter | str], workshop: _Workshop
) -> _Built | _Missing:
    """Return what `job` asks for, or why it cannot be had; say so either way."""
    interpreter = interpreters[job.python]
    if isinstance(interpreter, str):
        workshop.announce(job, "unavailable", interpreter)
        return _Missing(interpreter, interpreter=True)
    try:
        with caches.writing(workshop.folder):
            built = _build(job, interpreter, workshop)
    except UnavailableError as error:
        workshop.announce(job, "unavailable", str(error))
        return _Missing(str(error))
    detail = f"Python {built.record.python}, {_counted(built.record.packages)}"
    workshop.announce(job, "cached" if built.cached else "ready", detail)
    return built


def _counted(packages: Sized) -> str:
    count = len(packages)
    return f"{count} package{'' if count == 1 else 's'}"


def _build(job: _Job, interpreter: Interpreter, workshop: _Workshop) -> _Built:
    workshop.announce(job, "resolving")
    try:
        lines = _resolved(job, interpreter, workshop)
        return _obtain(job, interpreter, lines, workshop)
    except UvError as error:
        raise UnavailableError(_reason(error, interpreter)) from None


def _reason(error: UvError, interpreter: Interpreter) -> str:
    advice = error.advice(
        "Correct these packages in the matrix file, or exclude them on this Python."
    )
    return (
        f"Its packages cannot be had on Python {interpreter.version}: {error.reason.rstrip('.')}. "
        f"{advice}"
    )


def _resolved(job: _Job, interpreter: Interpreter, workshop: _Workshop) -> tuple[str, ...]:
    app = () if job.app is None else (workshop.apps.requirement(job.app, interpreter),)
    return workshop.resolver.resolve((*app, *job.packages), interpreter)


def _obtain(
    job: _Job, interpreter: Interpreter, lines: tuple[str, ...], workshop: _Workshop
) -> _Built:
    runner = workshop.uv.runner
    folder = workshop.folder / digest(_FORMAT, interpreter.identity, *stamped(lines))

    def make(partial: Path) -> None:
        workshop.announce(job, "installing", _counted(lines))
        _fill(partial, interpreter, lines, workshop.uv)

    cached = caches.obtain(
        folder,
        is_good=lambda entry: _is_good(entry, runner),
        make=make,
        cancelled=lambda: runner.stopped,
    )
    record = _read_record(folder)
    if record is None:
        raise UnavailableError(f"{folder} was removed while it was being used: run again.")
    return _Built(folder, record, cached)


def _fill(folder: Path, interpreter: Interpreter, lines: tuple[str, ...], uv: Uv) -> None:
    """Make the virtual environment `folder`, which can be renamed afterwards; its record comes last."""
    uv(
        *("venv", "--no-project", "--relocatable", "--prompt", "memory-matrix"),
        *("--python", str(interpreter.path), str(folder)),
    )
    python = _python_of(folder)
    if lines:
        uv(
            *("pip", "install", "--python", str(python), "--no-deps", "--requirement", "-"),
            *refreshing(lines),
            stdin="\n".join(lines),
        )
    answer = _ask(python, uv.runner)
    record = _Record(interpreter.version, _installed(answer.site_packages))
    (folder / _RECORD).write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")


def _python_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def _is_good(folder: Path, runner: Runner) -> bool:
    """Whether the environment in `folder` is complete, still answers, and holds what it held."""
    record = _read_record(folder)
    if record is None:
        return False
    try:
        answer = _ask(_python_of(folder), runner)
    except UnavailableError:
        return False
    return (
        Version(record.python).base_version == answer.version
        and _installed(answer.site_packages) == record.packages
    )


def _read_record(folder: Path) -> _Record | None:
    try:
        return _Record(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _ask(python: Path, runner: Runner) -> _Answer:
    """Run `python` once and return its version and where its packages are.

    Raises:
        UnavailableError: it does not answer.
    """
    try:
        done = runner.run(
            (str(python), "-I", "-c", _ANSWER),
            environ=without_leaks(os.environ),
            timeout=_ANSWER_TIMEOUT,
        )
        version, folders = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"Its interpreter does not answer: {error}.") from None
    except (IndexError, ValueError):
        said = done.stderr.strip().splitlines() or [f"it ended with status {done.code}"]
        raise UnavailableError(f"Its interpreter does not answer: {said[-1]}.") from None
    return _Answer(".".join(map(str, version)), tuple(map(Path, folders)))


def _installed(site_packages: Iterable[Path]) -> dict[str, str]:
    """Return the versions of what is installed, from the names of its metadata: nothing is imported."""
    found = {}
    for folder in site_packages:
        for metadata in folder.glob("*-*.dist-info"):
            name, _, version = metadata.name.removesuffix(".dist-info").rpartition("-")
            found[canonicalize_name(name)] = version
    return dict(sorted(found.items()))
