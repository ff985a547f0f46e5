"""How long a run took, by what is packed into shards."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from memory_matrix.matrix.packing import Seconds, SuiteKey
from memory_matrix.report import files
from memory_matrix.report.model import Report


def load_seconds(path: Path) -> Seconds:
    """Return how long the run took whose report `path` is, or holds.

    Raises:
        UsageError: there is no report that can be read.
    """
    return seconds_of(files.load(path))


def seconds_of(report: Report) -> Seconds:
    """Return what `report` says of durations; what did not run there is left out."""
    suite: dict[SuiteKey, float] = defaultdict(float)
    for each in report.suite:
        if each.outcome != "skipped":
            suite[each.environment, each.servers, each.store, each.serializer] += each.seconds
    return Seconds(_of(report, "write"), _of(report, "read"), dict(suite))


def _of(report: Report, phase: str) -> dict[str, float]:
    return {
        each.name: each.seconds.get("build", 0.0) + each.seconds[phase]
        for each in report.environments
        if phase in each.seconds
    }
