"""One run of compat, from a matrix to a report."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from memory_matrix.compat.events import differences
from memory_matrix.compat.hints import load_hints
from memory_matrix.compat.judging import Drift, Evidence, in_force, judge, stale
from memory_matrix.compat.model import Reads, Variant, Writes
from memory_matrix.compat.reading import count_steps, read_all
from memory_matrix.compat.storing import store_all
from memory_matrix.compat.workshop import Workshop
from memory_matrix.compat.writing import write_all
from memory_matrix.environments.model import Environment, Unavailable
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.patterns import matches
from memory_matrix.progress import Progress
from memory_matrix.report.model import (
    Difference,
    PayloadRecord,
    Report,
)
from memory_matrix.runfolder import run_folder
from memory_matrix.running import RunOptions, build, empty_report, stops
from memory_matrix.servers.model import Server
from memory_matrix.servers.model import Unavailable as UnavailableServer
from memory_matrix.servers.starting import start_all


def run_compat(matrix: Matrix, options: RunOptions, progress: Progress) -> Report:
    """Write, store, read and judge all that `matrix` names.

    What cannot be had is in the report as unavailable. With `strict`, or where no environment is
    left, the report then has no cells: nothing was run.

    Raises:
        UsageError: what the matrix names cannot be used by any environment.
        UnavailableError: a server is gone while it is used.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        had = build(matrix, matrix.environments, options, progress)
        if stops(had, strict=options.strict):
            return empty_report(matrix, had, ())
        servers = _start(matrix, folder, options, progress, stack)
        if stops(servers, strict=options.strict):
            return empty_report(matrix, had, servers)
        return _compat(matrix, options, progress, _workshop(matrix, folder, options), had, servers)


def _compat(
    matrix: Matrix,
    options: RunOptions,
    progress: Progress,
    workshop: Workshop,
    had: Sequence[Environment | Unavailable],
    servers: Sequence[Server | UnavailableServer],
) -> Report:
    environments = [each for each in had if isinstance(each, Environment)]
    running = [each for each in servers if isinstance(each, Server)]
    with progress.phase("Writing", None) as step:
        writes = write_all(workshop, environments, step)
    with progress.phase("Storing", len(running)) as step:
        variants = store_all(running, writes, workshop.blobs, step)
    readers = [each for each, wrote in zip(environments, writes, strict=True) if not wrote.broken]
    with progress.phase("Reading", count_steps(writes, variants) * len(readers)) as step:
        reads = read_all(workshop, readers, writes, variants, step)
    had = _without_broken(had, writes, reads)
    if stops(had, strict=options.strict):
        return empty_report(matrix, had, servers)
    evidence = _evidence(matrix, workshop, had, writes, variants, reads)
    known = in_force(matrix.known, _today())
    cells = tuple(judge(evidence, known, load_hints()))
    _refuse_unknown_payloads(matrix, evidence)
    return replace(
        empty_report(matrix, had, servers),
        cells=cells,
        payloads=tuple(_problems(evidence.writes.values())),
        # Of a part of the matrix nobody can say that an entry matches nothing any more.
        stale_known=() if options.selection.terms else stale(matrix.known, cells, _today()),
    )


def _start(
    matrix: Matrix, folder: Path, options: RunOptions, progress: Progress, stack: ExitStack
) -> tuple[Server | UnavailableServer, ...]:
    with progress.phase("Starting servers", None):
        return stack.enter_context(start_all(matrix.servers, folder=folder, cache=options.cache))


def _workshop(matrix: Matrix, folder: Path, options: RunOptions) -> Workshop:
    return Workshop(
        folder,
        matrix.compat,
        serializers={name: _target(matrix, name) for name in matrix.compat.serializers},
        payloads={name: _source(matrix, name) for name in matrix.compat.payloads},
        selection=options.selection,
        parallel=options.jobs,
    )


def _target(matrix: Matrix, serializer: str) -> str:
    source, colon, name = serializer.rpartition(":")
    return f"{matrix.root / source}{colon}{name}" if source.endswith(".py") else serializer


def _source(matrix: Matrix, payloads: str) -> str:
    return str(matrix.root / payloads) if payloads.endswith(".py") else payloads


def _without_broken(
    had: Sequence[Environment | Unavailable], writes: Sequence[Writes], reads: Sequence[Reads]
) -> tuple[Environment | Unavailable, ...]:
    results: list[Writes | Reads] = [*writes, *reads]
    broken = {each.environment: each.broken for each in results if each.broken}
    return tuple(
        Unavailable(each.spec, broken[each.spec.name]) if each.spec.name in broken else each
        for each in had
    )


def _evidence(
    matrix: Matrix,
    workshop: Workshop,
    had: Sequence[Environment | Unavailable],
    writes: Sequence[Writes],
    variants: Mapping[str, tuple[Variant, ...]],
    reads: Sequence[Reads],
) -> Evidence:
    fine = {each.spec.name: each.spec for each in had if isinstance(each, Environment)}
    return Evidence(
        environments=fine,
        serializers=matrix.compat.serializers,
        writes={each.environment: each for each in writes if each.environment in fine},
        variants=variants,
        reads={each.environment: each for each in reads},
        drift=_drift(workshop.descriptions),
        selection=workshop.selection,
    )


def _drift(descriptions: Path) -> Drift:
    """Return a comparison of stored descriptions that does each pair once."""
    from memory_matrix.worker.compare import compare

    def read(name: str) -> Any:
        return json.loads((descriptions / name).read_text(encoding="ascii"))

    @cache
    def drift(writers: str, readers: str) -> tuple[Difference, ...]:
        if writers == readers:
            return ()
        return differences(compare(read(writers), read(readers), across=True))

    return drift


def _refuse_unknown_payloads(matrix: Matrix, evidence: Evidence) -> None:
    """Raise where an entry of `[[known]]` names a payload that there is not."""
    payloads = {name for writes in evidence.writes.values() for name in writes.meanings}
    if evidence.selection.patterns("payload"):
        return  # what an entry names may just not be selected
    for entry in matrix.known:
        pattern = entry.payload
        if not any(matches(name, pattern) for name in payloads):
            close = get_close_matches(pattern, payloads, n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise UsageError(
                f"{entry.key}.payload: {pattern!r} matches no payload of this matrix.{meant}"
            )


def _today() -> dt.date:
    return dt.datetime.now(dt.timezone.utc).date()


def _problems(writes: Iterable[Writes]) -> Iterator[PayloadRecord]:
    for each in writes:
        for name, meaning in each.meanings.items():
            if meaning.outcome == "lacking":
                yield PayloadRecord(each.environment, name, "skipped", meaning.reason or "")
            elif meaning.reason is not None or meaning.outcome != "built":
                yield PayloadRecord(each.environment, name, "failed", meaning.reason or "")
            elif meaning.unstable:
                first = meaning.unstable[0]
                yield PayloadRecord(
                    each.environment,
                    name,
                    "unstable",
                    f"another value each time it is built: {first.path} is {first.expected},"
                    f" then {first.got}",
                )
