"""One run of the memory test suite, from a matrix to a report."""

from __future__ import annotations

import datetime as dt
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.environments.processes import Runner, parallel
from memory_matrix.errors import UnavailableError, UsageError
from memory_matrix.isolation.redis import RedisIsolation
from memory_matrix.locations import location
from memory_matrix.matrix.model import DEFAULT_STORES, EnvironmentSpec, Matrix, ServerSource, Waiver
from memory_matrix.matrix.packing import Seconds, Shard, pack_processes
from memory_matrix.matrix.patterns import matches, matches_store
from memory_matrix.matrix.suite import (
    REFERENCE_STORES,
    StoreNeeds,
    Suite,
    SuiteCell,
    SuiteProcess,
    plan_suite,
)
from memory_matrix.progress import Progress, Step
from memory_matrix.report.model import Report, StoreRecord, Strategy, SuiteResult
from memory_matrix.runfolder import run_folder
from memory_matrix.running import RunOptions, build, empty_report, stops
from memory_matrix.servers.client import ServerError, Servers
from memory_matrix.servers.model import Server
from memory_matrix.servers.model import Unavailable as UnavailableServer
from memory_matrix.servers.service import serve
from memory_matrix.suite.case_names import CaseName, case_names
from memory_matrix.suite.processes import (
    Bench,
    Crews,
    describe_stores,
    name_servers,
    run_process,
    written,
)
from memory_matrix.suite.results import CaseResult, count_ended
from memory_matrix.suite.toolkit import OLDEST_PYTHON, REQUIREMENTS, toolkit

if TYPE_CHECKING:
    from memory_matrix.partials import Header

_REPORTS = (
    *(f"memory_matrix.report.{name}" for name in ("terminal", "markdown", "html.rendering")),
    "jinja2",
)
_LOOK = 0.2
"""Seconds between two looks at how many cases have ended."""


@dataclass(frozen=True)
class _Had:
    """What could be had for the suite."""

    environments: tuple[Environment | Unavailable, ...]
    stores: tuple[StoreRecord, ...] = ()
    servers: tuple[Server | UnavailableServer, ...] = ()
    locations: Mapping[str, str] = field(default_factory=dict)
    """Where the user's adapters are defined, by store."""

    def report(self, matrix: Matrix) -> Report:
        """Return a report of it, with no cases yet."""
        frame = empty_report(matrix, self.environments, self.servers)
        return replace(frame, stores=self.stores, locations=self.locations)


def run_suite(
    matrix: Matrix,
    options: RunOptions,
    progress: Progress,
    *,
    seed: int | None = None,
    may_hold_data: bool = False,
) -> Report:
    """Run every store of `matrix` through every case, in every environment, on the servers.

    What cannot be had is in the report as unavailable, and no case counts that did not run.

    Raises:
        UsageError: a store cannot be loaded in any environment, or no case is selected.
    """
    with ExitStack() as stack:
        bench = _bench(stack, matrix, options, seed=seed, may_hold_data=may_hold_data)
        _start_ahead(bench)
        had = _built(matrix, matrix.environments, options, progress)
        if stops(had.environments, strict=options.strict):
            return had.report(matrix)
        needs, had = _loaded_stores(bench, options, progress, had)
        _refuse_unloadable(matrix, needs, had.stores)
        planned = plan_suite(matrix, needs, options.selection)
        _refuse_unserved(matrix, planned)
        report = _tested(bench, options, progress, had, planned)
        threading.Thread(target=_load_reports, daemon=True).start()  # while servers end
    if report.strategy is None:
        return report
    whole = not options.selection.terms
    stale = stale_waivers(matrix.suite.waivers, report.suite, whole=whole)
    return replace(report, stale_waivers=stale)


def run_suite_shard(
    matrix: Matrix,
    options: RunOptions,
    progress: Progress,
    shard: Shard,
    seconds: Seconds,
    *,
    seed: int | None = None,
    may_hold_data: bool = False,
) -> tuple[Header, Report]:
    """Run the processes of one shard of the suite, which took `seconds` before; say what it is a part of.

    Its report has nothing on waivers that nothing needs any more: only all shards together tell. What
    cannot be had does not end it, `strict` or not: what the rest finds is worth having.

    Raises:
        UsageError: a store cannot be loaded in any environment, or no case is selected.
    """
    from memory_matrix.partials import header

    with ExitStack() as stack:
        bench = _bench(stack, matrix, options, seed=seed, may_hold_data=may_hold_data)
        whole = plan_suite(matrix, _needs(bench, options, progress), options.selection)
        _refuse_unserved(matrix, whole)
        shares = pack_processes(whole.processes, seconds.suite, shard.of)
        mine = replace(whole, processes=shares[shard.number - 1])
        names = {process.environment.name for process in mine.processes}
        specs = [each for each in matrix.environments if each.name in names]
        had = _built(matrix, specs, options, progress)
        if specs and not stops(had.environments, strict=False):
            _, had = _loaded_stores(bench, options, progress, had)
            report = _tested(bench, replace(options, strict=False), progress, had, mine)
        else:
            report = had.report(matrix)
    units = [[process.name for process in each] for each in shares]
    found = header("suite", matrix, shard, units, options)
    cells = None if report.strategy is None else replace(report.strategy, cells=len(whole.cells))
    return found, replace(report, shard=str(shard), strategy=cells)


def _bench(
    stack: ExitStack, matrix: Matrix, options: RunOptions, *, seed: int | None, may_hold_data: bool
) -> Bench:
    """Return what the run has in common; it is taken down when `stack` is closed."""
    selected = _selected(options, matrix)
    folder = stack.enter_context(run_folder())
    crews = Crews()
    stack.callback(crews.close)
    return Bench(
        matrix=matrix,
        runner=Runner(),
        folder=folder,
        toolkit=toolkit(options.cache),
        address=stack.enter_context(serve(folder, options.cache)),
        workers=1,
        seed=int.from_bytes(os.urandom(4), "big") if seed is None else seed,
        cases=selected,
        may_hold_data=may_hold_data,
        crews=crews,
    )


def _built(
    matrix: Matrix, specs: Sequence[EnvironmentSpec], options: RunOptions, progress: Progress
) -> _Had:
    built = build(matrix, list(map(_with_pytest, specs)), options, progress)
    return _Had(tuple(map(_as_asked, built, specs)))


def _needs(bench: Bench, options: RunOptions, progress: Progress) -> dict[str, StoreNeeds]:
    """Return what each store needs, which only an environment that has it can tell.

    Environments are asked one after the other, so that every shard comes to the same answer.

    Raises:
        UsageError: a store cannot be loaded in any environment.
        UnavailableError: there is no environment that could tell.
    """
    matrix = bench.matrix
    needs = {
        each: REFERENCE_STORES[each] for each in matrix.suite.stores if each in REFERENCE_STORES
    }
    tried: list[_Had] = []
    for spec in matrix.environments:
        if needs.keys() >= set(matrix.suite.stores):
            return needs
        had = _built(matrix, [spec], options, progress)
        found, had = _loaded_stores(bench, options, progress, had)
        needs = {**found, **needs}
        tried.append(had)
    _refuse_unloadable(matrix, needs, [each for had in tried for each in had.stores])
    if needs.keys() < set(matrix.suite.stores):
        reasons = [each for had in tried for each in had.environments]
        lines = "".join(
            f"\n  {each.spec.name}: {each.reason}"
            for each in reasons
            if isinstance(each, Unavailable)
        )
        raise UnavailableError(f"no environment could be had to ask what the stores need:{lines}")
    return needs


def _load_reports() -> None:
    """Load what a report is shown and written with."""
    for module in _REPORTS:
        import_module(module)


def _tested(
    bench: Bench, options: RunOptions, progress: Progress, had: _Had, planned: Suite
) -> Report:
    """Return the report of what is planned, in the environments that were had."""
    matrix = bench.matrix
    had = replace(had, servers=_started(bench, planned, matrix, progress))
    if stops(had.servers, strict=options.strict):
        return had.report(matrix)
    results = tuple(_results(bench, options, progress, had, planned))
    strategy = Strategy(matrix.suite.strategy, planned.pairs, planned.covered, len(planned.cells))
    return replace(had.report(matrix), suite=tuple(sorted(results, key=order)), strategy=strategy)


def _with_pytest(spec: EnvironmentSpec) -> EnvironmentSpec:
    """Return what to build: what the suite needs is resolved together with what the matrix asks for."""
    return replace(spec, packages=(*spec.packages, *REQUIREMENTS))


def _as_asked(had: Environment | Unavailable, spec: EnvironmentSpec) -> Environment | Unavailable:
    """Return what was had under the spec of the matrix file; too old a Python is not to be had."""
    if isinstance(had, Environment) and _version(had.python) < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return Unavailable(
            spec, f"The memory test suite needs Python {oldest} or later: leave it out by --select."
        )
    return replace(had, spec=spec)


def _version(python: str) -> tuple[int, int]:
    major, minor, *_ = python.split(".")
    return int(major), int(minor)


def _selected(options: RunOptions, matrix: Matrix) -> tuple[CaseName, ...]:
    """Return the cases that are selected.

    Raises:
        UsageError: a term of --select, or a waiver, matches no case.
    """
    known = case_names()
    for pattern in options.selection.patterns("case"):
        _refuse_unknown(f"--select case={pattern}", pattern, known)
    for waiver in matrix.suite.waivers:
        _refuse_unknown(f"{waiver.key}.case: {waiver.case!r}", waiver.case, known)
    return tuple(each for each in known if options.selection.allows("case", each.name))


def _refuse_unknown(what: str, pattern: str, known: Sequence[CaseName]) -> None:
    names = [each.name for each in known]
    if any(matches(name, pattern) for name in names):
        return
    close = get_close_matches(pattern, names, n=1, cutoff=0.75)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise UsageError(
        f"{what} matches none of the suite's {len(known)} cases; docs/suite.md lists them.{meant}"
    )


# Stores and servers


def _refuse_unserved(matrix: Matrix, planned: Suite) -> None:
    """Raise where a store needs a server that the matrix has not; of the default stores, one may."""
    named = matrix.suite.stores != DEFAULT_STORES
    for store, kinds in planned.unserved.items():
        if named or not planned.cells:
            raise UsageError(
                f"{store} needs {' and '.join(kinds)}, and the matrix has no such server: name one "
                "in [servers]."
            )


def _loaded_stores(
    bench: Bench, options: RunOptions, progress: Progress, had: _Had
) -> tuple[dict[str, StoreNeeds], _Had]:
    """Return what each store needs, and `had` with what each store is in each environment."""
    stores = bench.matrix.suite.stores
    ready = [each for each in had.environments if isinstance(each, Environment)]
    first = {each.spec.name for each in ready[: options.jobs]}
    with progress.phase("Loading stores", len(ready)) as step:

        def load(environment: Environment) -> list[Any]:
            name = environment.spec.name
            answers = describe_stores(bench, environment, stores, stays=name in first)
            step(name)
            return answers

        answers = parallel(bench.runner, options.jobs, load, ready)
    for described in answers:
        for several in _said_twice(described):
            progress.note(f"{several} are one store under several names, and all of them are run.")
    needs: dict[str, StoreNeeds] = {}
    records = []
    locations: dict[str, str] = {}
    for environment, described in zip(ready, answers, strict=True):
        for answer in described:
            records.append(_record(environment, answer))
            if found := location(answer.get("file"), answer.get("line", 1)):
                locations[answer["source"]] = found
            if "error" not in answer:
                wanted = StoreNeeds(tuple(answer["needs"]), answer["takes_serializer"])
                needs.setdefault(answer["source"], wanted)
    return needs, replace(had, stores=tuple(records), locations=locations)


def _said_twice(described: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of stores that are one, of those that one environment described."""
    names: dict[tuple[str, ...], list[str]] = {}
    for answer in described:
        if "error" not in answer:
            names.setdefault(tuple(answer["same"]), []).append(answer["source"])
    return (" and ".join(each) for each in names.values() if len(each) > 1)


def _refuse_unloadable(
    matrix: Matrix, needs: Mapping[str, StoreNeeds], records: Sequence[StoreRecord]
) -> None:
    for store in matrix.suite.stores:
        reasons = dict.fromkeys(each.reason for each in records if each.name == store)
        if store not in needs and reasons:
            raise UsageError(" ".join(f"{reason}" for reason in reasons))


def _record(environment: Environment, answer: Mapping[str, Any]) -> StoreRecord:
    name = environment.spec.name
    if "error" in answer:
        return StoreRecord(answer["source"], name, {}, "unavailable", answer["error"])
    return StoreRecord(answer["source"], name, answer["policy"])


def _start_ahead(bench: Bench) -> None:
    """Start those servers, while other things are prepared, that are needed whatever stores say.

    Only those that nothing has to be fetched for and that start in no time; what becomes of them is told
    to who asks for them in earnest.
    """
    matrix = bench.matrix
    known = [REFERENCE_STORES[each] for each in matrix.suite.stores if each in REFERENCE_STORES]
    kinds = {kind for each in known for kind in each.needs}
    for source in matrix.servers:
        if source.kind in kinds and source.form in {"wheel", "bin"}:
            threading.Thread(target=_ask_for, args=(bench, source), daemon=True).start()


def _ask_for(bench: Bench, source: ServerSource) -> None:
    with suppress(ServerError, OSError), Servers.at(bench.address) as servers:
        servers.shared(source.kind, written(source))


def _started(
    bench: Bench, planned: Suite, matrix: Matrix, progress: Progress
) -> tuple[Server | UnavailableServer, ...]:
    """Start the servers that some store needs, side by side."""
    wanted = {server for cell in planned.cells for server in cell.servers}
    sources = [server for server in matrix.servers if server in wanted]
    with progress.phase("Starting servers", None), Servers.at(bench.address) as servers:

        def start(source: ServerSource) -> Server | UnavailableServer:
            try:
                info = servers.shared(source.kind, written(source))
            except ServerError as error:
                named = f"{source.name} ({source.text}) is unavailable: "
                return UnavailableServer(source, str(error).removeprefix(named))
            if source.form == "url" and source.kind == "redis":
                _look_for_data(info.url, bench)
            return Server(source, info.url, info.version, info.flavour, info.owned)

        started = tuple(parallel(bench.runner, len(sources) or 1, start, sources))
    for each in started:
        if isinstance(each, UnavailableServer):
            progress.note(f"{each.source.name} is unavailable: {each.reason}")
    return started


def _look_for_data(url: str, bench: Bench) -> None:
    """Refuse a Redis given by URL that holds what nobody said it may."""
    with closing(RedisIsolation(url, owned=False, may_hold_data=bench.may_hold_data)) as isolation:
        isolation.clean()


# Cases


def _results(
    bench: Bench, options: RunOptions, progress: Progress, had: _Had, planned: Suite
) -> Iterator[SuiteResult]:
    ready = {each.spec.name: each for each in had.environments if isinstance(each, Environment)}
    down = {each.source: each.reason for each in had.servers if isinstance(each, UnavailableServer)}
    absent = {(each.name, each.environment) for each in had.stores if each.status != "ready"}
    todo = []
    for process in planned.processes:
        cells = [cell for cell in process.cells if process.environment.name in ready]
        out = {id(cell): _why_out(cell, down, absent) for cell in cells}
        for cell in cells:
            if reason := out[id(cell)]:
                yield from _skipped(cell, bench.cases, reason)
        kept = tuple(cell for cell in cells if not out[id(cell)])
        if kept:
            todo.append(replace(process, cells=kept))
    bench = replace(bench, workers=max(1, options.jobs // max(1, len(todo))))
    total = sum(len(process.cells) for process in todo) * len(bench.cases)
    progress.say(f"Order of cases: --seed {bench.seed}")
    with progress.phase("Testing", total) as step, _watched(bench, todo, step) as files:

        def run(number: int) -> list[SuiteResult]:
            process = todo[number]
            environment = ready[process.environment.name]
            ended = run_process(bench, environment, process, files[number])
            return [
                _as_reported(each, environment.spec.name) for each in name_servers(ended, process)
            ]

        for results in parallel(bench.runner, options.jobs, run, range(len(todo))):
            yield from results


def _why_out(
    cell: SuiteCell, down: Mapping[ServerSource, str], absent: set[tuple[str, str]]
) -> str | None:
    if (cell.store, cell.environment.name) in absent:
        return "the store cannot be loaded in this environment"
    reasons = [f"{server.name}: {down[server]}" for server in cell.servers if server in down]
    return reasons[0] if reasons else None


def _skipped(cell: SuiteCell, selected: Sequence[CaseName], reason: str) -> Iterator[SuiteResult]:
    servers = tuple(server.name for server in cell.servers)
    for case in selected:
        yield SuiteResult(
            cell.environment.name, servers, cell.store, case.name, "skipped", reason,
            cell.serializer, 0.0, case.group,
        )  # fmt: skip


def _as_reported(ended: CaseResult, environment: str) -> SuiteResult:
    return SuiteResult(
        environment=environment,
        servers=ended.servers,
        store=ended.store,
        case=ended.case,
        outcome=ended.outcome,
        reason=ended.reason,
        serializer=ended.serializer,
        seconds=ended.seconds,
        group=ended.group,
    )


@contextmanager
def _watched(bench: Bench, todo: Sequence[SuiteProcess], step: Step) -> Iterator[list[Path]]:
    """Make a file of results for each process, and tell `step` of each case that ends."""
    files = []
    for number in range(len(todo)):
        folder = bench.folder / f"suite-{number}"
        folder.mkdir()
        files.append(folder / "results.jsonl")
    finished = threading.Event()
    watcher = threading.Thread(target=_watch, args=(files, step, finished), daemon=True)
    watcher.start()
    try:
        yield files
    finally:
        finished.set()
        watcher.join()


def _watch(files: Sequence[Path], step: Step, finished: threading.Event) -> None:
    told = 0
    while True:
        last = finished.wait(_LOOK)
        ended = sum(map(count_ended, files))
        for _ in range(told, ended):
            step("")
        told = max(told, ended)
        if last:
            return


def order(result: SuiteResult) -> tuple[str, ...]:
    """Return by what a report's results are sorted; those of one group stay as they ran."""
    return (
        result.store,
        result.environment,
        *result.servers,
        result.serializer or "",
        result.group,
    )


# Waivers


def stale_waivers(
    waivers: Sequence[Waiver], results: Sequence[SuiteResult], *, whole: bool
) -> tuple[str, ...]:
    """Return a sentence for each waiver that ran out, or that nothing needs any more.

    Of a part of the matrix, which is not `whole`, nobody can say that nothing needs it.
    """
    today = dt.datetime.now(dt.timezone.utc).date()
    told = (_stale(each, results, today, whole=whole) for each in waivers)
    return tuple(filter(None, told))


def _stale(
    waiver: Waiver, results: Sequence[SuiteResult], today: dt.date, *, whole: bool
) -> str | None:
    covered = [each for each in results if _covers(waiver, each)]
    named = f"{waiver.key} ({waiver.reason})"
    if today > waiver.until and any(each.outcome == "failed" for each in covered):
        return f"{named} held until {waiver.until}: what it excused fails the run again."
    if not whole or any(each.outcome == "waived" for each in covered):
        return None
    what = "every case it covers passes" if covered else "it covers no case"
    return f"{named}: {what}; take it out."


def _covers(waiver: Waiver, result: SuiteResult) -> bool:
    return (
        matches_store(result.store, waiver.store)
        and matches(result.case, waiver.case)
        and matches(result.environment, waiver.environment)
        and (waiver.server == "*" or any(matches(each, waiver.server) for each in result.servers))
    )
