"""Run the suite's processes, each pytest in one environment on one set of servers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory_matrix.environments.model import Environment
from memory_matrix.environments.processes import Finished, Runner
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.matrix.model import Matrix, ServerSource, Waiver
from memory_matrix.matrix.suite import SuiteCell, SuiteProcess
from memory_matrix.servers.client import ADDRESS
from memory_matrix.suite.catalogue import CaseInfo
from memory_matrix.suite.results import Case, CaseResult, missing, read_lines

_CASES = "memory_matrix.suite.cases"
_INI = Path("memory_matrix", "suite", "pytest.ini")
_PLUGINS = (
    "memory_matrix.suite.starting",  # before those that load much
    *("memory_matrix.pytest_plugin", "memory_matrix.suite.cases.conftest"),
    *("xdist", "randomly", "timeout"),
)
_FORGOTTEN = re.compile(r"PYTEST_.*|PYTHONHOME|PYTHONSTARTUP|VIRTUAL_ENV")
"""Variables that would change what is tested, or take it for a part of another pytest's run."""
_NO_BYTECODE, _BYTECODE = "PYTHONDONTWRITEBYTECODE", "bytecode"
_CRASH = re.compile(r"worker '\w+' crashed while running '[^']*'")
_ERROR = re.compile(r"INTERNALERROR>|ERROR|E  |\w+(\.\w+)*(Error|Exception|Interrupt|Exit)\b")
_HARMLESS = (0, 1, 5)
"""How pytest ends where it ran what it was to run: all passed, some failed, none was left."""


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
    cases: tuple[CaseInfo, ...]
    """Those that are selected."""
    may_hold_data: bool = False
    """Whether a Redis given by URL may be used that is not empty."""


def describe_stores(bench: Bench, environment: Environment, stores: Sequence[str]) -> list[Any]:
    """Return what each store says of itself in an environment.

    Raises:
        MemoryMatrixError: the environment does not answer.
    """
    done = bench.runner.run(
        (*environment.command, "-m", "memory_matrix.suite.describe", str(bench.matrix.root)),
        environ=_variables(bench, environment),
        cwd=bench.matrix.root,
        stdin=json.dumps(stores),
    )
    try:
        answers: list[Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise MemoryMatrixError(
            f"The stores cannot be loaded in environment {environment.spec.name!r}: {_last_words(done)}."
        ) from None
    return answers


def run_process(
    bench: Bench, environment: Environment, process: SuiteProcess, results: Path
) -> list[CaseResult]:
    """Run the cells of `process`; return what became of every case, also of those that did not run.

    `results` is the file that they are written to as they end.
    """
    folder = results.parent
    command = (*environment.command, "-m", "pytest", *_arguments(bench, process, folder, results))
    variables = {**_variables(bench, environment), "TMPDIR": str(folder)}  # so it goes with the run
    done = bench.runner.run(command, environ=variables, cwd=bench.matrix.root)
    (folder / "output.txt").write_text(f"{done.stdout}\n{done.stderr}", encoding="utf-8")
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
    workers = ("-n", str(bench.workers)) if bench.workers > 1 else ("-n", "0")
    return [
        *("-c", str(bench.toolkit / _INI), "--rootdir", str(bench.toolkit), "-q", "--no-header"),
        "--noconftest",  # that of the project under test could change what is tested
        *(part for plugin in _PLUGINS for part in ("-p", plugin)),
        *("--tb", "short", "--assert", "plain", *workers),  # nothing rewritten, nothing to compile
        *("--timeout", f"{bench.matrix.suite.timeout:g}", "--timeout-method", "signal"),
        *("--memory-root", str(bench.matrix.root), "--memory-cells", str(cells)),
        *("--memory-cases", str(names), "--memory-results", str(results)),
        *("--memory-waivers", str(waivers)),
        *(["--redis-may-hold-data"] if bench.may_hold_data else []),
        *_server("--postgres", process.postgres),
        *_server("--redis", process.redis),
        *(f"--store={store}" for store in dict.fromkeys(cell.store for cell in process.cells)),
        *("--randomly-seed", str(bench.seed)),
        *("--pyargs", _CASES),
    ]


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
        **dict(environment.spec.env),
    }


def _all_cases(process: SuiteProcess, cases: Sequence[CaseInfo]) -> list[Case]:
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
    if crash := _CRASH.search(done.stdout):
        return f"a process of pytest was ended ({crash[0]})"
    if done.code < 0:
        return f"its process was ended by signal {-done.code}"
    return f"its process ended with status {done.code}: {_last_words(done)}"


def _last_words(done: Finished) -> str:
    lines = [line.strip() for line in (*done.stdout.splitlines(), *done.stderr.splitlines())]
    said = [line for line in lines if line]
    errors = [line.removeprefix("INTERNALERROR>").strip() for line in said if _ERROR.match(line)]
    return ([each for each in errors if each] or said or ["it said nothing"])[-1][:400].rstrip(".")
