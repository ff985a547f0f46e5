"""Run the suite's processes, each pytest in one environment on one set of servers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from memory_matrix.environments.model import Environment
from memory_matrix.environments.processes import Finished, Runner, Running
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.matrix.model import Matrix, ServerSource, Waiver
from memory_matrix.matrix.suite import SuiteCell, SuiteProcess
from memory_matrix.servers.client import ADDRESS
from memory_matrix.suite.case_names import CaseName
from memory_matrix.suite.results import Case, CaseResult, missing, read_lines
from memory_matrix.suite.wishes import Question, Wish

_CASES = "memory_matrix.suite.cases"
_STORES = "memory_matrix.stores"
_INI = Path("memory_matrix", "suite", "pytest.ini")
_PLUGINS = (
    "memory_matrix.suite.starting",  # before those that load much
    *("memory_matrix.pytest_plugin", "memory_matrix.suite.cases.conftest", "timeout"),
)
_FORGOTTEN = re.compile(r"PYTEST_.*|PYTHONHOME|PYTHONSTARTUP|VIRTUAL_ENV")
"""Variables that would change what is tested, or take it for a part of another pytest's run."""
_NO_BYTECODE, _BYTECODE = "PYTHONDONTWRITEBYTECODE", "bytecode"
_ERROR = re.compile(r"INTERNALERROR>|ERROR|E  |\w+(\.\w+)*(Error|Exception|Interrupt|Exit)\b")
_UNSTOPPABLE = 10.0
"""Seconds after which a case is killed that its own time limit did not end, beside twice that limit:
so long it has to clean up."""
_HARMLESS = (0, 1, 5)
"""How pytest ends where it ran what it was to run: all passed, some failed, none was left."""


class Crews:
    """Processes for the cases that get ready while the run is still being prepared. For many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[str, Running] = {}

    def keep(self, environment: Environment, crew: Running) -> None:
        """Keep one of an environment for whoever takes it first."""
        with self._lock:
            former = self._waiting.pop(environment.spec.name, None)
            self._waiting[environment.spec.name] = crew
        if former is not None:
            former.end()

    def take(self, bench: Bench, environment: Environment) -> Running:
        """Return one that was kept, or else a new one."""
        with self._lock:
            waiting = self._waiting.pop(environment.spec.name, None)
        return waiting or _crew(bench, environment)

    def close(self) -> None:
        """End those that nobody took."""
        with self._lock:
            for each in self._waiting.values():
                each.end()
            self._waiting.clear()


@dataclass(frozen=True)
class Bench:
    """What all processes of a run have in common."""

    matrix: Matrix
    runner: Runner
    folder: Path
    toolkit: Path
    address: str
    """The service that owns the servers."""
    workers: int
    """Workers of each process."""
    seed: int
    """Of the random order of the cases."""
    cases: tuple[CaseName, ...]
    """Those that are selected."""
    may_hold_data: bool = False
    """Whether a Redis given by URL may be used that is not empty."""
    crews: Crews = field(default_factory=Crews)


def _crew(bench: Bench, environment: Environment) -> Running:
    return bench.runner.start(
        (*environment.command, "-m", "memory_matrix.suite.crew"),
        environ=_variables(bench, environment),
        cwd=bench.matrix.root,
    )


def describe_stores(
    bench: Bench, environment: Environment, stores: Sequence[str], *, stays: bool
) -> list[Any]:
    """Return what each store says of itself in an environment.

    Where the process that is asked `stays`, it gets ready for the cases.

    Raises:
        MemoryMatrixError: the environment does not answer.
    """
    crew = _crew(bench, environment)
    question = Question(stores, str(bench.matrix.root))
    text = crew.ask(json.dumps(asdict(question)))
    try:
        answer: Any = json.loads(text)
    except ValueError:
        done = crew.finish("")
        answer = {"said": f"{done.stdout}\n{done.stderr}", "code": done.code}
    if stays and isinstance(answer, list):
        bench.crews.keep(environment, crew)
    else:
        crew.end()
    if not isinstance(answer, list):
        raise MemoryMatrixError(
            f"The stores cannot be loaded in environment {environment.spec.name!r}: "
            f"{_last_words(answer['said'])}."
        )
    return answer


def run_process(
    bench: Bench, environment: Environment, process: SuiteProcess, results: Path
) -> list[CaseResult]:
    """Run the cells of `process`; return what became of every case, also of those that did not run.

    `results` is the file that they are written to as they end.
    """
    folder = results.parent
    wish = Wish(
        arguments=_arguments(bench, process, folder, results),
        workers=bench.workers,
        results=str(results),
        temporary=str(folder),  # so it goes with the run
        own=_own_modules(process),
        longest=2 * bench.matrix.suite.timeout + _UNSTOPPABLE,
    )
    done = bench.crews.take(bench, environment).finish(json.dumps(asdict(wish)))
    collected, ended = read_lines(results)
    if done.code not in _HARMLESS or not collected:
        collected = collected or _all_cases(process, bench.cases)
    return [*ended, *missing(collected, ended, f"it did not end: {_how_it_ended(done)}")]


def name_servers(results: Sequence[CaseResult], process: SuiteProcess) -> list[CaseResult]:
    """Return results with the matrix' own names of stores and servers."""
    servers = {cell.store: tuple(each.name for each in cell.servers) for cell in process.cells}
    return [replace(each, servers=servers.get(each.store, each.servers)) for each in results]


def waivers_of(
    matrix: Matrix, environment: str, matches: Callable[[str, str], bool]
) -> list[Waiver]:
    """Return the waivers that speak about an environment."""
    return [each for each in matrix.suite.waivers if matches(environment, each.environment)]


def _arguments(bench: Bench, process: SuiteProcess, folder: Path, results: Path) -> list[str]:
    cells = folder / "cells.json"
    cells.write_text(json.dumps(_cells(process.cells)), encoding="utf-8")
    names = folder / "cases.json"
    names.write_text(json.dumps([case.name for case in bench.cases]), encoding="utf-8")
    waivers = folder / "waivers.json"
    waivers.write_text(json.dumps(_waivers(bench.matrix, process)), encoding="utf-8")
    return [
        *("-c", str(bench.toolkit / _INI), "--rootdir", str(bench.toolkit), "-q", "--no-header"),
        "--noconftest",  # that of the project under test could change what is tested
        *(part for plugin in _PLUGINS for part in ("-p", plugin)),
        *("--tb", "short", "--assert", "plain"),  # nothing rewritten, nothing to compile
        *("--timeout", f"{bench.matrix.suite.timeout:g}", "--timeout-method", "signal"),
        *("--memory-root", str(bench.matrix.root), "--memory-cells", str(cells)),
        *("--memory-cases", str(names), "--memory-results", str(results)),
        *("--memory-waivers", str(waivers)),
        *(["--redis-may-hold-data"] if bench.may_hold_data else []),
        *_server("--postgres", process.postgres),
        *_server("--redis", process.redis),
        *(f"--store={store}" for store in dict.fromkeys(cell.store for cell in process.cells)),
        *("--memory-seed", str(bench.seed)),
        *("--pyargs", *(f"{_CASES}.{module}" for module in _modules(bench.cases))),
    ]


def _modules(cases: Sequence[CaseName]) -> list[str]:
    return [*dict.fromkeys(case.module for case in cases)]


def _own_modules(process: SuiteProcess) -> list[str]:
    """Return what the cells need of this package and of clients: one import does for all workers.

    Modules of users are not among them: nobody knows whether what they start survives a fork.
    """
    modules = {
        f"{_STORES}.{server.kind}"
        for cell in process.cells
        for server in cell.servers
        if cell.store.partition(":")[0] in {_STORES, f"{_STORES}.{server.kind}"}
    }
    return [*(["redis"] if process.redis else []), *sorted(modules)]


def _server(option: str, source: ServerSource | None) -> list[str]:
    return [] if source is None else [f"{option}={written(source)}"]


def written(source: ServerSource) -> str:
    """Return a source as the matrix file writes it, password and all."""
    return source.value if source.form == "url" else f"{source.form}:{source.value}"


def _cells(cells: Sequence[SuiteCell]) -> list[list[str | None]]:
    return [[cell.store, cell.serializer] for cell in cells]


def _waivers(matrix: Matrix, process: SuiteProcess) -> list[dict[str, str]]:
    from memory_matrix.matrix.patterns import matches

    return [
        {
            "reason": each.reason,
            "until": each.until.isoformat(),
            "store": each.store,
            "case": each.case,
            "server": each.server,
        }
        for each in waivers_of(matrix, process.environment.name, matches)
    ]


def _variables(bench: Bench, environment: Environment) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _FORGOTTEN.fullmatch(name)}
    if kept.pop(_NO_BYTECODE, None):  # compiling anew would be half of a short run: keep it apart
        kept.setdefault("PYTHONPYCACHEPREFIX", str(bench.toolkit.parents[1] / _BYTECODE))
    path = [str(bench.toolkit), *map(str, environment.spec.path)]
    return {
        **kept,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONSAFEPATH": "1",  # a json.py of the project must not stand for Python's own
        "PYTHONPATH": os.pathsep.join(path),
        ADDRESS: bench.address,
        "TMPDIR": str(bench.folder),  # so that what stores leave there goes with the run
        **dict(environment.spec.env),
    }


def _all_cases(process: SuiteProcess, cases: Sequence[CaseName]) -> list[Case]:
    return [
        Case(
            case.name,
            case.group,
            cell.store,
            tuple(each.name for each in cell.servers),
            cell.serializer,
        )
        for cell in process.cells
        for case in cases
    ]


def _how_it_ended(done: Finished) -> str:
    if done.code < 0:
        return f"its process was ended by signal {-done.code}"
    said = f"{done.stdout}\n{done.stderr}"
    return f"its process ended with status {done.code}: {_last_words(said)}"


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    said = [line for line in lines if line]
    errors = [line.removeprefix("INTERNALERROR>").strip() for line in said if _ERROR.match(line)]
    return ([each for each in errors if each] or said or ["it said nothing"])[-1][:400].rstrip(".")
