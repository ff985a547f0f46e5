#!/usr/bin/env python3
"""Time compat, side by side with one process per (writer, reader, serializer), and how it grows.

    python benchmarks/compat.py [--environments 10] [--sample 20] [--growth]

Ten environments are five Pythons (the newest that are found) times an old and a new set of
serializer releases; the whole built-in corpus, six serializers, both embedded servers. Environments
are built first and not timed. The naive way is timed on a random sample of its processes, two at a
time as compat does, and scaled up: all 600 of them would take an hour.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_matrix.compat.model import Writes
from memory_matrix.compat.reading import comparison
from memory_matrix.compat.run import run_compat
from memory_matrix.compat.workers import run_tasks
from memory_matrix.compat.workshop import Workshop
from memory_matrix.compat.writing import write_all
from memory_matrix.environments.build import build_all
from memory_matrix.environments.cache import default_cache
from memory_matrix.environments.interpreters import find
from memory_matrix.environments.model import Environment
from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import CompatOptions, EnvironmentSpec, Matrix
from memory_matrix.matrix.read import builtin_quick
from memory_matrix.progress import Progress
from memory_matrix.running import RunOptions

PYTHONS = ("3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8")
SERIALIZERS = ("pickle", "json", "orjson", "msgpack", "cbor2", "cloudpickle")
RELEASES = {
    "old": ("cbor2==5.4.*", "cloudpickle==2.2.*", "msgpack<1.1", "orjson<3.11", "attrs==21.4.0"),
    "new": ("cbor2>=5.6", "cloudpickle>=3", "msgpack>=1.1", "orjson>=3.10", "attrs>=23"),
}
PARALLEL = 2


def main() -> int:
    """Run the benchmark and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environments", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--sample", type=int, default=20, help="processes of the naive way")
    parser.add_argument("--growth", action="store_true", help="also 5, 10 and 20 environments")
    options = parser.parse_args()
    matrix = make_matrix(options.environments)
    build(matrix)
    seconds, cells = time_compat(matrix)
    report(f"compat, {len(matrix.environments)} environments", seconds, f"{cells:,} cells")
    naive = time_naive(matrix, options.sample)
    report("one process per (writer, reader, serializer)", naive, f"from {options.sample} of them")
    print(f"ratio: {naive / seconds:.1f} times as fast")
    if options.growth:
        show_growth()
    return 0


def make_matrix(count: int) -> Matrix:
    """Return a matrix of `count` environments; beyond what there is, the same ones again."""
    pythons = [python for python in PYTHONS if is_here(python)][:5]
    specs = [
        EnvironmentSpec(f"py{python}-{release}-{copy}", python, RELEASES[release])
        for copy in range(1 + count // (2 * len(pythons)))
        for python in pythons
        for release in RELEASES
    ]
    return replace(
        builtin_quick(Path.cwd()),
        environments=tuple(specs[:count]),
        compat=CompatOptions(serializers=SERIALIZERS),
    )


def is_here(python: str) -> bool:
    """Say whether there is such an interpreter."""
    try:
        find(python)
    except UnavailableError:
        return False
    return True


def build(matrix: Matrix) -> list[Environment]:
    """Return the environments of `matrix`, built."""
    had = build_all(matrix.environments, cache=default_cache(), root=Path.cwd())
    return [each for each in had if isinstance(each, Environment)]


def time_compat(matrix: Matrix) -> tuple[float, int]:
    """Return the seconds that a whole run takes, and the number of its cells."""
    started = time.perf_counter()
    report = run_compat(matrix, RunOptions(default_cache(), jobs=PARALLEL), Progress("nothing"))
    return time.perf_counter() - started, len(report.cells)


def time_naive(matrix: Matrix, sample: int) -> float:
    """Return the seconds that one process for each (writer, reader, serializer) would take."""
    environments = build(matrix)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(
            Path(folder),
            matrix.compat,
            {name: name for name in SERIALIZERS},
            {"builtin": "builtin"},
            parallel=PARALLEL,
        )
        writes = write_all(workshop, environments)
        triples = [
            (writer, reader, serializer)
            for writer in writes
            for reader in range(len(environments))
            for serializer in SERIALIZERS
        ]
        chosen = random.Random(0).sample(triples, min(sample, len(triples)))  # noqa: S311 - no secret
        started = time.perf_counter()
        tasks = [
            task
            for writer, reader, serializer in chosen
            for task in naive_tasks(workshop, environments, writes, writer, reader, serializer)
        ]
        for _ in run_tasks(tasks, workshop.folder, PARALLEL):
            pass
        return (time.perf_counter() - started) * len(triples) / len(chosen)


def naive_tasks(
    workshop: Workshop,
    environments: Sequence[Environment],
    writes: Sequence[Writes],
    writer: Writes,
    reader: int,
    serializer: str,
) -> list[Any]:
    """Return the process that writes for one triple, and the one that reads."""
    own = writes[reader]
    steps = [
        {
            "step": number,
            "do": "read",
            "blob": written.blob,
            "text": written.text,
            "payload": payload,
            "serializer": name,
            "mine": False,
            **comparison(own.meanings.get(payload), [writer.meanings[payload]]),
        }
        for number, ((payload, name), written) in enumerate(writer.written.items())
        if name == serializer and written.blob is not None
    ]
    one = replace(workshop, serializers={serializer: serializer})
    place = next(
        number for number, each in enumerate(writes) if each.environment == writer.environment
    )
    return [
        one.task(environments[place], "write", preload=[]),
        one.task(environments[reader], "read", preload=own.modules, steps=steps),
    ]


def show_growth() -> None:
    """Print how the time grows with the number of environments."""
    before = None
    for count in (5, 10, 20):
        matrix = make_matrix(count)
        build(matrix)
        seconds, cells = time_compat(matrix)
        grown = "" if before is None else f", {seconds / before:.2f} times the half"
        report(f"compat, {count} environments", seconds, f"{cells:,} cells{grown}")
        before = seconds


def report(what: str, seconds: float, more: str) -> None:
    """Print one line of the result."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{what}: {seconds:.1f} s ({more}; orchestrator's peak so far {peak} MiB)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
