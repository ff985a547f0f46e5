"""From what all phases found, on one machine or on many, to a report."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from memory_matrix.compat.events import differences
from memory_matrix.compat.hints import load_hints
from memory_matrix.compat.judging import Drift, Evidence, in_force, judge, stale
from memory_matrix.compat.model import Reads, Variant, Writes
from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec, Known
from memory_matrix.matrix.patterns import matches
from memory_matrix.matrix.select import Selection
from memory_matrix.report.model import Difference, EnvironmentRecord, PayloadRecord, Report
from memory_matrix.running import stops

_NO_DESCRIPTION = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What comes of comparing JSON that describes no value, or of reading what is no JSON."""


@dataclass(frozen=True)
class Found:
    """What the phases found."""

    environments: Sequence[EnvironmentSpec]
    """All of the matrix, in its order."""
    serializers: Sequence[str]
    known: Sequence[Known]
    writes: Sequence[Writes]
    """As `settled` returned them."""
    variants: Mapping[str, Sequence[Variant]]
    reads: Sequence[Reads]
    descriptions: Path
    selection: Selection = field(default_factory=Selection)
    whole: bool = True
    """Whether every environment wrote and read that could be had: no shard is missing."""


def judged(frame: Report, found: Found, *, strict: bool) -> Report:
    """Return `frame`, a report of what was had, with the cells and all else that compat says.

    Where `strict` ends the run, or no environment works, there are no cells.

    Raises:
        UsageError: an entry of `[[known]]` names a payload that there is not.
    """
    frame = replace(frame, environments=_records(frame.environments, found))
    if stops(frame.environments, strict=strict):
        return frame
    evidence = _evidence(frame, found)
    today = dt.datetime.now(dt.timezone.utc).date()
    cells = tuple(judge(evidence, in_force(found.known, today), load_hints()))
    whole = found.whole and not found.selection.terms
    if found.whole:  # an entry may name what the others have
        _refuse_unknown_payloads(found.known, evidence)
    return replace(
        frame,
        cells=cells,
        locations=_locations(found.writes),
        payloads=tuple(_problems(evidence.writes.values())),
        stale_known=stale(found.known, cells, today, whole=whole),
    )


def _records(
    environments: Sequence[EnvironmentRecord], found: Found
) -> tuple[EnvironmentRecord, ...]:
    """Return the records with how long each environment took, and without those that do not work."""
    writes = {each.environment: each for each in found.writes}
    reads = {each.environment: each for each in found.reads}
    return tuple(
        _record(each, writes.get(each.name), reads.get(each.name)) for each in environments
    )


def _record(
    record: EnvironmentRecord, writes: Writes | None, reads: Reads | None
) -> EnvironmentRecord:
    phases: dict[str, Writes | Reads | None] = {"write": writes, "read": reads}
    ran = {phase: each for phase, each in phases.items() if each is not None}
    seconds = {**record.seconds, **{phase: each.seconds for phase, each in ran.items()}}
    broken = next((each.broken for each in ran.values() if each.broken), None)
    if broken is None:
        return replace(record, seconds=seconds)
    return replace(record, seconds=seconds, status="unavailable", reason=broken)


def _evidence(frame: Report, found: Found) -> Evidence:
    ready = {each.name for each in frame.environments if each.status == "ready"}
    writes = {each.environment: each for each in found.writes if each.environment in ready}
    return Evidence(
        environments={each.name: each for each in found.environments if each.name in writes},
        serializers=found.serializers,
        writes=writes,
        variants=found.variants,
        reads={each.environment: each for each in found.reads},
        drift=_drift(found.descriptions),
        selection=found.selection,
    )


def _locations(writes: Iterable[Writes]) -> dict[str, str]:
    """Return where each payload of the user is defined; as the latest environment has it."""
    return {
        name: meaning.location
        for each in writes
        for name, meaning in each.meanings.items()
        if meaning.location is not None
    }


def _drift(descriptions: Path) -> Drift:
    """Return a comparison of stored descriptions that does each pair once."""
    from memory_matrix.worker.compare import compare

    def read(name: str) -> Any:
        return json.loads((descriptions / name).read_text(encoding="ascii"))

    @cache
    def drift(writers: str, readers: str) -> tuple[Difference, ...]:
        if writers == readers:
            return ()
        try:
            return differences(compare(read(writers), read(readers), across=True))
        except _NO_DESCRIPTION as error:  # bytes of another machine, that are what their name says
            raise UsageError(
                f"{writers[:12]!r} and {readers[:12]!r} in the folders `descriptions` of shards do not both"
                f" describe a value ({type(error).__name__}): run again the shards that have them."
            ) from None

    return drift


def _refuse_unknown_payloads(known: Sequence[Known], evidence: Evidence) -> None:
    """Raise where an entry of `[[known]]` names a payload that there is not."""
    payloads = {name for writes in evidence.writes.values() for name in writes.meanings}
    if evidence.selection.patterns("payload"):
        return  # what an entry names may just not be selected
    for entry in known:
        pattern = entry.payload
        if not any(matches(name, pattern) for name in payloads):
            close = get_close_matches(pattern, payloads, n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise UsageError(
                f"{entry.key}.payload: {pattern!r} matches no payload of this matrix.{meant}"
            )


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
