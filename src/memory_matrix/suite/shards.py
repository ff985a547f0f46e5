"""What a shard of the suite leaves, and what all of them found, put together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_matrix.matrix.model import Waiver
from memory_matrix.partials import (
    REPORT,
    Header,
    Loaded,
    Partial,
    damaged,
    drafted,
    load,
    missing_part,
    one_run,
    titles,
    write,
)
from memory_matrix.report import files
from memory_matrix.report.merging import merged_environments, merged_servers, strictest
from memory_matrix.report.model import MissingPart, Report
from memory_matrix.suite.run import order, stale_waivers


@dataclass(frozen=True)
class SuitePartial(Partial):
    """What a shard of the suite is a part of; what it found is the report beside it."""

    waivers: tuple[Waiver, ...]
    servers: tuple[str, ...]
    """All of the matrix, in its order."""
    report: str
    """The digest of the report."""


@dataclass(frozen=True)
class SuiteShard:
    """What a shard of the suite found."""

    loaded: Loaded[SuitePartial]
    report: Report


def save_suite(
    head: Header,
    report: Report,
    *,
    report_dir: Path,
    waivers: Sequence[Waiver],
    servers: Sequence[str],
    also: Iterable[str] = (),
) -> tuple[Path, ...]:
    """Save what a shard found in `report_dir`, and return the paths of its reports.

    Raises:
        MemoryMatrixError: it cannot be written.
    """
    folder = report_dir / head.folder
    with drafted(folder) as draft:
        written = files.write(report, draft, also)
        digest = hashlib.sha256((draft / REPORT).read_bytes()).hexdigest()
        write(SuitePartial(head, tuple(waivers), tuple(servers), digest), draft)
    return tuple(folder / each.name for each in written)


def load_suite(path: Path) -> SuiteShard:
    """Return what a shard of the suite found; `path` is the JSON file in its folder.

    Raises:
        UsageError: it is damaged, or another release made it.
    """
    loaded = load(path, "suite", SuitePartial)
    beside = path.with_name(REPORT)
    report = files.load(beside)
    if hashlib.sha256(beside.read_bytes()).hexdigest() != loaded.partial.report:
        raise damaged(beside, f"it is not the report that {path.name!r} beside it is about")
    return SuiteShard(loaded, report)


def merge_suite(shards: Sequence[SuiteShard]) -> Report:
    """Return the report of the suite that one machine would have made, and what of it is missing.

    Raises:
        UsageError: they are no shards of one run.
    """
    run = one_run([each.loaded for each in shards])
    found = {each.loaded.header.place.number: each.report for each in shards}
    reports = [found[number] for number in run]
    head, partial = next(iter(run.values())).header, next(iter(run.values())).partial
    missing = tuple(_missing(head, run))
    every = (replace(each, new=None) for report in reports for each in report.suite)
    results = tuple(sorted(every, key=order))
    stores = {(each.environment, each.name): each for report in reports for each in report.stores}
    places = {name: number for number, name in enumerate(head.environments)}
    whole = not missing and not head.select
    return replace(
        reports[0],
        shard=None,
        baseline=None,  # of the shard alone
        environments=merged_environments(
            (each for report in reports for each in report.environments), head.environments
        ),
        servers=merged_servers(
            (each for report in reports for each in report.servers), partial.servers
        ),
        fail_on=strictest([each.fail_on for each in reports]),
        suite=results,
        stores=tuple(sorted(stores.values(), key=lambda each: places.get(each.environment, 0))),
        strategy=next((each.strategy for each in reports if each.strategy is not None), None),
        stale_waivers=stale_waivers(partial.waivers, results, whole=whole),
        missing=missing,
        merged=titles(run),
        locations={key: value for each in reports for key, value in each.locations.items()},
    )


def _missing(head: Header, run: Mapping[int, Loaded[SuitePartial]]) -> Iterable[MissingPart]:
    for number, units in enumerate(head.units, start=1):
        if number not in run:
            shard = f"{number}/{len(head.units)}"
            yield from (missing_part("suite", unit, shard) for unit in units)
