#!/usr/bin/env python3
"""Time every format of a report of 100,000 cells and 5,000 cases, and the memory that it takes.

    python benchmarks/reports.py [--environments 25] [--format junit]

Each format is made in a process of its own that has the report in memory, as `memory-matrix report`
has it; what is said of memory is the most that this process ever took, the report and Python
included. The bar: all formats, one after the other, in less than 10 s and 1 GB. Where the machine is
busy with other things, the seconds of the processor say more than those of the clock.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path

from memory_matrix.compat.hints import Hint, load_hints
from memory_matrix.report import files
from memory_matrix.report.formats import FORMATS
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Report,
    ServerRecord,
    StoreRecord,
    Strategy,
    SuiteResult,
)

SECONDS, MEGABYTES = 10.0, 1000.0
SERIALIZERS = ("pickle", "json", "msgpack", "app/codec.py:codec")
PAYLOADS = 40
STORES = ("app/store.py:store", "memory_matrix.stores:PostgresStore")
SERVERS = ("pg13", "pg18", "redis:8.0", "valkey-9")
CASES = 125
VIA = ("redis:8.0/string", "valkey-9/string", "pg13/bytea", "pg18/bytea")


def main() -> int:
    """Make every format, print what it took, and return 1 where that is more than the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environments", type=int, default=25, help="default: %(default)s")
    parser.add_argument("--format", action="append", choices=tuple(FORMATS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files.write(make_report(options.environments), folder)
        started = time.perf_counter()
        report = files.load(folder)
        breaks = sum(cell.is_break for cell in report.cells)
        print(f"{len(report.cells):,} cells, {breaks:,} breaks, {len(report.suite):,} cases,")
        print(f"read in {time.perf_counter() - started:.2f} s")
        measured = [measure(report, each, folder) for each in options.format or FORMATS]
    total = Taken(
        sum(each.seconds for each in measured),
        sum(each.processor for each in measured),
        max(each.megabytes for each in measured),
    )
    print(f"{'together':10}{total}")
    return int(total.seconds > SECONDS or total.megabytes > MEGABYTES)


@dataclass(frozen=True)
class Taken:
    """What something took: seconds of the clock and of the processor, and memory at most."""

    seconds: float
    processor: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:8.2f} s{self.processor:8.2f} s{self.megabytes:8.0f} MB"


def measure(report: Report, name: str, folder: Path) -> Taken:
    """Write `report` in the format `name`; return and print what that took."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    path = folder / FORMATS[name].file
    child = context.Process(target=_write, args=(report, name, path, theirs))
    child.start()
    theirs.close()
    taken: Taken = ours.recv()
    child.join()
    print(f"{name:10}{taken}{path.stat().st_size / 1e6:8.1f} MB written")
    return taken


def _write(report: Report, name: str, path: Path, result: Connection) -> None:
    started, worked = time.perf_counter(), time.process_time()
    files.write_one(FORMATS[name].pieces(report), path)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result.send(Taken(seconds, processor, most / (1e6 if sys.platform == "darwin" else 1e3)))


def make_report(environments: int) -> Report:
    """Return a report in which releases that are far apart break in many ways."""
    names = [f"py3.{8 + number % 7}-pydantic-2.{number}" for number in range(environments)]
    return Report(
        environments=tuple(_environment(name) for name in names),
        servers=tuple(
            ServerRecord(name, "redis" if name[0] in "rv" else "postgres", "9.1", f"image:{name}")
            for name in SERVERS
        ),
        cells=tuple(_cells(names)),
        suite=tuple(_results(names)),
        stores=tuple(
            StoreRecord(store, name, {"nul": "keep", "order": "call"})
            for store, name in product(STORES, names[:5])
        ),
        strategy=Strategy("full", 100, 100, 40),
        version="1.0",
        matrix="memory-matrix.toml",
        locations={f"payload_{number}": f"payloads.py:{number}" for number in range(PAYLOADS)},
    )


def _environment(name: str) -> EnvironmentRecord:
    packages = {f"package-{number}": f"2.{number}.1" for number in range(60)}
    return EnvironmentRecord(name, "3.12.1", packages, requires=("package-1", "package-2"))


def _cells(names: list[str]) -> Iterator[Cell]:
    hints = load_hints().all
    axes = (enumerate(names), enumerate(names), enumerate(SERIALIZERS), range(PAYLOADS))
    for (age, writer), (other, reader), (kind, serializer), payload in product(*axes):
        distance = other - age
        way = "backward" if distance > 0 else "forward" if distance else None
        cell = Cell(writer, reader, serializer, f"payload_{payload}", VIA, "ok", direction=way)
        yield (
            _broken(cell, hints[payload % len(hints)], kind) if _breaks(cell, age, other) else cell
        )


def _breaks(cell: Cell, age: int, other: int) -> bool:
    return abs(other - age) > 3 + len(cell.payload + cell.serializer) % 7 and age % 5 != other % 5


def _broken(cell: Cell, hint: Hint, kind: int) -> Cell:
    example = hint.example
    own = {"payload": cell.payload, "writer": cell.writer}
    error = example.error and replace(example.error, message=f"{example.error.message} in {own}")
    return replace(
        cell,
        outcome=("crashed", "unreadable", "changed", "unreadable")[kind],
        is_break=True,
        known="migrated by a script" if cell.payload.endswith("9") else None,
        error=error,
        diff=tuple(replace(each, got=f"{each.got} in {own}") for each in example.diff),
        cause=hint.code,
        hint=hint.text,
    )


def _results(names: list[str]) -> Iterator[SuiteResult]:
    axes = (enumerate(names[:5]), enumerate(SERVERS), STORES, range(CASES))
    for (age, environment), (number, server), store, case in product(*axes):
        place = (environment, (server,), store, f"case_{case}")
        if case % 9 or (age + number) % 3 == 0:
            yield SuiteResult(*place, "passed", None, "json", 0.1, "A")
        else:
            reason = f"expected {case} messages, got {number}, the last of {environment}"
            yield SuiteResult(*place, "failed", reason, "json", 0.1, "A")


if __name__ == "__main__":
    sys.exit(main())
