"""Find the interpreter that a value of the `python` axis names, wherever a developer keeps it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from packaging.version import InvalidVersion, Version

from memory_matrix.environments.processes import Runner, parallel
from memory_matrix.environments.uv_commands import UvError, open_uv, without_leaks
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import CURRENT_PYTHON

OLDEST = (3, 6)
"""The oldest Python that environments can be built for."""

_PYTHON = re.compile(r"python(3(\.\d+t?)?)?")
_PROBE_TIMEOUT = 20.0
_PROBE_JOBS = 4
_PROBE = """
import json, os, sys, sysconfig
level = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(sys.version_info[3])
path = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps({
    "path": path,
    "version": ".".join(map(str, sys.version_info[:3]))
        + (level + str(sys.version_info[4]) if level else ""),
    "implementation": sys.implementation.name,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "identity": [os.path.realpath(path), sys.version, sysconfig.get_config_var("SOABI"),
        sysconfig.get_platform()],
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """One interpreter of this machine, which has answered."""

    path: Path
    """Absolute; of the interpreter itself, where it was found through a venv or a shim."""
    version: str
    """`3.11.7`, `3.15.0b2`."""
    implementation: str
    """As `sys.implementation.name` has it: `cpython`, `pypy`."""
    identity: str
    """Its real path, exact build, ABI and platform: equal for equal interpreters only."""
    free_threaded: bool = False


@dataclass(frozen=True)
class _Unusable:
    reason: str


@dataclass(frozen=True)
class _Wanted:
    """A version as the matrix file writes it: `3.12`, `3.12.1`, `3.15-dev`, `3.15.0b2`, `3.13t`."""

    text: str
    version: Version
    free_threaded: bool

    @property
    def minor(self) -> str:
        return ".".join(map(str, self.version.release[:2]))

    def matches(self, found: Interpreter) -> bool:
        version = Version(found.version)
        if found.free_threaded != self.free_threaded:
            return False
        if self.version.pre or (version.pre and len(self.version.release) > 2):
            return version == self.version
        return version.release[: len(self.version.release)] == self.version.release


@dataclass(frozen=True)
class _Search:
    """A search under way: what runs its probes, and what they found so far."""

    runner: Runner
    found: dict[Path, Interpreter] = field(default_factory=dict)
    patience: float = _PROBE_TIMEOUT
    """Seconds that an interpreter has to answer."""

    def probe(self, paths: Iterable[Path]) -> list[Interpreter]:
        """Return those of `paths` that answer, in their order."""
        answers = parallel(self.runner, _PROBE_JOBS, self._probe, dict.fromkeys(paths))
        usable = [answer for answer in answers if isinstance(answer, Interpreter)]
        self.found.update((each.path, each) for each in usable)
        return usable

    def _probe(self, path: Path) -> Interpreter | _Unusable:
        return _probe(path, self)

    def probe_all(self) -> None:
        """Ask everything that answers to any name."""
        places = (_running(), _on_path(None), _in_pyenv(None), _in_tool_cache(None))
        paths = chain(*places, _of_uv(self.runner, None))
        once: dict[Path, Path] = {}
        for path in paths:
            once.setdefault(_behind_links(path), path)
        self.probe(once.values())


_answers: dict[Path, Interpreter | _Unusable] = {}
"""Each interpreter is asked once in the life of this process."""


def find(python: str, *, download: bool = False, runner: Runner | None = None) -> Interpreter:
    """Return the interpreter that `python` names: a version, `current`, or an absolute or `~` path.

    A version is looked for in the running interpreter, on PATH, in pyenv, in the tool cache of a runner
    of GitHub's and among those of uv, in this order; the newest patch of the first place that has one is taken, and a prerelease only where
    no place has a release. With `download`, uv fetches it where none is found.

    Raises:
        UnavailableError: there is none; the text says what was found instead and how to get it.
    """
    search = _Search(runner or Runner())
    if python == CURRENT_PYTHON:
        return _at(Path(sys.executable), search)
    if python.startswith("~") or "/" in python:
        return _at(_executable(Path(python).expanduser()), search)
    wanted = _parse(python)
    found = _find_version(wanted, search)
    if found is None and download:
        found = _download(wanted, search)
    if found is None:
        raise UnavailableError(_not_found(wanted, search))
    return found


def everything(
    *, patience: float = _PROBE_TIMEOUT, runner: Runner | None = None
) -> tuple[Interpreter, ...]:
    """Return every interpreter of this machine that answers within `patience` seconds, oldest first.

    Those that differ in nothing are named once.
    """
    search = _Search(runner or Runner(), patience=patience)
    search.probe_all()
    once = {each.identity: each for each in search.found.values()}
    return tuple(sorted(once.values(), key=lambda each: (Version(each.version), each.path)))


def _parse(python: str) -> _Wanted:
    free_threaded = re.fullmatch(r"[\d.]+t", python) is not None
    try:
        version = Version(python.removesuffix("t"))
    except InvalidVersion:
        raise UnavailableError(
            f"{python!r} is neither a version of Python, nor {CURRENT_PYTHON!r}, nor the absolute "
            "path of an interpreter."
        ) from None
    if version.release[:2] < OLDEST[: len(version.release)]:
        oldest = ".".join(map(str, OLDEST))
        raise UnavailableError(
            f"Python {python} is older than {oldest}, the oldest that an environment can be built "
            "for."
        )
    return _Wanted(python, version, free_threaded)


def _executable(path: Path) -> Path:
    """Return the interpreter in `path`, where that is the folder of an installation or a venv."""
    inside = path / "bin" / "python"
    return inside if _is_file(inside) else path


def _at(path: Path, search: _Search) -> Interpreter:
    if not _is_file(path):
        raise UnavailableError(f"There is no interpreter at {path} to be had: correct its path.")
    answer = _probe(path, search)
    if isinstance(answer, _Unusable):
        raise UnavailableError(
            f"{path} does not answer as an interpreter of Python 3.6 or later: {answer.reason}"
        )
    return answer


def _find_version(wanted: _Wanted, search: _Search) -> Interpreter | None:
    matching: list[Interpreter] = []
    for place in (_running(), _on_path(wanted), _in_pyenv(wanted), _in_tool_cache(wanted)):
        matching += _matching(wanted, search.probe(place))
        if any(map(_is_plain, matching)):
            return _newest(matching)
    return _newest([*matching, *_matching(wanted, search.probe(_of_uv(search.runner, wanted)))])


def _matching(wanted: _Wanted, found: Iterable[Interpreter]) -> list[Interpreter]:
    return [each for each in found if wanted.matches(each)]


def _newest(found: Iterable[Interpreter]) -> Interpreter | None:
    return max(found, key=lambda each: (_is_plain(each), Version(each.version)), default=None)


def _is_plain(found: Interpreter) -> bool:
    return found.implementation == "cpython" and not Version(found.version).is_prerelease


def _running() -> Iterator[Path]:
    if sys.executable:
        yield Path(sys.executable)


def _on_path(wanted: _Wanted | None) -> Iterator[Path]:
    """Yield what PATH may call the wanted interpreter; every interpreter on it for None."""
    special = f"python{wanted.minor}{'t' * wanted.free_threaded}" if wanted else "python3.*"
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if not folder.is_absolute():
            continue
        for name in (special, "python3", "python"):
            yield from filter(_may_be_python, _listed(folder, name))


def _may_be_python(path: Path) -> bool:
    return _PYTHON.fullmatch(path.name) is not None and _is_file(path) and os.access(path, os.X_OK)


def _in_pyenv(wanted: _Wanted | None) -> Iterator[Path]:
    yield from _installations(_pyenv_versions(), r"(?P<version>\d+\.\d+).*", wanted)


def _pyenv_versions() -> Path:
    return Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"


def _in_tool_cache(wanted: _Wanted | None) -> Iterator[Path]:
    """Yield those that a runner of GitHub's has, in folders such as `Python/3.12.7/x64`."""
    cache = os.environ.get("RUNNER_TOOL_CACHE")
    for version in _listed(Path(cache) / "Python", "*") if cache else ():
        if wanted is None or re.fullmatch(rf"{re.escape(wanted.minor)}\..*", version.name):
            yield from filter(_is_file, (each / "bin" / "python" for each in _listed(version, "*")))


def _of_uv(runner: Runner, wanted: _Wanted | None) -> Iterator[Path]:
    try:
        folder = open_uv(runner)("python", "dir").strip()
    except UvError:
        return
    yield from _installations(Path(folder), r"[a-z]+-(?P<version>\d+\.\d+).*", wanted)


def _installations(folder: Path, naming: str, wanted: _Wanted | None) -> Iterator[Path]:
    """Yield the interpreters of the installations in `folder` whose names do not rule them out."""
    for installation in _listed(folder, "*"):
        name = re.fullmatch(naming, installation.name)
        if wanted is None or name is None or name["version"] == wanted.minor:
            path = installation / "bin" / "python"
            if _is_file(path):
                yield path


def _listed(folder: Path, pattern: str) -> list[Path]:
    """Return what is in `folder`; nothing where it may not be read, as with another user's."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _behind_links(path: Path) -> Path:
    """Return what two names of one interpreter have in common; a shim answers to each name otherwise."""
    behind = path.resolve()
    return behind if _PYTHON.fullmatch(behind.name) else path


def _probe(path: Path, search: _Search) -> Interpreter | _Unusable:
    if path not in _answers:
        _answers[path] = _ask(path, search)
    return _answers[path]


def _ask(path: Path, search: _Search) -> Interpreter | _Unusable:
    try:
        done = search.runner.run(
            (str(path), "-I", "-c", _PROBE),
            environ=without_leaks(os.environ),
            timeout=search.patience,
        )
    except subprocess.TimeoutExpired:
        return _Unusable(f"it did not answer within {search.patience:g} seconds")
    except OSError as error:
        return _Unusable(str(error.strerror))
    try:
        return _interpreter(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, KeyError, TypeError, ValueError):
        said = done.stderr.strip().splitlines() or ["it said nothing of itself"]
        return _Unusable(said[-1])


def _interpreter(answer: dict[str, object]) -> Interpreter:
    Version(str(answer["version"]))  # an answer that is none is refused here
    return Interpreter(
        path=Path(str(answer["path"])),
        version=str(answer["version"]),
        implementation=str(answer["implementation"]),
        identity=json.dumps(answer["identity"]),
        free_threaded=bool(answer["free_threaded"]),
    )


def _download(wanted: _Wanted, search: _Search) -> Interpreter | None:
    try:
        open_uv(search.runner)("python", "install", "--no-bin", wanted.text.removesuffix("-dev"))
    except UvError as error:
        raise UnavailableError(
            f"Python {wanted.text} was found nowhere, and uv cannot download it: "
            f"{error.reason.rstrip('.')}. Install it by hand, or take it out of the matrix."
        ) from None
    return _newest(_matching(wanted, search.probe(_of_uv(search.runner, wanted))))


def _not_found(wanted: _Wanted, search: _Search) -> str:
    """Say what there is instead: only now is everything asked that answers to any name."""
    search.probe_all()
    versions = sorted({each.version for each in search.found.values()}, key=Version)
    minor = wanted.text.removesuffix("-dev")
    return (
        f"Python {wanted.text} was not found: the running interpreter, PATH, pyenv and uv have "
        f"{', '.join(versions) or 'none'}. Get it with `uv python install {minor}` or "
        f"`pyenv install {minor}`, or run with --download-pythons."
    )
